//! Every way in which archives are written.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod support;

use std::fs::Permissions;
use std::ops::ControlFlow;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crawl::{Body, Capture, Kind, Limits, Source, SourceEvent};
use support::*;

#[test]
fn a_capture_has_all_that_its_record_says() {
    let head = "Content-Type: Application/PDF; x=y\r\nLast-Modified: yesterday\r\n";
    let found = read_bytes(&response("http://h/a.pdf", "<urn:1>", head, b"%PDF-1.4"));

    let (capture, body) = &found.captures[0];
    assert_eq!(capture.url, "http://h/a.pdf");
    assert_eq!(capture.crawled, Some(SECONDS));
    assert_eq!(capture.status, Some(200));
    assert_eq!(capture.declared.as_deref(), Some("application/pdf"));
    assert_eq!(capture.last_modified.as_deref(), Some("yesterday"));
    assert_eq!(capture.kind, Kind::Document);
    assert_eq!(capture.place.offset, 0);
    assert_eq!(body.as_deref(), Ok(&b"%PDF-1.4"[..]));
    assert!(found.skipped.is_empty() && found.late.is_empty());
}

/// Each layout of the same records has the same captures.
#[test]
fn compression_makes_no_difference() {
    let records: Vec<_> = (0..20)
        .map(|number| page(&format!("http://h/{number}"), &vec![b'x'; number * 1000]))
        .collect();
    let all = records.concat();
    let each = |compress: fn(&[u8]) -> Vec<u8>| {
        let members: Vec<_> = records.iter().map(|record| compress(record)).collect();
        members.concat()
    };
    // Neither records nor members end together.
    let blocks: Vec<_> = all.chunks(700).map(gzip).collect();

    for (name, bytes) in [
        ("plain", all.clone()),
        ("gzip per record", each(gzip)),
        ("stored per record", each(stored)),
        ("gzip at once", gzip(&all)),
        ("gzip in blocks", blocks.concat()),
        ("zstd per record", each(zstd)),
        ("zstd at once", zstd(&all)),
    ] {
        for threads in [1, 3] {
            let file = crawl("x", &bytes);
            let source = open_one(&file.path);
            let found = read_from(&source, 0, &options(threads, 600), usize::MAX);
            assert_eq!(found.captures.len(), 20, "{name}: {:?}", found.skipped);
            for (number, (capture, body)) in found.captures.iter().enumerate() {
                assert_eq!(capture.url, format!("http://h/{number}"), "{name}");
                assert_eq!(body.as_ref().unwrap().len(), number * 1000, "{name}");
            }
            assert!(found.skipped.is_empty(), "{name}: {:?}", found.skipped);
        }
    }
}

#[test]
fn reading_goes_on_from_every_position() {
    let records: Vec<_> = (0..9)
        .map(|number| page(&format!("http://h/{number}"), b"body"))
        .collect();
    let members: Vec<_> = records.iter().map(|record| gzip(record)).collect();
    for bytes in [
        records.concat(),
        members.concat(),
        gzip(&records.concat()),
        zstd(&records.concat()),
    ] {
        let file = crawl("x", &bytes);
        let source = open_one(&file.path);
        let all = read_from(&source, 0, &options(1, 100), usize::MAX);
        assert!(!all.positions.is_empty());

        for (position, handed_over) in &all.positions {
            let rest = read_from(&source, *position, &options(1, 100), usize::MAX);
            assert_eq!(rest.urls(), all.urls()[*handed_over..]);
            assert!(rest.skipped.is_empty());
        }
        let end = all.ended.unwrap();
        assert_eq!(all.positions.last().unwrap(), &(end.position, 9));
        assert!(!end.stopped && !end.still_written);
    }
}

#[test]
fn old_writers_are_understood() {
    let head = "HTTP/1.0 404 Not found\nContent-Type: text/html\n\n";
    let clueweb = format!(
        "WARC/0.18\nWARC-Type: response\nWARC-Target-URI: <http://h/a b>\nWARC-Date: 2009-03-65T08:43:19-0800\n\
         Content-Type: application/http;msgtype=response\nContent-Length: {}\n\n{head}body\n\n",
        head.len() + 4
    );

    let found = read_bytes(clueweb.repeat(2).as_bytes());

    assert_eq!(found.urls(), ["http://h/a b", "http://h/a b"]);
    let capture = &found.captures[1].0;
    assert_eq!((capture.status, capture.crawled), (Some(404), None));
    assert_eq!(found.body(1), b"body");
    assert!(found.skipped.is_empty());
}

#[test]
fn arc_records_are_read() {
    let legend = "1 0 origin\nURL IP-address Archive-date Content-type Archive-length\n\n";
    let mut arc = format!(
        "filedesc://x.arc 0.0.0.0 20240203040506 text/plain {}\n{legend}\n",
        legend.len()
    )
    .into_bytes();
    arc.extend(arc_record(
        "http://h/a b?c d",
        b"HTTP/1.1 200 OK\r\n\r\npage",
    ));
    arc.extend(arc_record("http://h/bare", b"no head at all"));
    arc.extend(arc_record(
        "http://h/gone",
        b"DELETED_TIME=20000425001133_DELLEN=12",
    ));
    arc.extend(arc_record("dns:h", b"20240203040506\nh 1 IN A 1.2.3.4"));
    arc.extend(arc_record("http://h/empty", b""));
    arc.extend(b"http://h/2 1.2.3.4 200101211835 text/html; charset=x 302 - - 9 x.arc.gz 2\nhi\n");

    for bytes in [arc.clone(), gzip(&arc)] {
        let found = read_bytes(&bytes);
        let urls = [
            "http://h/a b?c d",
            "http://h/bare",
            "http://h/empty",
            "http://h/2",
        ];
        assert_eq!(found.urls(), urls);
        assert_eq!(found.body(0), b"page");
        assert_eq!(found.body(1), b"no head at all");
        let [page, bare, _, last] = [0, 1, 2, 3].map(|index| &found.captures[index].0);
        assert_eq!((page.status, page.crawled), (Some(200), Some(SECONDS)));
        assert_eq!(page.declared, None, "the head of the response has none");
        assert_eq!(bare.declared.as_deref(), Some("text/plain"));
        assert_eq!((last.status, last.crawled), (None, Some(980_102_100)));
        assert_eq!(found.reasons(), ["its bytes were taken out of the archive"]);
    }
}

#[test]
fn an_arc_line_of_version_2_tells_the_status() {
    let found = read_bytes(
        b"filedesc://x 0.0.0.0 20240203040506 text/plain 200 - - 0 x.arc 8\n2 0 x\n\n\n\nhttp://h/ 1.2.3.4 20240203040506 text/html 404 - - 9 x.arc 2\nhi\n",
    );

    assert_eq!(found.captures[0].0.status, Some(404));
    assert_eq!(found.body(0), b"hi");
}

#[test]
fn revisits_say_what_they_repeat() {
    let fields = [
        ("WARC-Type", "revisit"),
        ("WARC-Target-URI", "http://h/again"),
        ("WARC-Date", DATE),
        ("WARC-Refers-To-Target-URI", "<http://h/first>"),
        ("WARC-Refers-To-Date", "2020-01-01T00:00:00.123Z"),
        ("Content-Type", "application/http; msgtype=response"),
    ];
    let known = [&fields[..], &[("WARC-Payload-Digest", "sha1:ABC")]].concat();
    let nothing = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";
    let unknown = [&fields[..], &[("WARC-Payload-Digest", nothing)]].concat();
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";

    let found = read_bytes(&[record(&known, head), record(&unknown, b"")].concat());

    let (capture, body) = &found.captures[0];
    let kind = Kind::Revisit {
        refers_to: Some("http://h/first".to_owned()),
        refers_to_date: Some(1_577_836_800),
    };
    assert_eq!(capture.kind, kind);
    assert_eq!(capture.digest.as_deref(), Some("sha1:ABC"));
    assert_eq!(capture.status, Some(200));
    assert_eq!(body.as_deref(), Ok(&b""[..]));
    assert_eq!(found.captures[1].0.digest, None);
}

#[test]
fn what_is_no_document_is_not_handed_over() {
    let of =
        |kind, url, block: &[u8]| record(&[("WARC-Type", kind), ("WARC-Target-URI", url)], block);
    let parts = [
        of("warcinfo", "", b"software: x"),
        of("response", "dns:h", b"h. 1 IN A 1.2.3.4"),
        of("conversion", "http://h/", b"text"),
        of("unheard-of", "http://h/", b"text"),
        of(
            "resource",
            "metadata://gnu.org/software/wget/warc/wget.log",
            b"log",
        ),
        of("metadata", "http://h/", b"fetchTimeMs: 1"),
        of("continuation", "http://h/", b"more"),
        of(
            "resource",
            "ftp://h/a.pdf",
            b"HTTP/1.1 is what this text is about",
        ),
    ];

    let found = read_bytes(&parts.concat());

    assert_eq!(found.urls(), ["ftp://h/a.pdf"]);
    assert_eq!(found.body(0), b"HTTP/1.1 is what this text is about");
    assert!(found.reasons()[0].contains("WARC-Type"));
    assert!(found.reasons()[1].contains("later part of a record"));
}

/// A record in parts, as gzip members of two files.
fn in_parts() -> [Vec<u8>; 3] {
    let part = |number: &'static str, fields: &[(&str, &str)], block: &[u8]| {
        let number = [("WARC-Segment-Number", number)];
        record(&[&number, fields].concat(), block)
    };
    let later = ("WARC-Type", "continuation");
    let origin = ("WARC-Segment-Origin-ID", "<urn:first>");
    let first = [
        ("WARC-Type", "response"),
        ("WARC-Record-ID", "<urn:first>"),
        ("WARC-Target-URI", "http://h/"),
        ("Content-Type", "application/http"),
    ];
    let total = ("WARC-Segment-Total-Length", "31");
    [
        part("1", &first, b"HTTP/1.1 200 OK\r\n\r\none "),
        part("2", &[later, origin], b"two "),
        part("3", &[later, origin, total], b"end."),
    ]
}

#[test]
fn records_in_parts_are_put_together() {
    let [one, two, three] = in_parts();
    let other = page("http://h/other", b"x");
    let plain = [&one[..], &other, &two, &three].concat();
    let each = [gzip(&one), gzip(&other), gzip(&two), gzip(&three)].concat();
    for bytes in [plain.clone(), each, gzip(&plain)] {
        let file = crawl("x", &bytes);
        for threads in [1, 2] {
            let found = read_from(&open_one(&file.path), 0, &options(threads, 200), usize::MAX);
            assert_eq!(found.urls(), ["http://h/", "http://h/other"]);
            assert_eq!(found.body(0), b"one two end.");
            assert_eq!(found.captures[0].0.place.offset, 0);
            assert!(found.skipped.is_empty(), "{:?}", found.skipped);
        }
    }
    // In files of their own, in any order.
    let file = crawl("b.warc.gz", &[gzip(&other), gzip(&one)].concat());
    let root = file.directory.path();
    std::fs::write(root.join("a.warc.gz"), gzip(&three)).unwrap();
    std::fs::write(root.join("c.warc"), &two).unwrap();
    let sources = crawl::open(root, &Limits::default()).unwrap();
    let family = std::sync::Arc::new(crawl::Family::of(&sources));
    let options = crawl::ReadOptions {
        family,
        ..options(1, 1000)
    };
    let found: Vec<_> = sources
        .iter()
        .map(|source| read_from(source, 0, &options, usize::MAX))
        .collect();
    assert_eq!(found[1].urls(), ["http://h/other", "http://h/"]);
    assert_eq!(found[1].body(1), b"one two end.");
    assert!(found.iter().all(|found| found.skipped.is_empty()));
}

#[test]
fn a_record_in_parts_is_told_and_not_taken_for_a_whole() {
    let [one, two, three] = in_parts();
    for parts in [&[&one][..], &[&one, &two], &[&one, &three], &[&three]] {
        let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_vec()).collect();
        let found = read_bytes(&bytes);
        assert!(found.captures.is_empty());
        assert_eq!(found.skipped.len(), 1, "{:?}", found.skipped);
        assert!(found.reasons()[0].contains("part of a record"));
    }
}

/// The dictionary was trained by the authors' own library; one file has it as it is, the other compressed.
#[test]
fn zstd_dictionaries_are_used() {
    for name in ["dictionary.warc.zst", "compressed-dictionary.warc.zst"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures")
            .join(name);
        for threads in [1, 2] {
            let found = read_from(&open_one(&path), 0, &options(threads, 200), usize::MAX);
            assert_eq!(found.captures.len(), 20, "{:?}", found.skipped);
            for (number, (capture, body)) in found.captures.iter().enumerate() {
                assert_eq!(capture.url, format!("http://dictionary.example/{number}"));
                let text = String::from_utf8(body.clone().unwrap()).unwrap();
                assert!(text.ends_with(&format!("page {number}")), "{text}");
            }
        }
    }
}

#[test]
fn a_wacz_is_as_many_sources_as_it_has_archives() {
    let pages = |count: usize, name: &str| -> Vec<Vec<u8>> {
        let url = |number| format!("http://{name}/{number}");
        (0..count)
            .map(|number| page(&url(number), name.as_bytes()))
            .collect()
    };
    let compressed: Vec<_> = pages(30, "a").iter().map(|record| gzip(record)).collect();
    let zip = zip(&[
        ("datapackage.json", b"{}", false),
        ("archive/a.warc.gz", &compressed.concat(), false),
        ("archive/b.warc", &pages(30, "b").concat(), true),
        ("archive/c.warc.gz", &compressed.concat(), true),
        ("archive/../../evil.warc", &pages(1, "d").concat(), false),
        ("indexes/index.cdx.gz", &gzip(b"cdx"), false),
    ]);
    let file = crawl("x.wacz", &zip);

    let sources = crawl::open(&file.path, &Limits::default()).unwrap();

    let names: Vec<_> = sources.iter().map(|source| source.name()).collect();
    let name = |member: &str| format!("{}!{member}", file.path.display());
    let members = [
        "archive/a.warc.gz",
        "archive/b.warc",
        "archive/c.warc.gz",
        "archive/../../evil.warc",
    ];
    assert_eq!(names, members.map(name));
    for (source, (count, host)) in sources
        .iter()
        .zip([(30, "a"), (30, "b"), (30, "a"), (1, "d")])
    {
        for threads in [1, 2] {
            let found = read_from(source, 0, &options(threads, 500), usize::MAX);
            assert_eq!(
                found.captures.len(),
                count,
                "{source:?} {:?}",
                found.skipped
            );
            assert_eq!(found.body(count - 1), host.as_bytes());
            let place = &found.captures[0].0.place;
            assert!(place.to_string().contains("x.wacz!archive/"), "{place}");
            let (position, handed_over) = found.positions[found.positions.len() / 2];
            let rest = read_from(source, position, &options(threads, 500), usize::MAX);
            assert_eq!(rest.captures.len(), count - handed_over);
        }
    }
}

#[test]
fn what_a_wacz_says_wrongly_is_told() {
    let zip = zip(&[("archive/a.warc", &page("http://h/", b"x"), false)]);
    // The method of compression, in the head of the member and in the directory.
    let directory = zip
        .windows(4)
        .rposition(|bytes| bytes == b"PK\x01\x02")
        .unwrap();
    let (mut both, mut one) = (zip.clone(), zip);
    both[8] = 99;
    both[directory + 10] = 99;
    one[directory + 10] = 99;

    let found = read(&crawl("x.wacz", &both).path);
    assert!(
        found.reasons()[0].contains("compressed in a way"),
        "{:?}",
        found.skipped
    );
    let file = crawl("x.wacz", &one);
    let sources = crawl::open(&file.path, &Limits::default()).unwrap();
    let [told, read] = [0, 1].map(|at| read_from(&sources[at], 0, &options(1, 50), usize::MAX));
    assert!(told.reasons()[0].contains("by their own heads"));
    assert_eq!(read.urls(), ["http://h/"]);
}

/// Each of these bytes is another letter, and none of them is UTF-8.
#[test]
fn members_of_a_wacz_have_names_and_bytes_of_their_own() {
    let [one, two] = ["1", "2"].map(|name| page(&format!("http://h/{name}"), b"x"));
    let twice = zip(&[
        ("archive/a.warc", &one, false),
        ("archive/a.warc", &two, false),
    ]);
    // The directory says of a third that it lies where the first does.
    let three = zip(&[
        ("archive/a.warc", &one, false),
        ("archive/b.warc", &two, false),
        ("archive/c.warc", &one, false),
    ]);
    let mut same_place = three.clone();
    let directory = three
        .windows(4)
        .rposition(|bytes| bytes == b"PK\x01\x02")
        .unwrap();
    same_place[directory + 42..directory + 46].fill(0);

    for (bytes, reason, urls) in [
        (
            twice,
            "another member has the same name",
            vec!["http://h/1"],
        ),
        (
            same_place,
            "a member of the ZIP file is not where its directory says; its members are read by their own heads",
            vec!["http://h/1", "http://h/2", "http://h/1"],
        ),
    ] {
        let file = crawl("x.wacz", &bytes);
        let sources = crawl::open(&file.path, &Limits::default()).unwrap();
        let mut names: Vec<_> = sources.iter().map(Source::name).collect();
        let found: Vec<_> = sources
            .iter()
            .map(|source| read_from(source, 0, &options(1, 1000), usize::MAX))
            .collect();
        let all: Vec<_> = found.iter().flat_map(|found| found.urls()).collect();
        let reasons: Vec<_> = found.iter().flat_map(|found| found.reasons()).collect();
        assert_eq!((all, reasons), (urls, vec![reason]));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}

#[test]
fn a_wacz_has_no_end_of_members() {
    let names: Vec<_> = (0..10_050).map(|n| format!("archive/{n}.warc")).collect();
    let record = page("http://h/", b"x");
    let members: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), &record[..], false))
        .collect();
    let file = crawl("x.wacz", &zip(&members));

    let sources = crawl::open(&file.path, &Limits::default()).unwrap();

    assert_eq!(sources.len(), 10_001);
    let found = read_from(&sources[10_000], 0, &options(1, 1000), usize::MAX);
    assert_eq!(
        found.reasons(),
        ["the ZIP file has more members than are read"]
    );
}

#[test]
fn urls_that_are_no_text_stay_different() {
    let of = |mut bytes: Vec<u8>, letter: u8| {
        for byte in &mut bytes {
            *byte = if *byte == b'@' { letter } else { *byte };
        }
        bytes
    };
    let revisit = record(
        &[
            ("WARC-Type", "revisit"),
            ("WARC-Target-URI", "http://h/caf@"),
            ("WARC-Refers-To-Target-URI", "http://h/old@"),
        ],
        b"",
    );
    let request = record(
        &[
            ("WARC-Type", "request"),
            ("WARC-Target-URI", "http://h/caf@"),
            ("WARC-Date", DATE),
        ],
        b"GET / HTTP/1.1\r\nReferer: http://h/from@\r\n\r\n",
    );
    let page = page("http://h/caf@", b"x");
    let arc = arc_record("http://h/caf@", b"HTTP/1.0 200 OK\r\n\r\nx");
    for letter in [0xE8, 0xE9] {
        let url = |name: &str| format!("http://h/{name}%{letter:02X}");
        let found = read_bytes(&of([&request[..], &page, &revisit].concat(), letter));
        assert_eq!(found.urls(), [url("caf"), url("caf")]);
        assert_eq!(found.captures[0].0.parent, Some(url("from")));
        assert_eq!(
            found.captures[1].0.kind,
            Kind::Revisit {
                refers_to: Some(url("old")),
                refers_to_date: None
            }
        );
        assert_eq!(read_bytes(&of(arc.clone(), letter)).urls(), [url("caf")]);
    }
}

#[test]
fn fields_that_are_too_long_to_be_true_are_left_out() {
    let long = "x".repeat(20_000);
    let refused = page(&format!("http://h/{long}"), b"x");
    let fields = [
        ("WARC-Type", "response"),
        ("WARC-Target-URI", "http://h/"),
        ("WARC-Payload-Digest", &long),
        ("WARC-Truncated", &long),
    ];
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {long}\r\nLast-Modified: {long}\r\nContent-Encoding: {long}\r\n\r\nx"
    );
    let kept = record(&fields, head.as_bytes());
    let found = read_bytes(&[refused, kept].concat());

    assert_eq!(found.urls(), ["http://h/"]);
    assert_eq!(found.reasons(), ["its URL is longer than any that is read"]);
    let capture = &found.captures[0].0;
    let texts = [
        &capture.digest,
        &capture.truncated,
        &capture.declared,
        &capture.last_modified,
        &capture.coding,
    ];
    assert_eq!(texts.into_iter().flatten().count(), 0);
}

/// Findings of threads that nobody has taken yet must not fill the memory.
#[test]
fn long_urls_are_not_heaped_up() {
    let url = format!("http://h/{}", "x".repeat(16_000));
    let record = gzip(&page(&url, b""));
    let file = crawl("x", &record.repeat(6000));
    let found = AtomicUsize::new(0);
    let mut ahead = None;

    let work = |_: &Capture, _: &mut Body<'_>| found.fetch_add(1, Ordering::Relaxed);
    let options = options(2, 64 << 20);
    let ended = open_one(&file.path).read(0, &options, &work, &mut |_| {
        ahead.get_or_insert_with(|| {
            let mut count = 0;
            while found.load(Ordering::Relaxed) != count {
                count = found.load(Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(300));
            }
            count
        });
        ControlFlow::Continue(())
    });

    assert!(!ended.unwrap().stopped);
    assert!(ahead.unwrap() < 1500, "{ahead:?}");
}

#[test]
fn a_directory_is_looked_through_by_content_and_in_order() {
    let file = crawl("b.txt", &page("http://h/b", b"x"));
    let root = file.directory.path();
    std::fs::create_dir(root.join("a")).unwrap();
    std::fs::write(root.join("a/x.pdf"), gzip(&page("http://h/a", b"x"))).unwrap();
    std::fs::write(root.join("c.warc"), b"not at all").unwrap();
    std::fs::write(root.join("d.gz"), gzip(b"not at all")).unwrap();
    symlink(root, root.join("circle")).unwrap();

    let sources = crawl::open(root, &Limits::default()).unwrap();

    let names: Vec<_> = sources
        .iter()
        .map(|source| PathBuf::from(source.name()))
        .collect();
    let expected = ["a/x.pdf", "b.txt", "c.warc"];
    assert_eq!(names, expected.map(|name| root.join(name)));
    let error = crawl::open(&root.join("d.gz"), &Limits::default()).unwrap_err();
    assert!(error.to_string().contains("holds no WARC"), "{error}");
    // A file that is called an archive is told, also if it is none.
    for source in [&sources[2], &open_one(&root.join("c.warc"))] {
        let found = read_from(source, 0, &options(1, 1000), usize::MAX);
        assert_eq!(found.reasons(), ["no WARC or ARC record was found in it"]);
        assert!(!source.is_readable() && source.loss().is_some());
    }
    assert!(crawl::open(&root.join("absent"), &Limits::default()).is_err());
}

#[test]
fn a_directory_may_be_a_link_and_need_not_be_readable_everywhere() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("crawl");
    std::fs::create_dir_all(root.join("closed")).unwrap();
    std::fs::write(root.join("x.warc"), page("http://h/", b"x")).unwrap();
    let link = directory.path().join("link");
    symlink(&root, &link).unwrap();
    let closed = root.join("closed");
    std::fs::set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();
    // Root is not kept out.
    let is_closed = std::fs::read_dir(&closed).is_err();

    let sources = crawl::open(&link, &Limits::default());
    std::fs::set_permissions(&closed, Permissions::from_mode(0o755)).unwrap();

    let sources = sources.unwrap();
    let names: Vec<_> = sources.iter().map(Source::name).collect();
    let name = |name: &str| link.join(name).display().to_string();
    match is_closed {
        true => assert_eq!(names, [name("closed"), name("x.warc")]),
        false => assert_eq!(names, [name("x.warc")]),
    }
    let found = read_from(&sources[0], 0, &options(1, 1000), usize::MAX);
    assert_eq!(found.skipped.len(), usize::from(is_closed));
}

#[test]
fn files_with_nothing_in_them_are_archives_only_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let files = [("empty", &b""[..]), ("begun.gz", &gzip(b"x")[..10])];
    for (name, bytes) in files {
        std::fs::write(root.join(name), bytes).unwrap();
        let found = read(&root.join(name));
        assert!(found.captures.is_empty());
    }

    let sources = crawl::open(root, &Limits::default()).unwrap();

    assert!(sources.is_empty(), "{sources:?}");
    for name in ["empty.warc", "begun.warc.gz"] {
        let bytes = if name.ends_with("gz") {
            files[1].1
        } else {
            b""
        };
        std::fs::write(root.join(name), bytes).unwrap();
    }
    std::fs::write(root.join("open.warc.gz.open"), b"").unwrap();
    symlink("empty", root.join("link.warc")).unwrap();
    let mut reasons = Vec::new();
    for source in crawl::open(root, &Limits::default()).unwrap() {
        let found = read_from(&source, 0, &options(1, 1000), usize::MAX);
        reasons.extend(found.skipped.into_iter().map(|skipped| skipped.reason));
    }
    let short = "it ends before its first record";
    assert_eq!(reasons[..2], [short, short]);
    assert!(reasons[2].contains("links in a directory are not followed") && reasons.len() == 3);
}

/// Files beside archives and packed files are noted, and cost nothing.
#[test]
fn what_lies_beside_archives_is_noted() {
    let file = crawl("a.warc", &page("http://h/a", b"x"));
    let root = file.directory.path();
    for name in ["a.warc.md5", "b.warc.bz2", "c.tar.xz", "d.txt"] {
        std::fs::write(root.join(name), b"something else").unwrap();
    }

    let (mut skipped, mut noted) = (Vec::new(), Vec::new());
    for source in crawl::open(root, &Limits::default()).unwrap() {
        let found = read_from(&source, 0, &options(1, 1000), usize::MAX);
        let told = |all: &[crawl::Skipped]| -> Vec<String> {
            all.iter()
                .map(|one| format!("{}: {}", one.place, one.reason))
                .collect()
        };
        skipped.extend(told(&found.skipped));
        noted.extend(told(&found.noted));
    }

    assert_eq!(skipped.len(), 1, "{skipped:?}");
    assert!(skipped[0].contains("b.warc.bz2") && skipped[0].contains("bzip2"));
    assert_eq!(noted.len(), 2, "{noted:?}");
    assert!(noted[0].contains("a.warc.md5") && noted[1].contains("c.tar.xz"));
}

#[test]
fn files_are_open_only_while_they_are_read() {
    let directory = tempfile::tempdir().unwrap();
    for number in 0..50 {
        let path = directory.path().join(format!("{number}.warc"));
        std::fs::write(path, page("http://h/", b"x")).unwrap();
    }
    let open = || {
        let files = std::fs::read_dir("/proc/self/fd").unwrap();
        let paths = files.flat_map(|file| std::fs::read_link(file.unwrap().path()));
        let below = paths.filter(|path| path.starts_with(directory.path()));
        below.count()
    };

    let sources = crawl::open(directory.path(), &Limits::default()).unwrap();

    assert_eq!((sources.len(), open()), (50, 0));
    let mut most = 0;
    for source in &sources {
        let ended = source.read(0, &options(1, 1000), &|_, _| open(), &mut |news| {
            if let SourceEvent::Capture(_, open) = news {
                most = most.max(open);
            }
            ControlFlow::Continue(())
        });
        assert!(!ended.unwrap().stopped);
    }
    assert_eq!((most, open()), (1, 0));
}
