//! Crawls that are damaged or hostile.

use serde_json::{Value, json};

use super::crawl::{Crawl, Warc, date, many, pdf};
use crate::command_line::stderr;

#[test]
fn a_broken_member_costs_itself_and_is_named_with_its_place() {
    let mut warc = many(20);
    let offset = warc.offsets[30];
    let end = warc.offsets[31];
    for byte in &mut warc.bytes[offset + 12..end] {
        *byte ^= 0x5a;
    }
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", &warc.bytes);

    let printed = crawl.import(3, &["a.warc.gz"]);

    assert_eq!(printed["state"], "incomplete");
    let lost =
        printed["skipped_Records"].as_u64().unwrap() + printed["failed_Read"].as_u64().unwrap();
    assert!(lost >= 1, "{printed}");
    assert!(crawl.documents().len() >= 19);
    let report = std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap();
    let line: Value = serde_json::from_str(report.lines().next().unwrap()).unwrap();
    assert_eq!(line["offset"], json!(offset));
    assert!(line["file"].as_str().unwrap().ends_with("a.warc.gz"));
}

#[test]
fn what_is_no_crawl_is_named_and_costs_nothing_of_the_rest() {
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", many(3).bytes);
    crawl.write("readme.txt", "not a crawl");

    let printed = crawl.import(3, &["readme.txt", "a.warc.gz"]);

    assert_eq!(
        (&printed["saved_New"], &printed["skipped_Records"]),
        (&json!(3), &json!(1))
    );
    let report = std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap();
    assert!(report.contains("readme.txt"), "{report}");

    let output = crawl.try_import(&["readme.txt"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("readme.txt"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn hostile_addresses_and_names_do_no_harm() {
    let mut warc = Warc::default();
    let hostile = [
        "http://a.example/../../../etc/passwd",
        "http://a.example/a.pdf?</url><script>&\"'",
        "http://a.example/%00%1b%0a.pdf",
        "javascript:alert(1)",
        "not a url",
        "",
        "http://[::1/",
        "http://a.example/\u{202e}fdp.exe",
    ];
    for (number, url) in hostile.iter().enumerate() {
        warc.response(url, &date(number), "application/pdf", &pdf(number));
    }
    warc.response(
        "http://a.example/parent",
        &date(9),
        "application/pdf",
        &pdf(9),
    );
    warc.metadata(
        "http://a.example/parent",
        &date(9),
        "http://<evil>&</parentUrl>",
        "L",
    );
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", warc.bytes);

    let output = crawl.try_import(&["a.warc.gz"]);

    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{}",
        stderr(&output)
    );
    assert!(printed["saved_New"].as_u64().unwrap() >= 4, "{printed}");
    for (path, bytes) in crawl.files() {
        if path.ends_with(b".met") {
            let text = String::from_utf8(bytes).unwrap();
            let met = roxmltree::Document::parse(&text).unwrap();
            let names = met
                .root_element()
                .children()
                .filter(|node| node.is_element());
            let urls = names.filter(|node| node.has_tag_name("url")).count();
            assert_eq!(urls, 1, "{text}");
        }
    }
    assert!(!stderr(&output).contains('\u{1b}'));
}

#[test]
fn a_bomb_is_refused_and_named() {
    let mut bomb = Warc::default();
    bomb.member(&vec![0; 64 << 20]);
    let mut warc = Warc::default();
    warc.response(
        "http://a.example/bomb.gz",
        &date(1),
        "application/x-gzip",
        &bomb.bytes,
    );
    warc.response(
        "http://a.example/1.pdf",
        &date(2),
        "application/pdf",
        &pdf(1),
    );
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", warc.bytes);

    let output = crawl.try_import(&["a.warc.gz"]);

    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["saved_New"], 1, "{}", stderr(&output));
    let failed = printed["failed_Read"].as_u64().unwrap()
        + printed["failed_PDFFilenotFound"].as_u64().unwrap();
    assert_eq!(failed, 1, "{printed}");
}

#[test]
fn undated_and_misdated_captures_are_taken() {
    let mut warc = Warc::default();
    for (number, date) in [
        "1900-01-01T00:00:00Z",
        "2106-12-31T23:59:59Z",
        "2009-03-65T00:00:00Z",
        "",
    ]
    .iter()
    .enumerate()
    {
        let url = format!("http://a.example/{number}.pdf");
        warc.response(&url, date, "application/pdf", &pdf(number));
    }
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", warc.bytes);

    let printed = crawl.import(0, &["a.warc.gz"]);

    assert_eq!(printed["saved_New"], 4);
    let mut dates: Vec<_> = crawl
        .documents()
        .iter()
        .map(|document| document["discover_date"].as_str().unwrap().to_owned())
        .collect();
    dates.sort();
    assert_eq!(dates[0], "1900-01-01T00:00:00Z");
    assert_eq!(dates[3], "2106-12-31T23:59:59Z");
}

#[test]
fn an_empty_archive_and_an_empty_directory_are_no_riddle() {
    let crawl = Crawl::new();
    std::fs::create_dir(crawl.path("empty")).unwrap();
    crawl.write("a.warc.gz", "");

    // A crawler that was just started has written nothing yet.
    assert_eq!(crawl.import(0, &["a.warc.gz"])["all"], 0);
    let output = crawl.try_import(&["empty"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("no archives in `empty`"),
        "{}",
        stderr(&output)
    );
}
