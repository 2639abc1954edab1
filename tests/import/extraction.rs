//! Extracted here, loaded there: the same as an import, whatever is split, repeated, mixed up or killed.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rusqlite::Connection;
use serde_json::Value;
use test_support::{Postgres, S3Server};

use super::crashes::random;
use super::crawl::{Warc, date, many, pdf};
use super::papers::{blank, encrypted, printed, sample, scanned};
use crate::command_line::{stderr, stdout};
use crate::managed::Managed;

const TYPES: &str = "application/pdf,text/html";

/// A directory with archives that know of each other: the same URLs, the same bytes, revisits, damage, a container.
fn archives() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(directory.path().join(name), bytes);
    for (name, papers) in [("1", 30), ("2", 45), ("3", 8)] {
        write(&format!("{name}.warc.gz"), &many(papers).bytes).unwrap();
    }
    let mut odd = Warc::default();
    let url = "http://host-1.example/papers/1.pdf";
    let profile =
        "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest\r\n";
    odd.record("revisit", url, &date(70_000), profile, b"");
    odd.record(
        "revisit",
        "http://nowhere.example/x.pdf",
        &date(1),
        profile,
        b"",
    );
    let inside = super::crawl::stored_zip(&[("a/b.pdf", &pdf(900)), ("c.pdf", &pdf(2))]);
    odd.response(
        "http://zip.example/all.zip",
        &date(5),
        "application/zip",
        &inside,
    );
    odd.response(
        "http://old.example/",
        &date(5),
        "text/html",
        b"<!DOCTYPE html><p>an old page",
    );
    odd.response(
        "http://old.example/",
        &date(3),
        "text/html",
        b"<!DOCTYPE html><p>older",
    );
    odd.answer(
        "http://gone.example/",
        &date(3),
        "404 Not Found",
        "text/html",
        b"no",
    );
    let mut bytes = odd.bytes;
    let length = bytes.len();
    bytes[length - 30] ^= 0xff;
    write("4.warc.gz", &bytes).unwrap();
    directory
}

fn paths(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Runs the program without a data directory.
fn garner(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_garner"));
    command.args(arguments).env_remove("RUST_LOG");
    command
}

/// Extracts, and gives a line for each file.
fn extract(paths: &[&Path], output: &Path, options: &[&str]) -> Vec<Value> {
    let mut arguments = vec!["extract", "--json", "--output", output.to_str().unwrap()];
    arguments.extend(paths.iter().map(|path| path.to_str().unwrap()));
    arguments.extend(["--types", TYPES, "--open", "zip"]);
    arguments.extend(options);
    let extracted = garner(&arguments);
    assert!(
        [Some(0), Some(3)].contains(&extracted.status.code()),
        "{}",
        stderr(&extracted)
    );
    lines(&extracted)
}

fn lines(output: &Output) -> Vec<Value> {
    let text = stdout(output);
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

fn load(managed: &Managed, places: &[&Path]) -> Value {
    let mut arguments = vec!["load", "--json", "--quiet"];
    arguments.extend(places.iter().map(|place| place.to_str().unwrap()));
    let output = managed.output(&arguments);
    assert!(
        [Some(0), Some(3)].contains(&output.status.code()),
        "{}",
        stderr(&output)
    );
    serde_json::from_str(&stdout(&output)).unwrap()
}

fn import(managed: &Managed, directory: &Path, options: &[&str]) {
    let mut arguments = vec!["import", directory.to_str().unwrap(), "--json", "--quiet"];
    arguments.extend(["--types", TYPES, "--open", "zip"]);
    arguments.extend(options);
    let output = managed.output(&arguments);
    assert!(
        [Some(0), Some(3)].contains(&output.status.code()),
        "{}",
        stderr(&output)
    );
}

/// The documents without their numbers and times, and the sums of the counters of all imports.
fn left(managed: &Managed) -> (BTreeMap<String, Value>, BTreeMap<String, u64>) {
    let documents = managed.lines(&["documents", "list"]).into_iter();
    let documents = documents.map(|mut document| {
        let fields = document.as_object_mut().unwrap();
        for name in [
            "id",
            "import",
            "content",
            "near",
            "parent",
            "file",
            "path",
            "shared_with",
        ] {
            fields.remove(name);
        }
        // A correction is made in each collection by itself, and the second may have passed in between.
        if let Some(corrected) = fields.get_mut("corrected").and_then(Value::as_object_mut) {
            corrected.remove("at");
        }
        (
            format!("{} {}", document["url"], document["member"]),
            document,
        )
    });
    let documents = documents.collect();
    let mut counters = BTreeMap::new();
    for run in managed.lines(&["history", "--imports", "--limit", "1000"]) {
        for (name, count) in run["counters"].as_object().into_iter().flatten() {
            // The order of the imports decides which one counts a document as new; their sums are the same.
            *counters.entry(name.clone()).or_insert(0) += count.as_u64().unwrap_or_default();
        }
    }
    managed.garner(&["verify", "--quiet"]);
    (documents, counters)
}

/// Counters that do not depend on what came first.
const ALIKE: [&str; 8] = [
    "all",
    "filtered",
    "filtered_MTF",
    "skipped_Status",
    "skipped_Records",
    "failed_Read",
    "containers",
    "bytes_Read",
];

fn assert_same(plain: &Managed, loaded: &Managed) {
    let (wanted, counted) = left(plain);
    let (found, counts) = left(loaded);
    assert!(wanted.len() > 40, "{} documents", wanted.len());
    for (name, document) in &wanted {
        assert_eq!(found.get(name), Some(document), "{name}");
    }
    assert_eq!(found.len(), wanted.len());
    for name in ALIKE {
        assert_eq!(counts.get(name), counted.get(name), "{name}");
    }
}

fn both() -> [fn() -> Managed; 2] {
    [Managed::new, || Managed::on(Postgres::shared().database())]
}

#[test]
fn extracted_and_loaded_in_any_way_is_what_an_import_brings() {
    let archives = archives();
    let paths = paths(archives.path());
    let mut random = random();
    for database in both() {
        let plain = database();
        import(&plain, archives.path(), &[]);
        for round in 0..2 {
            let outputs = tempfile::tempdir().unwrap();
            let places: Vec<_> = (0..3)
                .map(|at| outputs.path().join(at.to_string()))
                .collect();
            for path in &paths {
                for _ in 0..=random(2) {
                    let place = &places[random(3) as usize];
                    let bytes: &[&str] = match random(2) {
                        0 => &["--bytes"],
                        _ => &[],
                    };
                    extract(&[path], place, bytes);
                }
            }
            // A place that nothing was extracted to has no results to load.
            let places: Vec<_> = places.iter().filter(|place| place.exists()).collect();
            let loaded = database();
            for _ in 0..4 {
                load(&loaded, &[places[random(places.len() as u64) as usize]]);
            }
            let all: Vec<_> = places.iter().map(|place| place.as_path()).collect();
            load(&loaded, &all);
            let again = load(&loaded, &all);

            assert_eq!(
                (&again["loaded"], &again["known"]),
                (&0.into(), &4.into()),
                "{again}"
            );
            assert_same(&plain, &loaded);
            eprintln!("round {round} is well");
        }
    }
}

#[test]
fn loaders_that_are_killed_or_work_at_the_same_time_load_each_source_once() {
    let archives = archives();
    std::fs::write(archives.path().join("5.warc.gz"), many(400).bytes).unwrap();
    let paths = paths(archives.path());
    let paths: Vec<_> = paths.iter().map(PathBuf::as_path).collect();
    let output = tempfile::tempdir().unwrap();
    extract(&paths, output.path(), &["--bytes"]);
    let mut random = random();
    for database in both() {
        let plain = database();
        import(&plain, archives.path(), &[]);
        let loaded = database();
        let arguments = ["load", output.path().to_str().unwrap(), "--json", "--quiet"];
        let start = || {
            let mut command = loaded.command(&arguments);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        for _ in 0..3 {
            let mut killed = start();
            std::thread::sleep(Duration::from_millis(100 + random(900)));
            killed.kill().unwrap();
            killed.wait().unwrap();
        }
        let loaders = [start(), start()];
        for loader in loaders {
            let ended = loader.wait_with_output().unwrap();
            assert!(
                [Some(0), Some(3)].contains(&ended.status.code()),
                "{}",
                stderr(&ended)
            );
        }

        assert_same(&plain, &loaded);
    }
}

#[test]
fn the_same_bytes_give_the_same_files_wherever_they_lie_and_a_repeat_writes_nothing() {
    let (first, second) = (archives(), tempfile::tempdir().unwrap());
    let outputs = tempfile::tempdir().unwrap();
    let [one, two] = ["one", "two"].map(|name| outputs.path().join(name));
    for path in paths(first.path()) {
        let name = format!("other {}", path.file_name().unwrap().to_str().unwrap());
        std::fs::copy(&path, second.path().join(name)).unwrap();
    }

    let lines = extract(&[first.path()], &one, &["--bytes"]);
    let others = extract(&[second.path()], &two, &["--bytes", "--jobs", "1"]);

    assert_eq!(lines.len(), 4);
    assert_eq!(others.len(), 4);
    for line in &lines {
        for file in ["table", "bytes"] {
            let file = line[file].as_str().unwrap();
            let [a, b] = [&one, &two].map(|place| std::fs::read(place.join(file)).unwrap());
            assert!(a == b, "{file} differs");
        }
    }
    let again = extract(&[first.path()], &one, &["--bytes"]);
    assert!(again.iter().all(|line| line["reused"] == true), "{again:?}");
    for (line, again) in lines.iter().zip(&again) {
        assert_eq!(line["rows"], again["rows"]);
        assert_eq!(line["state"], again["state"]);
    }
    // Segments are WARC files that others read, and their indexes are those of their records.
    let segment = one.join(lines[0]["bytes"].as_str().unwrap());
    let checked = garner(&["warc", "check", segment.to_str().unwrap()]);
    assert!(checked.status.success(), "{}", stdout(&checked));
    let indexed = garner(&["warc", "index", "--sort", segment.to_str().unwrap()]);
    let beside = segment.to_str().unwrap().replace(".warc.gz", ".cdxj");
    assert_eq!(stdout(&indexed), std::fs::read_to_string(beside).unwrap());
}

#[test]
fn paths_come_from_stdin_and_each_gets_its_line() {
    let archives = archives();
    let output = tempfile::tempdir().unwrap();
    let text = archives.path().join("no.warc.gz");
    std::fs::write(&text, "nothing of the kind").unwrap();
    let good = archives.path().join("3.warc.gz");
    let list = format!(
        "{}\n\n{}\n/not/there.warc\n",
        good.display(),
        text.display()
    );
    let place = output.path().join("results");
    let mut child = command(&["extract", "--json", "--output", place.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(list.as_bytes())
        .unwrap();
    let ended = child.wait_with_output().unwrap();

    let lines = lines(&ended);
    assert_eq!(ended.status.code(), Some(3), "{}", stderr(&ended));
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(
        (&lines[0]["state"], &lines[0]["saved_New"]),
        (&"ok".into(), &8.into())
    );
    assert_eq!(lines[2]["error"]["code"], "not_found", "{lines:?}");

    let alone = garner(&[
        "extract",
        "/not/there.warc",
        "--output",
        place.to_str().unwrap(),
    ]);
    assert_eq!(alone.status.code(), Some(1));
    let log = garner(&[
        "extract",
        "x.warc",
        "--log",
        "l",
        "--output",
        place.to_str().unwrap(),
    ]);
    assert_eq!(log.status.code(), Some(2));
    assert!(
        stderr(&log).contains("garner import reads logs"),
        "{}",
        stderr(&log)
    );
}

#[test]
fn results_that_are_damaged_or_of_another_kind_are_refused_and_the_others_are_loaded() {
    let archives = archives();
    let output = tempfile::tempdir().unwrap();
    let lines = extract(&[archives.path()], output.path(), &["--bytes"]);
    let entry = |at: usize| output.path().join(lines[at]["entry"].as_str().unwrap());
    let change = |at: usize, from: &str, to: &str| {
        let text = std::fs::read_to_string(entry(at)).unwrap();
        assert!(text.contains(from), "{text}");
        std::fs::write(entry(at), text.replacen(from, to, 1)).unwrap();
    };
    change(0, "\"format\": 1", "\"format\": 2");
    change(1, "\"model\": null", "\"model\": \"another\"");
    let table = output.path().join(lines[2]["table"].as_str().unwrap());
    let mut bytes = std::fs::read(&table).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&table, bytes).unwrap();

    let managed = Managed::new();
    let loaded = load(&managed, &[output.path()]);

    assert_eq!(loaded["state"], "incomplete", "{loaded}");
    assert_eq!(
        (&loaded["loaded"], &loaded["refused"]),
        (&1.into(), &3.into()),
        "{loaded}"
    );
    let problems = loaded["problems"].to_string();
    for said in ["format 2", "judged by model another", "it is damaged"] {
        assert!(problems.contains(said), "{said} is not in {problems}");
    }
    let nothing = tempfile::tempdir().unwrap();
    let refused = managed.output(&["load", nothing.path().to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains("there are no results in"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn sources_are_needed_unless_the_bytes_were_extracted() {
    let archives = archives();
    let output = tempfile::tempdir().unwrap();
    let [with, without] = ["with", "without"].map(|name| output.path().join(name));
    let path = archives.path().join("1.warc.gz");
    extract(&[&path], &with, &["--bytes"]);
    extract(&[&path], &without, &[]);
    std::fs::remove_file(&path).unwrap();
    let managed = Managed::new();

    let refused = load(&managed, &[&without]);
    assert_eq!(refused["refused"], 1, "{refused}");
    let said = refused["problems"].to_string();
    assert!(said.contains("extract with --bytes"), "{said}");
    let loaded = load(&managed, &[&without, &with]);
    assert_eq!(
        (&loaded["loaded"], &loaded["state"]),
        (&1.into(), &"ok".into()),
        "{loaded}"
    );
}

#[test]
fn results_in_a_bucket_are_loaded_from_there() {
    let archives = archives();
    let server = S3Server::start();
    let managed = Managed::new();
    let with_keys = |mut command: Command| {
        command
            .env("AWS_ACCESS_KEY_ID", "key")
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .env("AWS_ENDPOINT_URL", server.endpoint());
        command.output().unwrap()
    };
    let place = "s3://papers/results";
    let directory = archives.path().to_str().unwrap();
    let options = ["extract", directory, "--output", place, "--bytes", "--json"];
    let more = ["--types", TYPES, "--open", "zip"];

    for reused in [false, true] {
        let extracted = with_keys(command(&[&options[..], &more].concat()));
        let lines = lines(&extracted);
        assert_eq!(lines.len(), 4, "{}", stderr(&extracted));
        assert!(
            lines.iter().all(|line| line["reused"] == reused),
            "{lines:?}"
        );
    }
    let loaded = with_keys(managed.command(&["load", place, "--json", "--quiet"]));
    let loaded: Value = serde_json::from_str(&stdout(&loaded)).unwrap();

    assert_eq!(loaded["loaded"], 4, "{loaded}");
    let plain = Managed::new();
    import(&plain, archives.path(), &[]);
    assert_same(&plain, &managed);
}

#[test]
fn texts_and_judgements_are_those_of_an_import_and_a_correction_counts_first() {
    let archives = tempfile::tempdir().unwrap();
    let paper = |number| printed(&sample("paper.txt"), number);
    let documents = [
        ("paper", paper(1)),
        ("manual", printed(&sample("manual.txt"), 2)),
        ("form", printed(&sample("form.txt"), 3)),
        ("encrypted", encrypted()),
        ("blank", blank()),
        ("scan", scanned(&paper(4))),
        ("again", paper(1)),
    ];
    let mut warc = Warc::default();
    for (number, (name, bytes)) in documents.iter().enumerate() {
        let url = format!("http://www.example.edu/{name}.pdf");
        warc.response(&url, &date(number), "application/pdf", bytes);
    }
    std::fs::write(archives.path().join("1.warc.gz"), &warc.bytes).unwrap();
    let mut later = Warc::default();
    later.response(
        "http://later.example/1.pdf",
        &date(50),
        "application/pdf",
        &paper(1),
    );
    later.response(
        "http://later.example/5.pdf",
        &date(51),
        "application/pdf",
        &paper(5),
    );
    let filter = ["--content-filter", "on"];
    let [plain, loaded] = [Managed::new(), Managed::new()];
    let results = tempfile::tempdir().unwrap();
    let compare = || {
        let [(wanted, counted), (found, counts)] = [left(&plain), left(&loaded)];
        assert_eq!(found, wanted);
        for name in [
            "all",
            "saved_New",
            "filtered_DCF",
            "failed_TextExtract",
            "text_Empty",
        ] {
            assert_eq!(counts.get(name), counted.get(name), "{name}");
        }
        let reviews = |managed: &Managed| {
            let reviews = managed.lines(&["documents", "review"]);
            let reviews = reviews.iter().map(|review| review["url"].to_string());
            reviews.collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(reviews(&loaded), reviews(&plain));
        assert!(!reviews(&plain).is_empty());
        let search = |managed: &Managed| {
            let found = managed.lines(&["documents", "search", "the"]);
            found.len()
        };
        assert_eq!(search(&loaded), search(&plain));
    };

    import(&plain, archives.path(), &filter);
    extract(
        &[archives.path()],
        results.path(),
        &["--bytes", "--content-filter", "on"],
    );
    load(&loaded, &[results.path()]);
    compare();

    // A paper that a librarian rejected is not imported again, under whatever URL.
    for managed in [&plain, &loaded] {
        let list = managed.lines(&["documents", "list"]);
        let paper = list
            .iter()
            .find(|one| one["url"] == "http://www.example.edu/paper.pdf");
        let number = paper.unwrap()["id"].to_string();
        managed.garner(&["documents", "correct", &number, "--reject"]);
    }
    std::fs::write(archives.path().join("2.warc.gz"), &later.bytes).unwrap();
    import(&plain, &archives.path().join("2.warc.gz"), &filter);
    extract(
        &[archives.path()],
        results.path(),
        &["--bytes", "--content-filter", "on"],
    );
    let second = load(&loaded, &[results.path()]);
    assert_eq!(
        (&second["loaded"], &second["known"]),
        (&1.into(), &1.into()),
        "{second}"
    );
    compare();
}

#[test]
fn a_source_whose_bytes_cannot_be_read_is_loaded_again_when_they_are_back() {
    let archives = tempfile::tempdir().unwrap();
    std::fs::write(archives.path().join("1.warc.gz"), many(10).bytes).unwrap();
    let output = tempfile::tempdir().unwrap();
    extract(&[archives.path()], output.path(), &["--bytes"]);
    let bytes = paths_below(output.path(), ".warc.gz").remove(0);
    let good = std::fs::read(&bytes).unwrap();
    let mut damaged = good.clone();
    damaged[900] ^= 0xff;
    std::fs::write(&bytes, &damaged).unwrap();
    let managed = Managed::new();

    for _ in 0..2 {
        let loaded = load(&managed, &[output.path()]);
        assert_eq!(loaded["state"], "incomplete", "{loaded}");
        let counted = ["loaded", "known", "refused"].map(|name| loaded[name].clone());
        assert_eq!(counted, [0, 0, 1].map(Value::from), "{loaded}");
    }
    std::fs::write(&bytes, &good).unwrap();
    let mended = load(&managed, &[output.path()]);

    assert_eq!(
        (&mended["loaded"], &mended["state"]),
        (&1.into(), &"ok".into()),
        "{mended}"
    );
    let plain = Managed::new();
    import(&plain, archives.path(), &[]);
    let documents = |managed: &Managed| left(managed).0.into_keys().collect::<Vec<_>>();
    assert_eq!(documents(&managed), documents(&plain));
    let again = load(&managed, &[output.path()]);
    assert_eq!(
        (&again["known"], &again["state"]),
        (&1.into(), &"ok".into()),
        "{again}"
    );
}

#[test]
fn results_of_an_archive_that_is_damaged_are_incomplete_whenever_they_are_loaded() {
    let archives = tempfile::tempdir().unwrap();
    let mut bytes = many(10).bytes;
    bytes.truncate(bytes.len() - 30);
    std::fs::write(archives.path().join("1.warc.gz"), bytes).unwrap();
    let output = tempfile::tempdir().unwrap();
    extract(&[archives.path()], output.path(), &["--bytes"]);
    let managed = Managed::new();

    for known in [0, 1] {
        let loaded = load(&managed, &[output.path()]);
        assert_eq!(loaded["state"], "incomplete", "{loaded}");
        assert_eq!(loaded["known"], known, "{loaded}");
    }
}

/// The files below a directory whose names end like this.
fn paths_below(directory: &Path, end: &str) -> Vec<PathBuf> {
    let found = test_support::files_below(directory).into_iter();
    let found = found.map(|path| directory.join(String::from_utf8(path).unwrap()));
    found
        .filter(|path| path.to_str().unwrap().ends_with(end))
        .collect()
}

#[test]
fn files_of_loaders_that_were_killed_are_removed_when_others_have_loaded_their_sources() {
    let archives = tempfile::tempdir().unwrap();
    for at in 0..6 {
        let mut warc = Warc::default();
        // Each has documents of the next.
        for number in at * 15..at * 15 + 25 {
            let url = format!("http://h.example/{number}.pdf");
            warc.response(&url, &date(number), "application/pdf", &pdf(number));
        }
        std::fs::write(archives.path().join(format!("{at}.warc.gz")), warc.bytes).unwrap();
    }
    let output = tempfile::tempdir().unwrap();
    extract(&[archives.path()], output.path(), &["--bytes"]);
    let managed = Managed::new();
    load(&managed, &[output.path()]);
    // What a killed loader leaves: an import that placed a file for a document which another brought.
    let catalog = Connection::open(managed.data().join("catalog.sqlite")).unwrap();
    let sql = "INSERT INTO import (target, parameters, keep_versions, state, started, lease_owner, lease_token,
             lease_until, exclusive, run_id, counters, reserved, superfluous)
         SELECT 'killed', parameters, 0, 'failed', started, lease_owner, 1, 0, 0, run_id + 1000, counters,
             '{\"' || (SELECT sha1 FROM content ORDER BY id LIMIT 1) || '\": 900}',
             '[{\"number\": 901, \"extension\": \"pdf\"}]' FROM import WHERE id = 1;
         INSERT INTO import_source (import_id, number, source, beginning)
         SELECT (SELECT max(id) FROM import), number, source, beginning FROM import_source
         WHERE import_id = 1 AND number = 0;
         UPDATE collection_state SET next_number = 902;";
    catalog.execute_batch(sql).unwrap();
    let lies = |number: u32| {
        let name = format!("documents/000/000/{number:03}/000.000.{number:03}.pdf");
        managed.data().join(name)
    };
    // One that it was about to remove, too.
    for number in [900, 901] {
        std::fs::create_dir_all(lies(number).parent().unwrap()).unwrap();
        std::fs::copy(lies(1), lies(number)).unwrap();
    }
    assert_eq!(managed.output(&["verify"]).status.code(), Some(3));

    load(&managed, &[output.path()]);

    assert!(!lies(900).exists() && !lies(901).exists());
    let verified = managed.output(&["verify"]);
    assert_eq!(verified.status.code(), Some(0), "{}", stderr(&verified));
}

#[test]
fn temporary_files_of_a_killed_extraction_are_removed_by_the_next_one() {
    let archives = tempfile::tempdir().unwrap();
    std::fs::write(archives.path().join("1.warc.gz"), many(3).bytes).unwrap();
    let output = tempfile::tempdir().unwrap();
    let mut killed = command(&["extract", "-", "--output", output.path().to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let temporary = output.path().join("_temporary");
    while !temporary.exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let number = killed.id();
    killed.kill().unwrap();
    killed.wait().unwrap();
    // As this process would have called one of its own.
    let system = {
        let boot = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap();
        let processes = std::fs::read_link("/proc/self/ns/pid").unwrap();
        let names = [&boot[..], processes.to_str().unwrap().as_bytes()].concat();
        document::digest::Digests::of(&names).sha1_hex()[..8].to_owned()
    };
    let [left, others] = [number, std::process::id()]
        .map(|process| temporary.join(format!(".tmp-{system}-{process}-x")));
    std::fs::write(&left, "left").unwrap();
    std::fs::write(&others, "of a process that is there").unwrap();

    extract(&[archives.path()], output.path(), &[]);

    assert!(!left.exists() && others.exists());
}
