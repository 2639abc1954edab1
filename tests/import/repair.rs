//! Repairs that are worth the name: catalogs that are lost or old, kills, files that cannot be read. Whatever was in the
//! collection before is there afterwards.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};

use super::crawl::{Crawl, Warc, date, many, pdf};
use super::verify::{foreign, imported, verify};
use crate::command_line::{prints, stderr};

type Files = BTreeMap<Vec<u8>, Vec<u8>>;

const CATALOG: [&str; 3] = ["catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm"];

fn lose_catalog(crawl: &Crawl) {
    for name in CATALOG {
        let _ = std::fs::remove_file(crawl.data().join(name));
    }
}

/// The catalog as it is now, to be put back later.
fn kept_catalog(crawl: &Crawl) -> Vec<u8> {
    let catalog = Connection::open(crawl.data().join("catalog.sqlite")).unwrap();
    catalog
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    drop(catalog);
    std::fs::read(crawl.data().join("catalog.sqlite")).unwrap()
}

fn roll_back(crawl: &Crawl, catalog: &[u8]) {
    lose_catalog(crawl);
    crawl.write("data/catalog.sqlite", catalog);
}

/// All documents are there with their bytes, wherever.
fn nothing_is_lost(before: &Files, crawl: &Crawl) {
    let after = crawl.files();
    for (path, bytes) in before {
        if !path.ends_with(b".met") {
            let is_there = after.values().any(|there| there == bytes);
            assert!(is_there, "{}", String::from_utf8_lossy(path));
        }
    }
}

/// Contents, URLs and digests of documents that their `.met` files tell of: of the URLs that have the same bytes, one.
fn own(crawl: &Crawl) -> Vec<[Value; 3]> {
    let documents = crawl.documents().into_iter();
    let own = documents.filter(|document| {
        let (file, url) = (
            document["path"].as_str().unwrap(),
            document["url"].as_str().unwrap(),
        );
        let met = std::fs::read_to_string(format!("{file}.met")).unwrap();
        met.contains(&format!("<url>{url}</url>"))
    });
    own.map(|document| ["content", "url", "content_sha1"].map(|name| document[name].clone()))
        .collect()
}

#[test]
fn a_lost_catalog_is_made_again_from_the_files() {
    let crawl = imported();
    let (files, documents) = (crawl.files(), own(&crawl));
    lose_catalog(&crawl);

    let refused = crawl.try_import(&["a.warc.gz"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains("garner verify --repair"),
        "{}",
        stderr(&refused)
    );
    assert_eq!(crawl.files(), files);
    lose_catalog(&crawl);
    let found = verify(&crawl, 0, &["--repair"]);

    assert_eq!(found["orphans"], json!(files.len()));
    assert_eq!(crawl.files(), files);
    verify(&crawl, 0, &[]);
    let after = own(&crawl);
    assert!(documents.len() > 3, "{documents:?}");
    assert!(
        documents.iter().all(|document| after.contains(document)),
        "{after:?}"
    );
    // All is known again.
    let printed = crawl.import(0, &["a.warc.gz"]);
    assert_eq!(printed["saved_NewVersion"], 0, "{printed}");
    assert_eq!(crawl.files(), files);
}

/// Issue 18, A7: of nine documents eight came back, without a second URL, states and a rejection.
#[test]
fn a_lost_catalog_comes_back_with_all_that_was_known() {
    let crawl = imported();
    let documents = crawl.documents();
    let ids: Vec<_> = documents
        .iter()
        .map(|document| document["id"].to_string())
        .collect();
    let ok = |arguments: &[&str]| {
        let output = crawl.garner(arguments).output();
        assert!(output.status.success(), "{}", stderr(&output));
    };
    ok(&["documents", "state", "ingested", &ids[0], &ids[4]]);
    ok(&["documents", "state", "failed", &ids[5]]);
    ok(&[
        "documents",
        "correct",
        &ids[2],
        "--reject",
        "--kind",
        "slides",
    ]);
    // A second crawl sees some again, under other pages and at another time.
    let mut warc = Warc::default();
    for number in [0, 3, 5] {
        let url = documents[number]["url"].as_str().unwrap();
        let file = std::fs::read(documents[number]["path"].as_str().unwrap()).unwrap();
        warc.response(url, &date(70_000 + number), "application/pdf", &file);
        let page = format!(
            "{}index.html",
            url.rsplit_once('/').unwrap().0.to_owned() + "/"
        );
        warc.metadata(url, &date(70_000 + number), &page, "LL");
    }
    warc.response(
        "http://z.example/again.pdf",
        &date(9),
        "application/pdf",
        &pdf(0),
    );
    crawl.write("b.warc.gz", warc.bytes);
    crawl.import(0, &["b.warc.gz"]);
    let known = |crawl: &Crawl| {
        let mut documents = crawl.documents();
        for document in &mut documents {
            // The import that brought it is not known any more, and pages get other numbers.
            let fields = document.as_object_mut().unwrap();
            fields.remove("import");
            fields.remove("parent");
        }
        documents
    };
    let (before, files) = (known(&crawl), crawl.files());
    assert!(
        before
            .iter()
            .any(|document| document["judgement"]["corrected"].is_object())
    );
    lose_catalog(&crawl);

    verify(&crawl, 0, &["--repair"]);

    let after = known(&crawl);
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after);
    }
    assert_eq!(before.len(), after.len());
    let now = crawl.files();
    assert_eq!(now.len(), files.len());
    for (path, bytes) in &files {
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(shown(&now[path]), shown(bytes));
    }
    verify(&crawl, 0, &[]);
}

/// Issue 18, A7.
#[test]
fn urls_without_bytes_are_no_rows_of_documents() {
    let crawl = Crawl::new();
    let mut warc = Warc::default();
    warc.response(
        "http://a.example/a.pdf",
        &date(1),
        "application/pdf",
        &pdf(1),
    );
    let digest = document::digest::Digests::of(&pdf(2)).sha1_hex();
    let headers = format!(
        "Content-Type: application/http; msgtype=response\r\nWARC-Payload-Digest: sha1:{digest}\r\nWARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n"
    );
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n";
    warc.record(
        "revisit",
        "http://a.example/heard.pdf",
        &date(2),
        &headers,
        head,
    );
    crawl.write("a.warc.gz", warc.bytes);
    crawl.import(0, &["a.warc.gz"]);
    let count = |sql: &str| -> i64 {
        let catalog = Connection::open(crawl.data().join("catalog.sqlite")).unwrap();
        catalog.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(count("SELECT count(*) FROM document"), 1);
    assert_eq!(count("SELECT count(*) FROM heard"), 1);

    // A revisit whose bytes are unknown counts when they come, under any URL.
    let mut warc = Warc::default();
    warc.response(
        "http://b.example/b.pdf",
        &date(3),
        "application/pdf",
        &pdf(2),
    );
    crawl.write("b.warc.gz", warc.bytes);
    crawl.import(0, &["b.warc.gz"]);

    let documents = crawl.documents();
    let urls: Vec<_> = documents
        .iter()
        .map(|document| document["url"].as_str().unwrap())
        .collect();
    assert_eq!(urls.len(), 3, "{urls:?}");
    assert!(urls.contains(&"http://a.example/heard.pdf"), "{urls:?}");
    assert_eq!(
        count("SELECT count(*) FROM document WHERE content_id IS NULL"),
        0
    );
    assert_eq!(count("SELECT count(*) FROM heard"), 0);
}

#[test]
fn an_older_catalog_takes_in_what_came_later() {
    let crawl = imported();
    let older = kept_catalog(&crawl);
    let mut warc = Warc::default();
    for number in 0..20 {
        let url = format!("http://later.example/{number}.pdf");
        warc.response(&url, &date(number), "application/pdf", &pdf(1000 + number));
    }
    // Another content of a document.
    let changed = "http://host-1.example/papers/1.pdf";
    warc.response(changed, &date(80_000), "application/pdf", &pdf(2000));
    crawl.write("b.warc.gz", warc.bytes);
    crawl.import(0, &["b.warc.gz"]);
    let (files, documents) = (crawl.files(), crawl.documents());
    roll_back(&crawl, &older);

    let refused = crawl.try_import(&["b.warc.gz"]);
    assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
    assert_eq!(crawl.files(), files);
    verify(&crawl, 0, &["--repair"]);

    // The replaced version is listed as an older one now.
    let contents = |files: Files| -> Files {
        let contents = files
            .into_iter()
            .filter(|(path, _)| !path.ends_with(b".met"));
        contents.collect()
    };
    let files = contents(files);
    assert_eq!(contents(crawl.files()), files);
    verify(&crawl, 0, &[]);
    let name = |document: &Value| (document["url"].clone(), document["content_sha1"].clone());
    let before: Vec<_> = documents.iter().map(name).collect();
    let after: Vec<_> = crawl.documents().iter().map(name).collect();
    assert!(before.iter().all(|document| after.contains(document)));
    let printed = crawl.import(0, &["b.warc.gz"]);
    assert_eq!(printed["saved_New"], 0, "{printed}");
    assert_eq!(contents(crawl.files()), files);
}

#[test]
fn an_import_never_writes_over_a_document_that_the_catalog_does_not_know() {
    let crawl = imported();
    let documents = crawl.documents();
    let numbers = documents
        .iter()
        .map(|document| document["id"].as_u64().unwrap());
    let number = 1 + u32::try_from(numbers.max().unwrap()).unwrap();
    foreign(&crawl, "http://b.example/new.pdf", 500, number, "pdf");
    let files = crawl.files();
    let mut warc = Warc::default();
    warc.response(
        "http://c.example/c.pdf",
        &date(1),
        "application/pdf",
        &pdf(600),
    );
    crawl.write("c.warc.gz", warc.bytes);

    let refused = crawl.try_import(&["c.warc.gz"]);

    assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
    assert_eq!(crawl.files(), files);
    verify(&crawl, 0, &["--repair"]);
    crawl.import(0, &["c.warc.gz"]);
    verify(&crawl, 0, &[]);
    nothing_is_lost(&files, &crawl);
}

#[test]
fn a_document_whose_number_is_taken_gets_another_and_its_text_follows() {
    let crawl = imported();
    let url = "http://b.example/new.pdf";
    // Sorted behind its text, under the number of another document.
    foreign(&crawl, url, 500, 1, "xps");
    foreign(&crawl, "http://b.example/free.pdf", 501, 950, "xps");
    crawl.write("data/documents/000/000/950/000.000.950.txt", "its words");
    let files = crawl.files();

    verify(&crawl, 0, &["--repair"]);

    verify(&crawl, 0, &[]);
    nothing_is_lost(&files, &crawl);
    let shown = prints(crawl.garner(&["documents", "show", url, "--json"]).output());
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["id"], 951);
    assert_eq!(
        std::fs::read(shown["path"].as_str().unwrap()).unwrap(),
        pdf(500)
    );
    let text = crawl.path("data/documents/000/000/950/000.000.950.txt");
    assert_eq!(std::fs::read_to_string(text).unwrap(), "its words");
    assert!(
        !crawl
            .path("data/documents/000/000/001/000.000.001.xps.met")
            .exists()
    );
}

#[test]
fn the_same_bytes_twice_become_one() {
    let crawl = imported();
    let files = crawl.files();
    let first = crawl.path("data/documents/000/000/001/000.000.001.pdf");
    for end in ["pdf", "pdf.met"] {
        let bytes = std::fs::read(first.with_extension(end)).unwrap();
        crawl.write(
            &format!("data/documents/000/000/777/000.000.777.{end}"),
            bytes,
        );
    }

    let found = verify(&crawl, 0, &["--repair"]);

    assert_eq!(found["repaired"], 2, "{found}");
    assert_eq!(crawl.files(), files);
}

#[test]
fn an_orphan_brings_lost_bytes_back() {
    let crawl = imported();
    let before = crawl.left();
    let first = crawl.path("data/documents/000/000/001/000.000.001.pdf");
    let (pdf, met) = (
        std::fs::read(&first).unwrap(),
        std::fs::read(first.with_extension("pdf.met")).unwrap(),
    );
    crawl.write("data/documents/000/000/777/000.000.777.pdf", &pdf);
    crawl.write("data/documents/000/000/777/000.000.777.pdf.met", &met);
    std::fs::remove_file(&first).unwrap();

    verify(&crawl, 3, &["--repair"]);

    verify(&crawl, 0, &[]);
    assert_eq!(crawl.left(), before);
}

#[test]
fn kept_versions_stay_versions() {
    let crawl = Crawl::new();
    let url = "http://a.example/a.pdf";
    let mut warc = Warc::default();
    for number in 0..3 {
        warc.response(url, &date(number), "application/pdf", &pdf(number));
    }
    crawl.write("a.warc.gz", warc.bytes);
    crawl.import(0, &["a.warc.gz", "--versions", "keep"]);
    let files = crawl.files();
    let shown = || prints(crawl.garner(&["documents", "show", url]).output());
    let before = |text: String| {
        text.lines()
            .filter(|line| line.starts_with("before"))
            .count()
    };
    assert_eq!(before(shown()), 2);

    lose_catalog(&crawl);
    verify(&crawl, 0, &["--repair"]);

    assert_eq!(crawl.files(), files);
    assert_eq!(before(shown()), 2);
    // A version has its .met file written anew, too.
    for number in 1..=3 {
        let met = format!("data/documents/000/000/{number:03}/000.000.{number:03}.pdf.met");
        std::fs::remove_file(crawl.path(&met)).unwrap();
    }
    assert_eq!(verify(&crawl, 3, &[])["without_metadata"], 3);
    assert_eq!(verify(&crawl, 0, &["--repair"])["repaired"], 3);
    lose_catalog(&crawl);
    verify(&crawl, 0, &["--repair"]);
    assert_eq!(before(shown()), 2);
}

#[test]
fn what_cannot_be_read_is_told_and_not_touched() {
    let crawl = imported();
    foreign(&crawl, "http://b.example/new.pdf", 500, 901, "pdf");
    let mut links = Vec::new();
    // One belongs to a document, the other to an orphan. A link is not followed, whoever asks.
    for number in ["001", "901"] {
        let met = format!("data/documents/000/000/{number}/000.000.{number}.pdf.met");
        let kept = crawl.path(&format!("{number}.met"));
        std::fs::rename(crawl.path(&met), &kept).unwrap();
        symlink(&kept, crawl.path(&met)).unwrap();
        links.push((crawl.path(&met), kept));
    }

    let found = verify(&crawl, 3, &["--repair"]);

    assert_eq!(found["unreadable"], 1, "{found}");
    assert_eq!(
        (&found["orphans"], &found["repaired"]),
        (&json!(2), &json!(0))
    );
    for (link, kept) in links {
        assert!(link.is_symlink() && kept.exists());
        std::fs::remove_file(&link).unwrap();
        std::fs::rename(kept, link).unwrap();
    }
    assert_eq!(verify(&crawl, 0, &["--repair"])["repaired"], 2);
    verify(&crawl, 0, &[]);
}

#[test]
fn a_met_file_that_tells_of_something_else_is_kept() {
    let crawl = imported();
    let met = "data/documents/000/000/003/000.000.003.pdf.met";
    let before = std::fs::read_to_string(crawl.path(met)).unwrap();
    crawl.write(met, "<CrawlData><note>mine</note></CrawlData>");

    verify(&crawl, 0, &["--repair"]);

    assert_eq!(std::fs::read_to_string(crawl.path(met)).unwrap(), before);
    let aside = crawl.path("data/documents/set-aside/000/000/003/000.000.003.pdf.met");
    assert!(std::fs::read_to_string(aside).unwrap().contains("mine"));
}

fn start(crawl: &Crawl, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_garner"));
    command
        .args(arguments)
        .arg("--data")
        .arg(crawl.data())
        .current_dir(crawl.path(""))
        .env_remove("RUST_LOG")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn a_repair_that_is_killed_loses_nothing_and_keeps_nobody_away() {
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", many(600).bytes);
    crawl.import(0, &["a.warc.gz"]);
    let mut warc = Warc::default();
    warc.response(
        "http://c.example/c.pdf",
        &date(1),
        "application/pdf",
        &pdf(9000),
    );
    crawl.write("c.warc.gz", warc.bytes);
    let (files, documents) = (crawl.files(), own(&crawl));
    lose_catalog(&crawl);

    for round in 1..=6 {
        let mut child = start(&crawl, &["verify", "--repair"]);
        std::thread::sleep(Duration::from_millis(40 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(crawl.files(), files);
    }
    // The one that was killed is not heard of any more.
    verify(&crawl, 0, &["--repair"]);

    assert_eq!(crawl.files(), files);
    let after = own(&crawl);
    assert!(documents.iter().all(|document| after.contains(document)));
    crawl.import(0, &["c.warc.gz"]);
    verify(&crawl, 0, &[]);
}

#[test]
fn a_look_beside_an_import_finds_nothing_wrong_and_a_repair_is_refused() {
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", many(3000).bytes);
    let mut import = start(&crawl, &["import", "a.warc.gz"]);
    let began = Instant::now();
    let mut refused = 0;
    while import.try_wait().unwrap().is_none() && began.elapsed() < Duration::from_secs(60) {
        if !crawl.data().join("catalog.sqlite").exists() {
            continue;
        }
        let output = crawl.garner(&["verify", "--json"]).output();
        let said = stderr(&output);
        assert!(
            output.status.success() || said.contains("catalog"),
            "{said}"
        );
        let output = crawl.garner(&["verify", "--repair"]).output();
        refused += u32::from(stderr(&output).contains("the collection is being filled"));
    }

    // A repair that came before the import had begun may have kept it away.
    if import.wait().unwrap().success() {
        assert!(refused > 0);
    }
    crawl.import(0, &["a.warc.gz"]);
    verify(&crawl, 0, &[]);
}

#[test]
fn a_killed_import_of_a_directory_that_grew_leaves_nothing_behind() {
    let crawl = Crawl::new();
    crawl.write("in/1.warc.gz", many(2000).bytes);
    let mut import = start(&crawl, &["import", "in"]);
    std::thread::sleep(Duration::from_millis(150));
    import.kill().unwrap();
    import.wait().unwrap();
    crawl.write("in/2.warc.gz", many(50).bytes);

    crawl.import(0, &["in"]);

    verify(&crawl, 0, &[]);
    let other = Crawl::new();
    other.write("in/1.warc.gz", many(2000).bytes);
    other.write("in/2.warc.gz", many(50).bytes);
    other.import(0, &["in"]);
    assert_eq!(crawl.documents().len(), other.documents().len());
}

#[test]
fn the_collection_stays_where_the_first_import_put_it() {
    let crawl = Crawl::new();
    crawl.write("in/garner.toml", "[import]\ncollection = \"elsewhere\"\n");
    crawl.write("other.toml", "[import]\ncollection = \"other\"\n");
    crawl.write(
        "bucket.toml",
        "[import]\ncollection = \"s3://bucket/prefix\"\n",
    );
    crawl.write("a.warc.gz", many(6).bytes);
    crawl.write("b.warc.gz", many(20).bytes);
    crawl.import(0, &["a.warc.gz", "--config", "in/garner.toml"]);

    // Without an option, the place stays the same.
    crawl.import(0, &["b.warc.gz"]);
    verify(&crawl, 0, &[]);
    let listed = prints(crawl.garner(&["documents", "list", "--files"]).output());
    let place = crawl.path("in/elsewhere");
    assert!(listed.lines().all(|file| {
        let file = Path::new(file);
        file.starts_with(&place) && file.exists()
    }));
    for (config, said) in [
        ("other.toml", "not in"),
        ("bucket.toml", "s3://bucket/prefix"),
    ] {
        let refused = crawl.try_import(&["a.warc.gz", "--config", config]);
        assert!(!refused.status.success());
        assert!(stderr(&refused).contains(said), "{}", stderr(&refused));
    }
    for name in ["data/documents", "other", "s3:"] {
        assert!(!crawl.path(name).exists(), "{name}");
    }
    // A disk that is not mounted.
    std::fs::rename(&place, crawl.path("away")).unwrap();
    for command in [&["verify", "--repair"][..], &["import", "a.warc.gz"]] {
        let refused = crawl.garner(command).output();
        assert!(
            stderr(&refused).contains("is a disk not mounted?"),
            "{}",
            stderr(&refused)
        );
    }
    std::fs::create_dir_all(&place).unwrap();
    let refused = crawl.garner(&["verify", "--repair"]).output();
    assert!(
        stderr(&refused).contains("is a disk not mounted?"),
        "{}",
        stderr(&refused)
    );
    std::fs::remove_dir_all(&place).unwrap();
    std::fs::rename(crawl.path("away"), &place).unwrap();
    verify(&crawl, 0, &[]);
}

#[test]
fn the_check_after_an_import_reads_what_was_stored() {
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", many(30).bytes);

    let printed = crawl.import(0, &["a.warc.gz"]);

    let verification = &printed["verification"];
    assert_eq!(verification["digested"], true, "{printed}");
    let contents = crawl
        .files()
        .keys()
        .filter(|path| path.ends_with(b".pdf"))
        .count();
    assert_eq!(verification["contents"], json!(contents));
    assert_eq!(verification["orphans"], 0);
}

/// The number, the URL, the bytes and the state of each document.
fn numbered(crawl: &Crawl) -> Vec<Vec<Value>> {
    let named = |document: &Value| {
        let names = ["id", "url", "content", "content_sha1", "state"];
        names.map(|name| document[name].clone()).to_vec()
    };
    crawl.documents().iter().map(named).collect()
}

/// A capture: its URL, the number of its paper, and its second.
type Written = (&'static str, usize, usize);

fn write_archives(crawl: &Crawl, archives: &[&[Written]]) {
    for (at, captures) in archives.iter().enumerate() {
        let mut warc = Warc::default();
        for (url, paper, second) in *captures {
            let url = format!("http://x.example/{url}.pdf");
            warc.response(&url, &date(*second), "application/pdf", &pdf(*paper));
        }
        crawl.write(&format!("crawl/{at}.warc.gz"), warc.bytes);
    }
}

#[test]
fn documents_that_changed_their_bytes_get_their_numbers_back_from_a_lost_catalog() {
    let crawls: [&[&[Written]]; 4] = [
        &[&[("u", 1, 1)], &[("v", 2, 2), ("u", 2, 3), ("w", 1, 2)]],
        &[&[("u", 1, 1)], &[("u", 2, 3)], &[("w", 1, 2)]],
        &[&[("u", 1, 1), ("w", 1, 2)], &[("u", 2, 3)]],
        &[&[("u", 1, 1), ("w", 1, 2), ("u", 2, 3)]],
    ];
    for archives in crawls {
        let crawl = Crawl::new();
        write_archives(&crawl, archives);
        for at in 0..archives.len() {
            crawl.import(0, &[&format!("crawl/{at}.warc.gz")]);
        }
        let state = crawl.garner(&["documents", "state", "ingested", "1"]);
        assert!(state.output().status.success());
        let (before, files) = (numbered(&crawl), crawl.files());
        lose_catalog(&crawl);

        verify(&crawl, 0, &["--repair"]);

        assert_eq!(numbered(&crawl), before, "{archives:?}");
        verify(&crawl, 0, &[]);
        crawl.import(0, &["crawl"]);
        assert_eq!(numbered(&crawl), before, "{archives:?}");
        let paths = |files: &Files| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(paths(&crawl.files()), paths(&files));
    }
}

#[test]
fn a_repair_of_a_lost_catalog_that_stops_keeps_imports_refused() {
    let crawl = imported();
    let files = crawl.files();
    lose_catalog(&crawl);
    let refused = crawl.try_import(&["a.warc.gz"]);
    assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
    let catalog = Connection::open(crawl.data().join("catalog.sqlite")).unwrap();
    let sql = "CREATE TRIGGER no_third BEFORE INSERT ON content WHEN new.id > 2
        BEGIN SELECT RAISE(ABORT, 'the third content is not taken'); END;";
    catalog.execute_batch(sql).unwrap();
    let stopped = crawl.garner(&["verify", "--repair"]).output();
    assert_eq!(stopped.status.code(), Some(1), "{}", stderr(&stopped));
    catalog.execute_batch("DROP TRIGGER no_third").unwrap();
    drop(catalog);

    let refused = crawl.try_import(&["a.warc.gz"]);

    assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
    let said = stderr(&refused);
    assert!(said.contains("garner verify --repair"), "{said}");
    verify(&crawl, 0, &["--repair"]);
    crawl.import(0, &["a.warc.gz"]);
    assert_eq!(crawl.files(), files);
    verify(&crawl, 0, &[]);
}
