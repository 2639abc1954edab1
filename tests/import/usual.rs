//! Imports in which everything is as it should be.

use std::path::Path;

use roxmltree::Document;
use serde_json::{Value, json};

use super::crawl::{Crawl, Warc, date, files_in, many, pdf};
use crate::command_line::{fails, stderr, stdout};

const URL: &str = "http://www.example.edu/tom/pub/paper1.pdf";

/// The counters that are not zero, without sizes and times.
fn counted(printed: &Value) -> Value {
    let mut counted = printed.clone();
    let names = counted.as_object_mut().unwrap();
    for name in [
        "import",
        "state",
        "reason",
        "seconds",
        "report",
        "verification",
        "bytes_Read",
        "bytes_Saved",
        "kept_nothing",
    ] {
        names.remove(name);
    }
    names.retain(|_, count| *count != json!(0));
    counted
}

#[test]
fn the_example_has_everything_once() {
    let crawl = Crawl::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crawl.warc.gz");

    let printed = crawl.import(0, &[example.to_str().unwrap()]);

    let expected = json!({
        "all": 14,
        "saved_New": 6,
        "saved_KnownContent": 1,
        "saved_Duplicate": 1,
        "saved_NewVersion": 1,
        "revisits": 1,
        "containers": 1,
        "digest_Verified": 7,
        "filtered": 5,
        "filtered_MTF": 5,
        "skipped_Status": 1,
    });
    assert_eq!(counted(&printed), expected);
    assert_eq!(printed["state"], "ok");
    assert_eq!(printed["report"], Value::Null);
    assert_eq!(crawl.documents().len(), 6);
}

#[test]
fn a_document_has_its_file_its_metadata_and_its_row() {
    let crawl = Crawl::new();
    let mut warc = Warc::default();
    let parent = "http://www.example.edu/tom/home.htm";
    warc.response(URL, &date(5), "text/plain; charset=x", &pdf(1));
    warc.metadata(URL, &date(5), parent, "LL");
    crawl.write("a.warc.gz", warc.bytes);

    let printed = crawl.import(0, &["a.warc.gz", "--crawler", "heritrix"]);

    assert_eq!(printed["saved_New"], 1);
    let documents = crawl.data().join("documents");
    let file = documents.join("000/000/001/000.000.001.pdf");
    assert_eq!(std::fs::read(&file).unwrap(), pdf(1));
    let met = std::fs::read_to_string(documents.join("000/000/001/000.000.001.pdf.met")).unwrap();
    let met = Document::parse(&met).unwrap();
    let text = |name: &str| {
        let element = met.descendants().find(|node| node.has_tag_name(name));
        element.unwrap().text().unwrap().to_owned()
    };
    assert_eq!(met.root_element().tag_name().name(), "CrawlData");
    assert_eq!(text("crawler"), "heritrix");
    assert_eq!(text("crawlDate"), date(5));
    assert_eq!(text("url"), URL);
    assert_eq!(text("parentUrl"), parent);
    assert_eq!(text("depth"), "2");
    assert_eq!(text("declaredMediaType"), "text/plain");
    assert_eq!(text("mediaType"), "application/pdf");
    assert_eq!(text("size"), pdf(1).len().to_string());
    assert!(text("source").contains("a.warc.gz at offset 0"));

    let [document] = &crawl.documents()[..] else {
        panic!("one document");
    };
    for (name, value) in [
        ("id", json!(1)),
        ("url", json!(URL)),
        ("host", json!("www.example.edu")),
        ("parent_url", json!(parent)),
        ("depth", json!(2)),
        ("state", json!("not_ingested")),
        ("media_type", json!("application/pdf")),
        ("declared_type", json!("text/plain")),
        ("discover_date", json!(date(5))),
        ("update_date", json!(date(5))),
        ("content_sha1", json!(text("sha1"))),
        ("path", json!(file.to_str().unwrap())),
    ] {
        assert_eq!(document[name], value, "{name} of {document}");
    }
}

#[test]
fn lines_tell_what_becomes_of_each_document() {
    let crawl = Crawl::new();
    let mut warc = Warc::default();
    warc.response(URL, &date(1), "application/pdf", &pdf(1));
    warc.response(
        "http://a.example/\u{1b}[2Jb.pdf",
        &date(1),
        "application/pdf",
        &pdf(1),
    );
    warc.response("http://a.example/c.gif", &date(2), "image/gif", b"GIF89a");
    warc.answer(
        "http://a.example/d.pdf",
        &date(3),
        "404 Not Found",
        "text/html",
        b"gone",
    );
    warc.response(URL, &date(4), "application/pdf", &pdf(1));
    crawl.write("a.warc.gz", warc.bytes);

    let output = crawl.try_import(&["a.warc.gz"]);

    let text = stderr(&output);
    for line in [
        "new        http://www.example.edu/tom/pub/paper1.pdf (1, application/pdf)",
        "new URL    http://a.example/%1B%5B2Jb.pdf",
        "filtered   http://a.example/c.gif (image/gif)",
        "skipped    http://a.example/d.pdf (status 404)",
        "duplicate  http://www.example.edu/tom/pub/paper1.pdf (1, application/pdf)",
    ] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "no colour where no terminal is");
    for name in [
        "all",
        "saved_New",
        "saved_Duplicate",
        "failed_PDFFilenotFound",
    ] {
        let is_there = text.lines().any(|line| line.trim_start().starts_with(name));
        assert!(is_there, "{name} is not in the table:\n{text}");
    }

    let quiet = crawl.try_import(&["a.warc.gz", "--quiet"]);
    assert_eq!(stderr(&quiet), "");
}

#[test]
fn the_same_again_changes_nothing() {
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", many(60).bytes);
    let first = crawl.import(0, &["a.warc.gz"]);
    let before = (crawl.left(), crawl.files());

    let second = crawl.import(0, &["a.warc.gz"]);

    assert_eq!(first["saved_New"], 60);
    assert_eq!(second["saved_New"], 0);
    assert_eq!(second["saved_NewVersion"], 0);
    assert_eq!(second["bytes_Saved"], 0);
    assert_eq!(second["all"], first["all"]);
    crawl.left().assert_is(&before.0);
    assert!(crawl.files() == before.1, "no file changed");
}

#[test]
fn a_trial_writes_nothing_and_counts_the_same() {
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", many(60).bytes);

    let trial = crawl.import(0, &["a.warc.gz", "--dry-run"]);

    assert!(!crawl.data().exists());
    let real = crawl.import(0, &["a.warc.gz"]);
    assert_eq!(counted(&trial), counted(&real));
}

#[test]
fn any_number_of_threads_makes_the_same() {
    let crawls = [Crawl::new(), Crawl::new()];
    for (crawl, threads) in crawls.iter().zip(["1", "7"]) {
        crawl.write("a.warc.gz", many(60).bytes);
        crawl.import(0, &["a.warc.gz", "--jobs", threads]);
    }

    let [one, seven] = crawls.map(|crawl| crawl.left());
    one.assert_is(&seven);
}

#[test]
fn without_the_database_documents_go_to_a_folder_once() {
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", many(30).bytes);

    let first = crawl.import(0, &["a.warc.gz", "--no-database", "folder"]);
    let folder = files_in(&crawl.path("folder"));
    let second = crawl.import(0, &["a.warc.gz", "--no-database", "folder"]);

    assert!(!crawl.data().exists());
    let documents = folder.keys().filter(|path| path.ends_with(b".pdf"));
    assert_eq!(
        documents.count() as u64,
        first["saved_Separate"].as_u64().unwrap()
    );
    // Ten different papers of thirty, and six that changed.
    assert_eq!(first["saved_Separate"], 16);
    assert_eq!(
        (&first["saved_New"], &first["saved_Duplicate"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(second["saved_Separate"], 0);
    // What is there already is kept, too.
    for printed in [&first, &second] {
        assert_eq!(printed["kept_nothing"], false, "{printed}");
        assert_eq!(printed["reason"], json!(null), "{printed}");
    }
    assert_eq!(files_in(&crawl.path("folder")), folder);
}

#[test]
fn what_is_wanted_is_chosen_by_type_and_address() {
    let mut warc = Warc::default();
    warc.response("http://a.example/1", &date(1), "application/pdf", &pdf(1));
    warc.response("http://b.a.example/2", &date(2), "application/pdf", &pdf(2));
    warc.response("http://ba.example/3", &date(3), "application/pdf", &pdf(3));
    warc.response(
        "http://c.example/no/4",
        &date(4),
        "application/pdf",
        &pdf(4),
    );
    let long = format!("http://c.example/{}", "x".repeat(200));
    warc.response(&long, &date(5), "application/pdf", &pdf(5));
    warc.response(
        "http://c.example/page",
        &date(6),
        "text/plain",
        b"<!DOCTYPE html><p>page</p>",
    );
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", warc.bytes);
    crawl.write("blacklist", "a.example\nhttp://c.example/no/\n");

    let options = [
        "a.warc.gz",
        "--blacklist",
        "blacklist",
        "--max-url-length",
        "100",
    ];
    let printed = crawl.import(0, &options);
    assert_eq!(
        (&printed["saved_New"], &printed["filtered_URL"]),
        (&json!(1), &json!(4))
    );
    assert_eq!(printed["filtered"], 5);
    let report = std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap();
    assert_eq!(report.lines().count(), 4);
    for line in report.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(
            line["file"].as_str().unwrap().ends_with("a.warc.gz"),
            "{line}"
        );
        assert!(line["offset"].is_u64(), "{line}");
        assert!(
            line["reason"].as_str().unwrap().starts_with("http://"),
            "{line}"
        );
    }

    let printed = crawl.import(0, &["a.warc.gz", "--types", "text/html"]);
    assert_eq!(
        (&printed["saved_New"], &printed["filtered_MTF"]),
        (&json!(1), &json!(5))
    );
    assert!(
        crawl
            .documents()
            .iter()
            .any(|document| { document["path"].as_str().unwrap().ends_with(".html") })
    );
}

#[test]
fn containers_are_opened_as_asked_for() {
    let mut warc = Warc::default();
    let mut gzip = Warc::default();
    gzip.member(&pdf(1));
    warc.response(
        "http://a.example/1.pdf.gz",
        &date(1),
        "application/x-gzip",
        &gzip.bytes,
    );
    let mut nothing = Warc::default();
    nothing.member(b"no document");
    warc.response(
        "http://a.example/2.gz",
        &date(2),
        "application/x-gzip",
        &nothing.bytes,
    );
    let mut tar = Warc::default();
    tar.member(&tar_of(&[
        ("a/3.pdf", &pdf(3)),
        ("a/readme", b"read me"),
        ("a/4.pdf", &pdf(4)),
    ]));
    warc.response(
        "http://a.example/3.tar.gz",
        &date(3),
        "application/x-gzip",
        &tar.bytes,
    );
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", warc.bytes);

    let usual = crawl.import(0, &["a.warc.gz", "--dry-run"]);
    assert_eq!(usual["saved_New"], 1);
    assert_eq!(usual["failed_PDFFilenotFound"], 2);
    assert_eq!(usual["containers"], 3);
    let none = crawl.import(0, &["a.warc.gz", "--dry-run", "--open", "none"]);
    assert_eq!(
        (&none["saved_New"], &none["filtered_MTF"]),
        (&json!(0), &json!(3))
    );
    assert_eq!(none["containers"], 0);
    let printed = crawl.import(0, &["a.warc.gz", "--open", "gzip,tar"]);
    assert_eq!(
        (&printed["saved_New"], &printed["containers"]),
        (&json!(3), &json!(3))
    );

    let mut found: Vec<_> = crawl
        .documents()
        .iter()
        .map(|document| (document["url"].clone(), document["member"].clone()))
        .collect();
    found.sort_by_key(|found| format!("{found:?}"));
    let tar = json!("http://a.example/3.tar.gz");
    assert_eq!(
        found,
        [
            (json!("http://a.example/1.pdf.gz"), Value::Null),
            (tar.clone(), json!("a/3.pdf")),
            (tar, json!("a/4.pdf")),
        ]
    );
}

#[test]
fn a_document_that_changed_is_replaced_or_kept() {
    for (option, files) in [("replace", 1), ("keep", 2)] {
        let crawl = Crawl::new();
        let mut warc = Warc::default();
        warc.response(URL, &date(1), "application/pdf", &pdf(1));
        crawl.write("1.warc.gz", warc.bytes);
        let mut warc = Warc::default();
        warc.response(URL, &date(2), "application/pdf", &pdf(2));
        crawl.write("2.warc.gz", warc.bytes);
        crawl.import(0, &["1.warc.gz", "--versions", option]);

        let printed = crawl.import(0, &["2.warc.gz", "--versions", option]);

        assert_eq!(printed["saved_NewVersion"], 1);
        let [document] = &crawl.documents()[..] else {
            panic!("one document");
        };
        let file = document["path"].as_str().unwrap();
        assert_eq!(std::fs::read(file).unwrap(), pdf(2));
        let kept = crawl.files();
        assert_eq!(
            kept.keys().filter(|path| path.ends_with(b".pdf")).count(),
            files
        );
    }
}

#[test]
fn an_older_crawl_that_comes_later_does_not_undo_a_newer_one() {
    let crawl = Crawl::new();
    for (name, day) in [("new", 9), ("old", 1)] {
        let mut warc = Warc::default();
        warc.response(URL, &date(day), "application/pdf", &pdf(day));
        crawl.write(&format!("{name}.warc.gz"), warc.bytes);
        crawl.import(0, &[&format!("{name}.warc.gz")]);
    }

    let [document] = &crawl.documents()[..] else {
        panic!("one document");
    };
    let file = document["path"].as_str().unwrap();
    assert_eq!(std::fs::read(file).unwrap(), pdf(9));
    assert_eq!(document["discover_date"], date(1));
    assert_eq!(document["update_date"], date(9));
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_read() {
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", many(1).bytes);
    for (arguments, said) in [
        (
            &["a.warc.gz", "--accept", "2"][..],
            "thresholds are from 0 to 1",
        ),
        (
            &["a.warc.gz", "--types", "pdf"],
            "`pdf` is not a media type",
        ),
        (&["a.warc.gz", "--open", "rar"], "`rar`"),
        (&["a.warc.gz", "--jobs", "0"], "--jobs"),
        (&["http://a.example/a.warc.gz"], "is a URL"),
        (&[], "nothing to import"),
        (&["a.warc.gz", "--log-format", "list"], "--log"),
    ] {
        let output = crawl.try_import(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            stderr(&output).contains(said),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
    for (arguments, said) in [
        (&["b.warc.gz"][..], "`b.warc.gz`"),
        (
            &["a.warc.gz", "--blacklist", "none"],
            "`none` cannot be read",
        ),
        (&["a.warc.gz", "--log", "no.log"], "no.log"),
    ] {
        let said_now = fails(&crawl.try_import(arguments));
        assert!(said_now.contains(said), "{arguments:?}: {said_now}");
    }
    assert!(!crawl.data().join("documents").exists());
}

#[test]
fn a_configuration_file_says_what_flags_say() {
    let crawl = Crawl::new();
    crawl.write("in/a.warc.gz", many(9).bytes);
    crawl.write("in/blacklist", "host-1.example\n");
    crawl.write(
        "in/garner.toml",
        "[import]\npaths = ['a.warc.gz']\ntypes = ['application/pdf']\nblacklist = 'blacklist'\ncrawler = 'mine'\n\
         versions = 'keep'\nopen = ['gzip', 'zip']\nmax_url_length = 500\njobs = 1\n",
    );

    let printed = crawl.import(0, &["--config", "in/garner.toml"]);

    assert!(printed["filtered_URL"].as_u64().unwrap() > 0);
    let files = crawl.files();
    let met = files
        .iter()
        .find(|(path, _)| path.ends_with(b".met"))
        .unwrap()
        .1;
    assert!(String::from_utf8_lossy(met).contains("<crawler>mine</crawler>"));

    crawl.write("bad.toml", "[import]\nversions = 'all'\n");
    let output = crawl.try_import(&["in/a.warc.gz", "--config", "bad.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("import.versions"),
        "{}",
        stderr(&output)
    );
    assert!(stdout(&output).contains(r#""code":"usage""#));
}

/// A tar archive of files.
fn tar_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = Vec::new();
    for (name, bytes) in files {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[124..136].copy_from_slice(format!("{:011o}\0", bytes.len()).as_bytes());
        header[148..156].fill(b' ');
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        tar.extend(header);
        tar.extend(*bytes);
        tar.resize(tar.len().next_multiple_of(512), 0);
    }
    tar.resize(tar.len() + 1024, 0);
    tar
}
