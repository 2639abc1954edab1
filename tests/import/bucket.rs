//! A collection in a store that speaks S3: the same names, the same promises.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{Postgres, S3Server};

use super::crashes::random;
use super::crawl::{Crawl, Warc, date, many, pdf};
use crate::command_line::{stderr, stdout};

/// A crawl whose documents go to a store.
struct Stored {
    crawl: Crawl,
    server: S3Server,
}

impl Stored {
    fn new() -> Self {
        Self {
            crawl: Crawl::new(),
            server: S3Server::start(),
        }
    }

    /// A command with the keys to the store.
    fn command(&self, arguments: &[&str]) -> Command {
        self.command_in(&self.crawl.data(), arguments)
    }

    /// The same with another data directory.
    fn command_in(&self, data: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_garner"));
        command
            .args(arguments)
            .arg("--data")
            .arg(data)
            .current_dir(self.crawl.path(""))
            .env_remove("RUST_LOG")
            .env("AWS_ACCESS_KEY_ID", "key")
            .env("AWS_SECRET_ACCESS_KEY", "geheim")
            .env("AWS_ENDPOINT_URL", self.server.endpoint());
        command
    }

    /// Runs a command, and expects its exit code.
    fn garner(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(!said.contains("geheim"), "{said}");
        stdout(&output) + &said
    }

    /// The documents in the store, and how many objects there are that are none.
    fn contents(&self) -> (BTreeSet<String>, usize) {
        let keys = self.server.keys();
        let (documents, others): (Vec<_>, Vec<_>) =
            keys.into_iter().partition(|key| key.ends_with(".pdf"));
        let body = |key: String| {
            let answer = self.server.ask("GET", &format!("papers/{key}"));
            answer.split_once("\r\n\r\n").unwrap().1.to_owned()
        };
        (documents.into_iter().map(body).collect(), others.len())
    }

    fn import(&self, arguments: &[&str]) -> Value {
        let printed = self.garner(0, &[&["import", "--json", "--quiet"], arguments].concat());
        serde_json::from_str(printed.lines().next().unwrap())
            .unwrap_or_else(|_| serde_json::from_str(&printed).unwrap())
    }
}

#[test]
fn documents_go_to_a_bucket_under_the_names_they_have_on_a_disk() {
    let stored = Stored::new();
    let mut warc = Warc::default();
    warc.response(
        "http://a.example/1.pdf",
        &date(1),
        "application/pdf",
        &pdf(1),
    );
    let long = [pdf(2), vec![b'\n'; 9 << 20]].concat();
    warc.response("http://a.example/2.pdf", &date(2), "application/pdf", &long);
    stored.crawl.write("a.warc.gz", &warc.bytes);

    let printed = stored.import(&["a.warc.gz", "--collection", "s3://papers/the collection"]);

    assert_eq!(printed["saved_New"], 2, "{printed}");
    let at = "the collection/000/000/00";
    assert_eq!(
        stored.server.keys(),
        [
            format!("{at}1/000.000.001.pdf"),
            format!("{at}1/000.000.001.pdf.met"),
            format!("{at}2/000.000.002.pdf"),
            format!("{at}2/000.000.002.pdf.met"),
        ]
    );
    let shown = stored.garner(0, &["documents", "show", "1"]);
    assert!(
        shown.contains("s3://papers/the collection/000/000/001/000.000.001.pdf"),
        "{shown}"
    );
    stored.garner(0, &["verify"]);
    let again = stored.import(&["a.warc.gz"]);
    assert_eq!(
        (&again["saved_New"], &again["saved_Duplicate"]),
        (&json!(0), &json!(2))
    );
    assert!(!stored.crawl.data().join("documents").exists());
}

#[test]
fn what_is_lost_or_changed_in_the_bucket_is_found_and_comes_back() {
    let stored = Stored::new();
    stored.crawl.write("a.warc.gz", many(30).bytes);
    stored.import(&["a.warc.gz", "--collection", "s3://papers"]);
    let before = stored.server.keys();
    let mut papers = before.iter().filter(|key| key.ends_with(".pdf"));
    let (lost, changed) = (papers.next().unwrap(), papers.next().unwrap());
    stored.server.ask("DELETE", &format!("papers/{lost}"));
    stored
        .server
        .send("PUT", &format!("papers/{changed}"), b"other bytes");

    let found = stored.garner(3, &["verify"]);
    assert!(found.contains(lost) && found.contains(changed), "{found}");
    stored.garner(3, &["verify", "--repair"]);
    stored.import(&["a.warc.gz"]);
    stored.garner(0, &["verify"]);

    let now = stored.server.keys();
    let aside = format!("set-aside/{changed}");
    assert!(now.contains(&aside), "{now:?}");
    let ours = now.iter().filter(|key| !key.starts_with("set-aside/"));
    assert_eq!(ours.count(), before.len(), "{now:?}");
}

#[test]
fn sources_in_a_store_are_fetched_once_and_again_when_they_changed() {
    let stored = Stored::new();
    let put = |name: &str, bytes: &[u8]| {
        stored
            .server
            .send("PUT", &format!("papers/crawls/{name}"), bytes);
    };
    put("a.warc.gz", &many(3).bytes);
    let mut other = Warc::default();
    for number in 10..14 {
        let url = format!("http://b.example/{number}.pdf");
        other.response(&url, &date(1), "application/pdf", &pdf(number));
    }
    put("deeper/b.warc.gz", &other.bytes);

    let printed = stored.import(&["s3://papers/crawls/"]);
    assert_eq!(printed["saved_New"], 7, "{printed}");
    let said = stored.garner(0, &["import", "s3://papers/crawls/"]);
    assert!(
        said.contains("nothing new in s3://papers/crawls: 2 objects are here"),
        "{said}"
    );

    // The same length, other bytes.
    std::thread::sleep(Duration::from_millis(1100));
    put("deeper/b.warc.gz", &other.bytes);
    put("deeper/c.warc.gz", &many(5).bytes);
    let said = stored.garner(0, &["import", "s3://papers/crawls/"]);
    assert!(said.contains("2 of 3 objects came"), "{said}");
    let one = stored.import(&["s3://papers/crawls/a.warc.gz"]);
    assert_eq!(one["saved_New"], 0, "{one}");

    for (place, words) in [
        (
            "s3://papers/nothing/",
            "there is nothing at `s3://papers/nothing`",
        ),
        ("s3://nowhere/x", "NoSuchBucket"),
        ("s3://", "s3://BUCKET/PREFIX"),
    ] {
        let output = stored.command(&["import", place]).output().unwrap();
        assert!(!output.status.success(), "{place}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}

#[test]
fn archives_of_a_store_are_extracted_and_loaded_like_those_that_lie_here() {
    let stored = Stored::new();
    let bytes = many(5).bytes;
    stored.server.send("PUT", "papers/crawls/a.warc.gz", &bytes);
    let extract = ["extract", "s3://papers/crawls/", "--output", "out"];
    let without = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_garner"));
        command
            .args(arguments)
            .current_dir(stored.crawl.path(""))
            .env("AWS_ACCESS_KEY_ID", "key")
            .env("AWS_SECRET_ACCESS_KEY", "geheim")
            .env("AWS_ENDPOINT_URL", stored.server.endpoint());
        command.output().unwrap()
    };
    let refused = without(&extract);
    assert!(
        stderr(&refused).contains("give --bytes"),
        "{}",
        stderr(&refused)
    );

    let extracted = without(&[&extract[..], &["--bytes", "--json"]].concat());

    assert!(extracted.status.success(), "{}", stderr(&extracted));
    let line: Value = serde_json::from_str(&stdout(&extracted)).unwrap();
    assert_eq!(line["file"], "s3://papers/crawls/a.warc.gz");
    let again = without(&[&extract[..], &["--bytes", "--json"]].concat());
    let again: Value = serde_json::from_str(&stdout(&again)).unwrap();
    assert_eq!(again["reused"], true);
    stored.garner(0, &["load", "out"]);
    stored.garner(0, &["verify"]);
    let documents = stored.garner(0, &["documents", "list", "--json"]);
    assert_eq!(documents.lines().count(), 5, "{documents}");
}

#[test]
fn a_bucket_that_is_not_there_and_keys_that_are_missing_are_said() {
    let stored = Stored::new();
    stored.crawl.write("a.warc.gz", many(1).bytes);
    let said = stored.garner(
        1,
        &["import", "a.warc.gz", "--collection", "s3://nowhere/x"],
    );
    assert!(said.contains("NoSuchBucket"), "{said}");
    let said = stored.garner(2, &["import", "a.warc.gz", "--collection", "gs://papers"]);
    assert!(said.contains("s3://BUCKET/PREFIX"), "{said}");

    let other = Crawl::new();
    other.write("a.warc.gz", many(1).bytes);
    let output = other.try_import(&["a.warc.gz", "--collection", "s3://papers"]);
    assert!(
        stderr(&output).contains("AWS_ACCESS_KEY_ID"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn killed_at_random_points_equals_undisturbed_in_a_bucket_too() {
    let bytes = many(150).bytes;
    let arguments = [
        "import",
        "a.warc.gz",
        "--collection",
        "s3://papers",
        "--json",
        "--quiet",
    ];
    let undisturbed = Stored::new();
    undisturbed.crawl.write("a.warc.gz", &bytes);
    let began = Instant::now();
    undisturbed.garner(0, &arguments);
    let longest = u64::try_from(began.elapsed().as_micros()).unwrap();
    let mut random = random();

    let stored = Stored::new();
    stored.crawl.write("a.warc.gz", &bytes);
    let mut kills = 0;
    for _ in 0..6 {
        let mut command = stored.command(&arguments);
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random(longest * 2 / 3)));
        child.kill().unwrap();
        // One that was done before the blow would begin anew.
        if child.wait().unwrap().success() {
            break;
        }
        kills += 1;
    }
    eprintln!("killed {kills} times");
    stored.garner(0, &arguments);

    stored.crawl.left().assert_is(&undisturbed.crawl.left());
    let ((contents, others), (expected, beside)) = (stored.contents(), undisturbed.contents());
    assert_eq!(contents.len(), expected.len());
    assert!(contents == expected, "the contents differ");
    assert_eq!(others, beside, "{:?}", stored.server.keys());
    stored.garner(0, &["verify"]);
}

/// Issue 18: a store that is away used up the attempts of every import.
#[test]
fn an_import_waits_for_a_store_that_is_away_without_using_an_attempt() {
    let stored = Stored::new();
    stored.crawl.write("a.warc.gz", &many(3).bytes);
    let away = |arguments: &[&str]| {
        let mut command = stored.command(arguments);
        // Nobody listens at the first port.
        command.env("AWS_ENDPOINT_URL", "http://127.0.0.1:1");
        command
    };
    let place = ["--collection", "s3://papers/collection"];
    let import = [&["import", "a.warc.gz", "--json", "--quiet"][..], &place].concat();
    let failed = away(&import).output().unwrap();
    let said: Value = serde_json::from_slice(&failed.stdout).unwrap();
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(said["error"]["code"], "store_away", "{said}");

    let queued = [&["import", "a.warc.gz", "--queue"][..], &place].concat();
    stored.garner(0, &queued);
    let mut worker = away(&["worker"]);
    let worker = worker.stderr(Stdio::null()).spawn().unwrap();
    let _worker = Killed(worker);
    let job = || -> Value {
        let shown = stored.command(&["job", "show", "1", "--json"]).output();
        serde_json::from_slice(&shown.unwrap().stdout).unwrap()
    };
    test_support::wait_until("the job is put off", || {
        let job = job();
        job["state"] == "scheduled" && !job["started"].is_null()
    });
    assert_eq!(job()["attempt"], 0, "{:#}", job());
}

/// Issue 18: machines with disks of their own import into one store together.
#[test]
fn a_worker_for_imports_alone_needs_no_common_data_directory() {
    let stored = Stored::new();
    let mut warc = Warc::default();
    for number in 0..3 {
        let url = format!("http://a.example/{number}.pdf");
        warc.response(&url, &date(number), "application/pdf", &pdf(number));
    }
    stored.crawl.write("a.warc.gz", &warc.bytes);
    let catalog = Postgres::shared().database();
    let own = stored.crawl.path("own");
    let worker = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_garner"));
        command
            .args(["worker", "--catalog", &catalog, "--data"])
            .arg(&own)
            .args(options)
            .env("AWS_ACCESS_KEY_ID", "key")
            .env("AWS_SECRET_ACCESS_KEY", "geheim")
            .env("AWS_ENDPOINT_URL", stored.server.endpoint());
        command
    };
    let mut first = stored.command(&["worker", "--catalog", &catalog]);
    let first = Killed(first.stderr(Stdio::null()).spawn().unwrap());
    test_support::wait_until("the catalog knows its data directory", || {
        stored.crawl.data().join(".garner-id").exists()
    });
    // It lives on: the file is there a moment before the catalog knows.
    test_support::wait_until("a worker with another directory is refused", || {
        let refused = worker(&[]).output().unwrap();
        stderr(&refused).contains("garner worker --imports-only")
    });
    drop(first);

    let queued = ["import", "a.warc.gz", "--queue", "--collection"];
    let queued = [&queued[..], &["s3://papers/x", "--catalog", &catalog]].concat();
    stored.garner(0, &queued);
    let mut other = worker(&["--imports-only"]);
    let _other = Killed(other.stderr(Stdio::null()).spawn().unwrap());

    test_support::wait_until("the import is finished", || {
        let arguments = ["job", "show", "1", "--json", "--catalog", &catalog];
        let shown = stored.command(&arguments).output().unwrap();
        let job: Value = serde_json::from_slice(&shown.stdout).unwrap();
        job["state"] == "finished"
    });
    assert_eq!(stored.contents().0.len(), 3);
}

/// Issue 25: a store that does not answer was told as `io`, as a broken disk is.
#[test]
fn a_store_that_is_away_is_told_with_its_code_when_results_are_loaded() {
    let stored = Stored::new();
    let mut command = stored.command(&["load", "s3://papers/results", "--json"]);
    let output = command
        .env("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        .output()
        .unwrap();

    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["error"]["code"], "store_away", "{told}");
}

/// Issue 25: the report of an import lay on the machine that had run it.
#[test]
fn the_report_of_an_import_lies_in_the_store_and_is_read_on_any_machine() {
    let stored = Stored::new();
    let mut damaged = many(3).bytes;
    damaged.truncate(damaged.len() - 5);
    stored.crawl.write("a.warc.gz", &damaged);
    stored
        .crawl
        .write("garner.toml", "store = \"s3://papers/all\"\n");
    let catalog = Postgres::shared().database();
    let options = ["--catalog", &catalog, "--config", "garner.toml"];
    let own = stored.crawl.path("own");
    let elsewhere = |arguments: &[&str]| {
        let mut command = stored.command_in(&own, &[arguments, &options].concat());
        command.output().unwrap()
    };
    let reports = || {
        let keys = stored.server.keys();
        let reports = keys.into_iter().filter(|key| key.contains("/reports/"));
        reports.collect::<Vec<_>>()
    };

    let said = stored.garner(3, &[&["import", "a.warc.gz"], &options[..]].concat());

    let kept = reports();
    assert_eq!(kept.len(), 1, "{:?}", stored.server.keys());
    assert!(kept[0].starts_with("all/reports/import-1-"), "{kept:?}");
    assert!(said.contains(&format!("s3://papers/{}", kept[0])), "{said}");
    assert!(!stored.crawl.data().join("reports/import-1.jsonl").exists());
    let shown = elsewhere(&["history", "--imports", "1", "--json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["report"], format!("s3://papers/{}", kept[0]));
    let report = stdout(&elsewhere(&["history", "--imports", "1", "--report"]));
    let line: Value = serde_json::from_str(report.lines().next().unwrap()).unwrap();
    assert!(
        line["file"].as_str().unwrap().ends_with("a.warc.gz"),
        "{report}"
    );

    // One that is lost is written again from the catalog.
    stored.server.ask("DELETE", &format!("papers/{}", kept[0]));
    let again = elsewhere(&["history", "--imports", "1", "--report"]);
    assert_eq!(stdout(&again), report, "{}", stderr(&again));
    assert_eq!(reports(), kept);

    let removed = elsewhere(&["history", "remove", "1", "--imports"]);
    assert!(removed.status.success(), "{}", stderr(&removed));
    assert_eq!(reports(), [""; 0]);
    let none = elsewhere(&["history", "--imports", "1", "--report"]);
    assert!(stderr(&none).contains("there is no import 1"));
}

struct Killed(std::process::Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
