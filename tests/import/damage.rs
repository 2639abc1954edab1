//! Crawls that are damaged or hostile.

use std::os::unix::fs::symlink;
use std::process::Command;

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

/// Issue 18: a damaged beginning, beside a good archive and named by itself.
#[test]
fn an_archive_with_a_damaged_beginning_is_read_from_its_next_record_on() {
    let good = many(20);
    let flipped = [&[good.bytes[0] ^ 1], &good.bytes[1..]].concat();
    let zeroed = [&vec![0; 4096][..], &good.bytes[4096..]].concat();
    let cut = good.bytes[100..].to_vec();
    let lost = vec![7; 300];
    let mut beside = Warc::default();
    beside.response("http://b.example/", &date(1), "application/pdf", &pdf(99));
    for (damaged, least) in [(flipped, 20), (zeroed, 15), (cut, 19), (lost, 0)] {
        for arguments in [&["crawl"][..], &["crawl/a.warc.gz"]] {
            let crawl = Crawl::new();
            crawl.write("crawl/a.warc.gz", &damaged);
            crawl.write("crawl/b.warc.gz", &beside.bytes);

            let printed = crawl.import(3, arguments);

            let others = u64::from(arguments == ["crawl"]);
            let saved = printed["saved_New"].as_u64().unwrap();
            assert!(saved >= least + others, "{saved} of {least}");
            assert_eq!(printed["state"], "incomplete");
            let report = std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap();
            assert!(report.contains("a.warc.gz"), "{report}");
            let history = crawl.garner(&["history", "--imports", "--json"]).output();
            let history = String::from_utf8_lossy(&history.stdout).into_owned();
            assert!(history.contains("incomplete"), "{history}");
        }
    }
}

#[test]
fn what_is_packed_or_lies_beside_archives_is_named() {
    let crawl = Crawl::new();
    crawl.write("crawl/a.warc.gz", many(3).bytes);
    crawl.write("crawl/a.warc.gz.md5", "0123 a.warc.gz");
    crawl.write("crawl/logs.tar.xz", "something");

    let printed = crawl.import(0, &["crawl"]);

    let report = std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap();
    assert!(
        report.contains("a.warc.gz.md5") && report.contains("logs.tar.xz"),
        "{report}"
    );
    crawl.write("crawl/b.warc.bz2", "BZh9");
    let printed = crawl.import(3, &["crawl"]);
    assert_eq!(printed["skipped_Records"], 1);
    let report = std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap();
    assert!(report.contains("bzip2"), "{report}");
}

/// Issue 18: what is odd about a document that is taken all the same is told.
#[test]
fn odd_records_are_taken_and_named() {
    let record = |kind: &str, url: &str, length: Option<usize>, block: &[u8]| {
        let length = length.unwrap_or(block.len());
        let head = format!(
            "warc/1.0\r\nWARC-Type:\r\n {kind}\r\nWARC-Date: {}\r\nWARC-Target-URI: {url}\r\nContent-Type: application/http\r\nContent-Length: {length}\r\n\r\n",
            date(1)
        );
        [head.as_bytes(), block, b"\r\n\r\n"].concat()
    };
    let answer = |body: &[u8], length: usize| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
        [head.as_bytes(), body].concat()
    };
    let whole = |number: usize| answer(&pdf(number), pdf(number).len());
    let warc = [
        record("response", "http://a.example/folded.pdf", None, &whole(1)),
        record(
            "response",
            "http://a.example/short.pdf",
            None,
            &answer(&pdf(2), 99_999),
        ),
        record(
            "response",
            "http://a.example/length.pdf",
            Some(7),
            &whole(3),
        ),
        record("response", "no-scheme.example/4.pdf", None, &whole(4)),
        record("respanse", "http://a.example/type.pdf", None, &whole(5)),
    ];
    let crawl = Crawl::new();
    crawl.write("a.warc", warc.concat());

    let printed = crawl.import(3, &["a.warc"]);

    assert_eq!(printed["saved_New"], 3, "{printed:#}");
    let report = std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap();
    for told in [
        "short.pdf: its body has",
        "length.pdf: its length 7 is wrong",
        "no-scheme.example/4.pdf",
        "its WARC-Type is none that is known",
    ] {
        assert!(report.contains(told), "{told}: {report}");
    }
}

#[test]
fn revisits_whose_original_is_nowhere_are_named() {
    let crawl = Crawl::new();
    let head = format!(
        "WARC/1.0\r\nWARC-Type: revisit\r\nWARC-Date: {}\r\nWARC-Target-URI: http://a.example/gone.pdf\r\nWARC-Payload-Digest: sha1:USUDYFY6UJJK63UC7CCM7G37JIIFIAW2\r\nContent-Type: application/http\r\nContent-Length: 19\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n\r\n",
        date(1)
    );
    crawl.write("a.warc", head);

    let printed = crawl.import(0, &["a.warc"]);

    assert!(
        printed["reason"].as_str().unwrap().contains("1 revisits"),
        "{printed:#}"
    );
    let report = std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap();
    assert!(
        report.contains("http://a.example/gone.pdf: a revisit"),
        "{report}"
    );
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
    crawl.write("b.warc.gz.open", "");
    assert_eq!(crawl.import(0, &["b.warc.gz.open"])["all"], 0);
    assert_eq!(crawl.import(3, &["a.warc.gz"])["skipped_Records"], 1);
    let output = crawl.try_import(&["empty"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("no archives in `empty`"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_document_that_cannot_be_saved_is_counted_and_costs_no_other() {
    let crawl = Crawl::new();
    let mut warc = Warc::default();
    for number in 0..4 {
        let url = format!("http://a.example/{number}.pdf");
        warc.response(&url, &date(number), "application/pdf", &pdf(number));
    }
    // The same bytes under another URL, and an older content of the URL that comes first.
    warc.response("http://b.example/", &date(9), "application/pdf", &pdf(0));
    warc.response(
        "http://a.example/0.pdf",
        "2020-01-01T00:00:00Z",
        "application/pdf",
        &pdf(7),
    );
    crawl.write("a.warc.gz", warc.bytes);
    // Something is where the directory of the first document has to be.
    crawl.write("data/documents/000/000/001", "in the way");

    let printed = crawl.import(3, &["a.warc.gz"]);

    assert_eq!(printed["failed_Save"], 2, "{printed:#}");
    assert_eq!(printed["saved_New"], 4);
    assert_eq!(printed["all"], 6);
    let report = std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap();
    assert!(
        report.contains("it cannot be saved") && report.contains("a.example/0.pdf"),
        "{report}"
    );
    let urls = |crawl: &Crawl| crawl.documents().len();
    assert_eq!(urls(&crawl), 4);

    std::fs::remove_file(crawl.path("data/documents/000/000/001")).unwrap();
    let printed = crawl.import(0, &["a.warc.gz"]);
    assert_eq!(printed["failed_Save"], 0);
    assert_eq!(urls(&crawl), 5);
    let output = crawl.garner(&["verify"]).output();
    assert!(output.status.success(), "{}", stderr(&output));

    // The same without a catalog.
    crawl.write("folder/000/000/001", "in the way");
    let printed = crawl.import(3, &["a.warc.gz", "--no-database", "folder"]);
    assert_eq!(printed["failed_Save"], 1, "{printed:#}");
    assert_eq!(printed["saved_Separate"], 5);
    let report = std::fs::read_to_string(crawl.path("folder/import-report.jsonl")).unwrap();
    assert!(report.contains("it cannot be saved"), "{report}");
}

#[test]
fn links_to_directories_and_to_archives_of_any_name_are_named_and_make_an_import_incomplete() {
    for (link, to) in [
        ("2026", "../elsewhere"),
        ("capture-2", "../elsewhere/b.warc.gz"),
    ] {
        let crawl = Crawl::new();
        crawl.write("crawl/a.warc.gz", many(3).bytes);
        crawl.write("elsewhere/b.warc.gz", many(5).bytes);
        symlink(to, crawl.path("crawl").join(link)).unwrap();

        let printed = crawl.import(3, &["crawl"]);

        let report = std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap();
        assert!(report.contains(&format!("crawl/{link}")), "{report}");
        assert!(
            report.contains("links in a directory are not followed"),
            "{report}"
        );
        let check = crate::garner().args(["warc", "check"]);
        let checked = check
            .current_dir(&crawl.path(""))
            .arg(crawl.path("crawl"))
            .output();
        assert_eq!(checked.status.code(), Some(3), "{}", stderr(&checked));
    }
    // Nothing is passed over by these.
    let crawl = Crawl::new();
    crawl.write("crawl/2026/a.warc.gz", many(3).bytes);
    crawl.write("notes.txt", "no archive");
    symlink("2026", crawl.path("crawl/latest")).unwrap();
    symlink("../notes.txt", crawl.path("crawl/notes")).unwrap();
    crawl.import(0, &["crawl"]);
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for() {
    let crawl = Crawl::new();
    crawl.write("crawl/a.warc.gz", many(3).bytes);
    let pipe = |name: &str| {
        let made = Command::new("mkfifo").arg(crawl.path(name)).status();
        assert!(made.unwrap().success());
    };
    pipe("crawl/f.warc.gz");
    pipe("log");

    let printed = crawl.import(3, &["crawl"]);
    assert_ne!(printed["saved_New"], 0, "{printed}");
    let report = std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap();
    assert!(report.contains("it is no regular file"), "{report}");
    let named = crawl.try_import(&["crawl/f.warc.gz"]);
    assert_ne!(named.status.code(), Some(0), "{}", stderr(&named));
    let log = crawl.try_import(&["crawl/a.warc.gz", "--log", "log"]);
    assert_eq!(log.status.code(), Some(1), "{}", stderr(&log));
    assert!(
        stderr(&log).contains("it is no regular file"),
        "{}",
        stderr(&log)
    );
}

/// A WACZ whose members were written as a stream: their lengths stand behind them, and in the directory.
fn streamed_wacz(members: &[(&str, &[u8])]) -> (Vec<u8>, Vec<usize>) {
    let (mut zip, mut directory, mut entries) = (Vec::new(), Vec::new(), Vec::new());
    for (name, bytes) in members {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let size = u32::try_from(bytes.len()).unwrap().to_le_bytes();
        let facts = [crc.sum().to_le_bytes(), size, size].concat();
        let length = u16::try_from(name.len()).unwrap().to_le_bytes();
        let offset = u32::try_from(zip.len()).unwrap().to_le_bytes();
        let before = [&[20, 0, 8, 0][..], &[0; 6]].concat();
        let name = name.as_bytes();
        zip.extend(
            [
                &b"PK\x03\x04"[..],
                &before,
                &[0; 12],
                &length,
                &[0; 2],
                name,
                bytes,
            ]
            .concat(),
        );
        zip.extend([&b"PK\x07\x08"[..], &facts].concat());
        entries.push(directory.len());
        let entry = [
            &b"PK\x01\x02\x14\x00"[..],
            &before,
            &facts,
            &length,
            &[0; 12],
            &offset,
            name,
        ];
        directory.extend(entry.concat());
    }
    let count = u16::try_from(members.len()).unwrap().to_le_bytes();
    let [length, start] =
        [directory.len(), zip.len()].map(|at| u32::try_from(at).unwrap().to_le_bytes());
    let entries = entries.into_iter().map(|at| zip.len() + at).collect();
    zip.extend(directory);
    zip.extend(
        [
            &b"PK\x05\x06\0\0\0\0"[..],
            &count,
            &count,
            &length,
            &start,
            &[0; 2],
        ]
        .concat(),
    );
    (zip, entries)
}

#[test]
fn a_wrong_field_in_the_directory_of_a_streamed_wacz_costs_no_member() {
    let half = |from: usize| {
        let mut warc = Warc::default();
        for number in from..from + 10 {
            let url = format!("http://a.example/{number}.pdf");
            warc.response(&url, &date(number), "application/pdf", &pdf(number));
        }
        warc.bytes
    };
    let [one, two] = [half(0), half(10)];
    let members = [("archive/a.warc.gz", &one[..]), ("archive/b.warc.gz", &two)];
    let (sound, entries) = streamed_wacz(&members);
    let second = entries[1];
    let changed = |at: usize, bytes: &[u8]| {
        let mut zip = sound.clone();
        zip[second + at..second + at + bytes.len()].copy_from_slice(bytes);
        zip
    };
    for (code, zip) in [
        (0, sound.clone()),
        (3, changed(10, &[99, 0])),
        (3, changed(8, &[9, 0])),
        (3, changed(20, &[50, 0, 0, 0, 50, 0, 0, 0])),
        (3, sound[..entries[0]].to_vec()),
    ] {
        let crawl = Crawl::new();
        crawl.write("x.wacz", &zip);

        let printed = crawl.import(code, &["x.wacz"]);

        assert_eq!(printed["saved_New"], 20, "{printed}");
    }
}

#[test]
fn an_empty_archive_in_a_wacz_and_a_damaged_gzip_file_beside_archives_are_named() {
    let good = many(3).bytes;
    let members = [("archive/a.warc.gz", &good[..]), ("archive/e.warc.gz", b"")];
    let crawl = Crawl::new();
    crawl.write("x.wacz", streamed_wacz(&members).0);
    let printed = crawl.import(3, &["x.wacz"]);
    let report = std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap();
    assert!(report.contains("archive/e.warc.gz"), "{report}");
    assert!(
        report.contains("it ends before its first record"),
        "{report}"
    );

    let crawl = Crawl::new();
    crawl.write("crawl/a.warc.gz", &good);
    let mut other = Warc::default();
    other.response("http://b.example/", &date(1), "application/pdf", &pdf(99));
    other.response("http://b.example/2", &date(1), "application/pdf", &pdf(98));
    other.bytes[0] ^= 1;
    crawl.write("crawl/capture-2.gz", &other.bytes);
    let printed = crawl.import(3, &["crawl"]);
    let report = std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap();
    assert!(report.contains("capture-2.gz"), "{report}");
    let urls: Vec<_> = crawl
        .documents()
        .iter()
        .map(|one| one["url"].to_string())
        .collect();
    assert!(
        urls.contains(&"\"http://b.example/2\"".to_owned()),
        "{urls:?}"
    );
}

#[test]
fn records_without_a_url_are_named_and_answers_in_odd_heads_are_read() {
    let mut warc = Warc::default();
    let kind = "Content-Type: application/http; msgtype=response\r\n";
    let block = |head: &str, number: usize| [head.as_bytes(), &pdf(number)[..]].concat();
    let ok = "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n";
    let whole = format!("{ok}\r\n");
    let length = block(&whole, 1).len();
    let head = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: {}\r\n{kind}Content-Length: {length}\r\n\r\n",
        date(1)
    );
    warc.member(&[head.as_bytes(), &block(&whole, 1), b"\r\n\r\n"].concat());
    warc.record(
        "response",
        "http://a.example/cut",
        &date(2),
        kind,
        &block(ok, 2),
    );
    let twice =
        format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n{whole}");
    warc.record(
        "response",
        "http://a.example/twice",
        &date(3),
        kind,
        &block(&twice, 3),
    );
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", &warc.bytes);

    let printed = crawl.import(3, &["a.warc.gz"]);

    let left = crawl.left();
    let documents: Vec<_> = left.documents.keys().map(String::as_str).collect();
    assert_eq!(
        documents,
        [
            "\"http://a.example/cut\" null",
            "\"http://a.example/twice\" null"
        ]
    );
    assert!(left.contents.contains(&pdf(2)) && left.contents.contains(&pdf(3)));
    let report = std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap();
    assert!(
        report.contains("its head has no WARC-Target-URI"),
        "{report}"
    );
    assert!(
        report.contains("cut: its HTTP head is damaged or missing"),
        "{report}"
    );
}
