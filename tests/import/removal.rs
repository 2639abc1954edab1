//! Documents cleaned away, taken down and restored: files, rows, imports, kills.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use test_support::{Postgres, S3Server, wait_until};

use super::crashes::random;
use super::crawl::{Crawl, Warc, date, files_in, many, pdf};
use crate::command_line::{stderr, stdout};

/// A collection whose documents were all reported as failed.
struct Failed {
    crawl: Crawl,
    /// The arguments that name its catalog.
    catalog: Vec<String>,
}

impl Failed {
    fn new(bytes: &[u8], catalog: &[&str]) -> Self {
        let catalog: Vec<_> = catalog.iter().map(|one| (*one).to_owned()).collect();
        let crawl = Crawl::new();
        crawl.write("a.warc.gz", bytes);
        let failed = Self { crawl, catalog };
        failed.run(0, &["import", "a.warc.gz"]);
        failed.mark_failed();
        failed
    }

    fn mark_failed(&self) {
        let numbers = self
            .documents()
            .into_iter()
            .map(|one| one["id"].to_string());
        let numbers: Vec<_> = numbers.collect();
        let numbers = numbers.iter().map(String::as_str);
        let all: Vec<_> = ["documents", "state", "failed"]
            .into_iter()
            .chain(numbers)
            .collect();
        self.run(0, &all);
    }

    /// Runs a command, which ends with this code, and gives what it printed.
    fn run(&self, code: i32, arguments: &[&str]) -> (String, String) {
        let output = self.crawl.garner(arguments).args(&self.catalog).output();
        let told = (stdout(&output), stderr(&output));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told:?}");
        told
    }

    fn lines(&self, arguments: &[&str]) -> Vec<Value> {
        let (lines, _) = self.run(0, arguments);
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn documents(&self) -> Vec<Value> {
        self.lines(&["documents", "list", "--json"])
    }

    fn clean(&self, more: &[&str]) -> (String, String) {
        self.run(
            0,
            &[&["documents", "clean", "--blacklist", "black.txt"], more].concat(),
        )
    }

    fn verify(&self) {
        self.run(0, &["verify"]);
    }

    fn trash(&self) -> usize {
        let files = files_in(&self.crawl.data().join("trash")).into_keys();
        files.filter(|path| path.ends_with(b".pdf")).count()
    }
}

fn example() -> Vec<u8> {
    let mut warc = Warc::default();
    for (number, url) in [
        (1, "http://spam.example/1.pdf"),
        (2, "http://www.spam.example/2.pdf"),
        (3, "http://good.example/3.pdf"),
        (2, "http://good.example/same-as-2.pdf"),
    ] {
        warc.response(url, &date(number), "application/pdf", &pdf(number));
    }
    warc.bytes
}

fn cleaning_and_restoring(catalog: &[&str]) {
    let failed = Failed::new(&example(), catalog);
    failed
        .crawl
        .write("black.txt", "\u{feff}*.SPAM.example  # all of it\r\n\r\n");
    let (before, files) = (failed.documents(), failed.crawl.files());

    let (lines, said) = failed.clean(&["--dry-run"]);
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert!(
        said.contains("2 of 4 documents that failed would be removed"),
        "{said}"
    );
    assert_eq!(failed.documents(), before);
    let (_, said) = failed.run(1, &["documents", "clean", "--blacklist", "black.txt"]);
    assert!(
        said.contains("2 documents would be removed; add --yes"),
        "{said}"
    );

    failed.clean(&["--yes"]);

    let left = failed.documents();
    assert_eq!(left.len(), 2);
    assert!(left.iter().all(|one| one["host"] == "good.example"));
    // The bytes that another document has stay.
    assert_eq!(failed.trash(), 1);
    failed.verify();
    let trash = failed.lines(&["documents", "trash", "--json"]);
    assert_eq!(trash.len(), 2);
    assert_eq!(trash[0]["restorable"], json!(true));
    assert_eq!(
        trash[0]["reason"],
        "the host `spam.example` is in the blacklist, and it was not ingested"
    );
    let (_, said) = failed.clean(&["--yes"]);
    assert!(said.contains("0 of 2 documents"), "{said}");

    failed.run(0, &["documents", "restore"]);

    assert_eq!(failed.documents(), before);
    assert_eq!(
        failed.crawl.files().into_keys().collect::<Vec<_>>(),
        files.into_keys().collect::<Vec<_>>()
    );
    assert_eq!(failed.trash(), 0);
    failed.verify();
}

#[test]
fn blacklisted_documents_that_failed_are_removed_and_restored_on_sqlite() {
    cleaning_and_restoring(&[]);
}

#[test]
fn blacklisted_documents_that_failed_are_removed_and_restored_on_postgres() {
    let database = Postgres::shared().database();
    cleaning_and_restoring(&["--catalog", &database]);
}

fn restoring_twice(catalog: &[&str]) {
    let failed = Failed::new(&many(60).bytes, catalog);
    let before = failed.documents();
    let hosts: Vec<_> = (0..20).map(|n| format!("host-{n}.example\n")).collect();
    failed.crawl.write("black.txt", hosts.concat());
    failed.clean(&["--yes"]);
    assert!(failed.documents().len() < before.len());

    let restore = || {
        let garner = failed.crawl.garner(&["documents", "restore", "--json"]);
        garner.args(&failed.catalog).output()
    };
    let outputs = std::thread::scope(|scope| {
        let both = [scope.spawn(restore), scope.spawn(restore)];
        both.map(|one| one.join().unwrap())
    });

    assert_eq!(failed.documents(), before);
    let mut restored = 0;
    for output in outputs {
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let said: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(said["failed"], 0, "{said}");
        restored += said["restored"].as_u64().unwrap();
    }
    assert_eq!(restored, before.len() as u64);
    let id = before[0]["id"].to_string();
    let (_, said) = failed.run(0, &["documents", "restore", &id]);
    assert!(said.contains("1 in the collection already"), "{said}");
    failed.run(3, &["documents", "restore", "999999"]);
}

#[test]
fn two_restorations_at_once_both_succeed_on_sqlite() {
    restoring_twice(&[]);
}

#[test]
fn two_restorations_at_once_both_succeed_on_postgres() {
    restoring_twice(&["--catalog", &Postgres::shared().database()]);
}

#[test]
fn a_document_without_its_file_is_restored_without_it() {
    let failed = Failed::new(&example(), &[]);
    failed.crawl.write("black.txt", "*.spam.example\n");
    let one = failed
        .documents()
        .into_iter()
        .find(|one| one["url"] == "http://spam.example/1.pdf");
    let one = one.unwrap();
    std::fs::remove_file(one["path"].as_str().unwrap()).unwrap();
    failed.clean(&["--yes"]);

    let (_, said) = failed.run(3, &["documents", "restore"]);

    assert!(
        said.contains("2 documents restored, 1 without their files"),
        "{said}"
    );
    assert!(
        said.contains(&format!(
            "{}: it is in the collection again without its file",
            one["id"]
        )),
        "{said}"
    );
    assert_eq!(failed.documents().len(), 4);
}

fn takedowns(catalog: &[&str]) {
    let failed = Failed::new(&example(), catalog);
    let url = "http://www.SPAM.example:80/2.pdf";

    let (_, said) = failed.run(
        0,
        &[
            "documents",
            "remove",
            url,
            "--reason",
            "its author asked for it",
        ],
    );

    assert!(
        said.contains("documents with the same bytes stay"),
        "{said}"
    );
    assert_eq!(failed.documents().len(), 3);
    failed.run(1, &["documents", "remove", url, "--reason", "again"]);
    failed.verify();
    // Neither its URL nor its bytes under another one come back, and the document that had them stays.
    let mut warc = Warc::default();
    warc.response(url, &date(7), "application/pdf", &pdf(9));
    warc.response(
        "http://copy.example/c.pdf",
        &date(7),
        "application/pdf",
        &pdf(2),
    );
    warc.response(
        "http://good.example/same-as-2.pdf",
        &date(7),
        "application/pdf",
        &pdf(2),
    );
    warc.response(
        "http://new.example/n.pdf",
        &date(7),
        "application/pdf",
        &pdf(8),
    );
    failed.crawl.write("b.warc.gz", warc.bytes);
    let printed = failed.lines(&["import", "b.warc.gz", "--json"]);
    assert_eq!(printed[0]["skipped_Takedown"], 2, "{printed:?}");
    assert_eq!(printed[0]["saved_New"], 1, "{printed:?}");
    let (warnings, _) = failed.run(0, &["history", "2", "--imports", "--warnings"]);
    assert!(
        warnings.contains("taken down: its author asked for it"),
        "{warnings}"
    );
    assert_eq!(failed.documents().len(), 4);
    let audit = failed.run(0, &["audit"]).0;
    assert!(audit.contains("document.remove"), "{audit}");

    failed.run(0, &["documents", "trash", "--empty", "0"]);
    let trash = failed.lines(&["documents", "trash", "--json"]);
    assert_eq!((trash.len(), &trash[0]["restorable"]), (1, &json!(false)));
    let (_, said) = failed.run(0, &["documents", "restore", url]);
    assert!(said.contains("1 takedown ended"), "{said}");
    failed.run(0, &["import", "b.warc.gz", "--text"]);
    assert_eq!(failed.documents().len(), 6);
    failed.verify();
}

#[test]
fn a_takedown_keeps_url_and_bytes_out_until_it_ends_on_sqlite() {
    takedowns(&[]);
}

#[test]
fn a_takedown_keeps_url_and_bytes_out_until_it_ends_on_postgres() {
    let database = Postgres::shared().database();
    takedowns(&["--catalog", &database]);
}

#[test]
fn a_cleaning_that_is_killed_is_continued_by_the_next() {
    let failed = Failed::new(&many(900).bytes, &[]);
    failed.crawl.write(
        "black.txt",
        "host-1.example\nhost-2.example\nhost-3.example\n",
    );
    let before = failed.documents();
    let mut random = random();
    let clean = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_garner"));
        command.args([
            "documents",
            "clean",
            "--yes",
            "--blacklist",
            "black.txt",
            "--data",
        ]);
        command
            .arg(failed.crawl.data())
            .current_dir(failed.crawl.path(""));
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };

    let mut kills = 0;
    for _ in 0..6 {
        let mut child = clean();
        std::thread::sleep(Duration::from_millis(20 + random(180)));
        child.kill().unwrap();
        kills += u32::from(!child.wait().unwrap().success());
        // Files on their way to the trash are no mistake.
        failed.verify();
    }
    eprintln!("killed {kills} times");
    let (one, other) = (clean(), clean());
    for mut child in [one, other] {
        assert!(child.wait().unwrap().success());
    }

    let left = failed.documents();
    assert!(left.iter().all(|one| {
        !["host-1.example", "host-2.example", "host-3.example"]
            .contains(&one["host"].as_str().unwrap())
    }));
    failed.verify();
    let mut child = Command::new(env!("CARGO_BIN_EXE_garner"))
        .args(["documents", "restore", "--data"])
        .arg(failed.crawl.data())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(50 + random(100)));
    child.kill().unwrap();
    child.wait().unwrap();
    failed.run(0, &["verify", "--repair"]);
    failed.run(0, &["documents", "restore"]);
    assert_eq!(failed.documents().len(), before.len());
    failed.verify();
}

#[test]
fn a_cleaning_beside_an_import_loses_nothing() {
    let failed = Failed::new(&many(300).bytes, &[]);
    failed
        .crawl
        .write("black.txt", "host-1.example\nhost-2.example\n");
    failed.crawl.write("b.warc.gz", many(1200).bytes);
    let mut import = Command::new(env!("CARGO_BIN_EXE_garner"))
        .args(["import", "b.warc.gz", "--quiet", "--data"])
        .arg(failed.crawl.data())
        .current_dir(failed.crawl.path(""))
        .spawn()
        .unwrap();

    let mut rounds = 0;
    wait_until("the import is over", || {
        failed.clean(&["--yes"]);
        rounds += 1;
        import.try_wait().unwrap().is_some()
    });

    assert!(import.wait().unwrap().success(), "{rounds} cleanings");
    failed.clean(&["--yes"]);
    failed.verify();
    failed.run(3, &["documents", "restore"]);
    failed.verify();
}

#[test]
fn the_trash_of_a_store_is_in_the_data_directory() {
    let store = S3Server::start();
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", example());
    let run = |code: i32, arguments: &[&str]| {
        let mut command = crawl.garner(arguments);
        for (name, value) in [
            ("AWS_ACCESS_KEY_ID", "key".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "geheim".to_owned()),
            ("AWS_ENDPOINT_URL", store.endpoint()),
        ] {
            command = command.env(name, value);
        }
        let output = command.output();
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        stdout(&output)
    };
    run(0, &["import", "a.warc.gz", "--collection", "s3://papers/c"]);

    run(0, &["documents", "remove", "1", "--reason", "why not"]);

    let trash = files_in(&crawl.data().join("trash"));
    assert!(
        trash.keys().any(|path| path.ends_with(b".pdf")),
        "{:?}",
        trash.keys()
    );
    run(0, &["verify"]);
    run(0, &["documents", "restore", "1"]);
    run(0, &["verify"]);
    assert_eq!(run(0, &["documents", "list"]).lines().count(), 4);
}

#[test]
fn wrong_blacklists_are_told_with_their_line() {
    let failed = Failed::new(&example(), &[]);
    for (text, reason) in [
        (&b"a.example\nno host\n"[..], "line 2"),
        (b"a.example\n\xff\n", "line 2 is not UTF-8"),
        (b"# nothing\n", "no entries"),
        (b"www.*.example\n", "line 1"),
    ] {
        failed.crawl.write("black.txt", text);
        let (_, said) = failed.run(
            1,
            &["documents", "clean", "--yes", "--blacklist", "black.txt"],
        );
        assert!(said.contains(reason), "{said}");
    }
    failed.run(2, &["documents", "clean", "--yes"]);
    failed.run(1, &["documents", "remove", "1", "--reason", " "]);
    assert_eq!(failed.documents().len(), 4);
}

#[test]
fn lists_are_kept_edited_and_compared() {
    let failed = Failed::new(&example(), &[]);
    failed
        .crawl
        .write("black.txt", "# mine\nspam.example\nb\u{fc}cher.example\n");
    failed.crawl.write(
        "white.txt",
        "http://spam.example/seeds\nhttp://good.example/\n",
    );

    failed.run(0, &["lists", "add", "blacklist", "spam", "black.txt"]);
    failed.run(0, &["lists", "add", "blacklist", "other", "black.txt"]);
    failed.run(0, &["lists", "add", "whitelist", "seeds", "white.txt"]);
    failed.run(1, &["lists", "add", "whitelist", "seeds", "white.txt"]);
    failed.run(
        0,
        &[
            "lists",
            "edit",
            "other",
            "--remove",
            "*.SPAM.example",
            "--add",
            "third.example",
        ],
    );

    let (lines, said) = failed.run(0, &["lists", "compare", "spam", "other"]);
    assert_eq!(lines, "< spam.example\n> third.example\n");
    assert!(said.contains("1 entries in both"), "{said}");
    let (lines, _) = failed.run(0, &["lists", "compare", "seeds", "spam"]);
    assert_eq!(lines, "! http://spam.example/seeds\n");
    let (text, _) = failed.run(0, &["lists", "show", "other"]);
    assert_eq!(text, "# mine\nb\u{fc}cher.example\nthird.example\n");
    let listed = failed.lines(&["lists", "list", "--json"]);
    assert_eq!(listed.len(), 3);
    assert_eq!(
        (&listed[0]["name"], &listed[0]["version"]),
        (&json!("other"), &json!(2))
    );
    let (lines, _) = failed.run(
        0,
        &[
            "documents",
            "clean",
            "--list",
            "spam",
            "--dry-run",
            "--json",
        ],
    );
    assert_eq!(lines.lines().count(), 2);
    failed.run(1, &["documents", "clean", "--list", "seeds", "--dry-run"]);
    failed.run(0, &["lists", "remove", "spam"]);
    failed.run(1, &["documents", "clean", "--list", "spam", "--dry-run"]);
}
