//! Mirror trees as Heritrix's MirrorWriter makes them.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::sync::atomic::Ordering;

use crawl::{Body, Capture, Kind, LogFormat, ReadOptions, SourceEvent};

use crate::support::{Crawl, heritrix_line, read};

#[test]
fn files_are_found_by_the_rules_of_the_writer() {
    let crawl = Crawl::new()
        .with_file("h.example/index.html", "root")
        .with_file("h.example/p/index.html", "directory")
        .with_file("h.example/p/a.pdf", "plain")
        .with_file("h.example/p/showid=3.pdf", "query")
        .with_file("h.example/p/queryx=1", "query without a suffix")
        .with_file("h.example/%2Ehidden/%2Ea", "dots")
        .with_file("h.example/a b.pdf", "decoded")
        .with_file("h.example/c%20d.pdf", "raw")
        .with_url("http://h.example/")
        .with_url("http://H.Example/p/")
        .with_url("http://h.example:8080/p/a.pdf")
        .with_url("http://h.example/p/show.pdf?id=3")
        .with_url("http://h.example/p/query?x=1")
        .with_url("http://h.example/.hidden/.a")
        .with_url("http://h.example/a%20b.pdf")
        .with_url("http://h.example/c%20d.pdf")
        .with_url("http://h.example/p/missing.pdf");

    let seen = crawl.read();

    let bodies: Vec<&str> = seen.bodies().iter().map(|(_, body)| *body).collect();
    assert_eq!(
        bodies,
        [
            "root",
            "directory",
            "plain",
            "query",
            "query without a suffix",
            "dots",
            "decoded",
            "raw",
            "not found"
        ]
    );
}

#[test]
fn urls_that_are_no_text_have_files_of_their_own() {
    let mut crawl = Crawl::new();
    fs::create_dir_all(crawl.root().join("h")).unwrap();
    for (letter, escape) in [(0xE8, ""), (0xE9, ""), (0xEA, "%20")] {
        let name = [&b"caf"[..], &[letter], escape.as_bytes(), b".pdf"].concat();
        let path = crawl.root().join("h").join(OsStr::from_bytes(&name));
        fs::write(path, format!("{letter:02X}")).unwrap();
        let line = heritrix_line(200, &format!("http://h/caf@{escape}.pdf"), "-");
        let line = line.replace("http://h/parent", "http://h/parent@");
        let bytes = line
            .bytes()
            .map(|byte| if byte == b'@' { letter } else { byte });
        crawl.log.extend(bytes);
        crawl.log.push(b'\n');
    }

    let seen = crawl.read();

    assert_eq!(
        seen.bodies(),
        [
            ("http://h/caf%E8.pdf", "E8"),
            ("http://h/caf%E9.pdf", "E9"),
            ("http://h/caf%EA%20.pdf", "EA"),
        ]
    );
    let parents = seen.captures.iter().map(|(capture, _)| &capture.parent);
    let parents: Vec<_> = parents.flatten().collect();
    assert_eq!(
        parents,
        [
            "http://h/parent%E8",
            "http://h/parent%E9",
            "http://h/parent%EA"
        ]
    );
}

#[test]
fn a_line_has_all_that_a_capture_needs() {
    let crawl = Crawl::new()
        .with_file("h/a.pdf", "a")
        .with_line("2012-05-06T07:08:10.550Z   200      12345 http://h/a.pdf 12+LLE http://h/x application/pdf; #002 20120506070809441+2 sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ http://h/ 3t")
        .with_line("2012-05-06T07:08:10.550Z   200         42 http://h/ - - text/html #002 - - - -");

    let seen = crawl.read();

    let (capture, _) = &seen.captures[0];
    assert_eq!(capture.url, "http://h/a.pdf");
    assert_eq!(capture.parent.as_deref(), Some("http://h/x"));
    assert_eq!(capture.path_from_seed.as_deref(), Some("12+LLE"));
    assert_eq!((capture.depth, capture.is_seed), (Some(15), Some(false)));
    assert_eq!(capture.crawled, Some(1_336_288_089));
    assert_eq!(capture.status, Some(200));
    assert_eq!(capture.declared.as_deref(), Some("application/pdf"));
    assert_eq!(
        capture.digest.as_deref(),
        Some("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ")
    );
    assert_eq!(
        (capture.place.offset, &capture.place.file),
        (0, &crawl.log_path())
    );
    let (seed, _) = &seen.captures[1];
    assert_eq!(
        (seed.depth, seed.is_seed, &seed.parent),
        (Some(0), Some(true), &None)
    );
    assert_eq!(seed.crawled, Some(1_336_288_090));
}

#[test]
fn numbers_of_clashes_are_found_in_names_of_files_and_directories() {
    let crawl = Crawl::new()
        .with_file("h/p", "came first")
        .with_file("h/p1/x.pdf", "its directory got a number")
        .with_file("h/d.e/y", "came first, too")
        .with_file("h/d1.e", "its name got a number")
        .with_url("http://h/p")
        .with_url("http://h/p/x.pdf")
        .with_url("http://h/d.e/y")
        .with_url("http://h/d.e");

    let bodies: Vec<(String, String)> = crawl
        .read()
        .bodies()
        .iter()
        .map(|(url, body)| ((*url).to_owned(), (*body).to_owned()))
        .collect();

    let found = |url: &str| {
        bodies
            .iter()
            .find(|(known, _)| known == url)
            .unwrap()
            .1
            .clone()
    };
    assert_eq!(found("http://h/p"), "came first");
    assert_eq!(found("http://h/p/x.pdf"), "its directory got a number");
    assert_eq!(found("http://h/d.e/y"), "came first, too");
    assert_eq!(found("http://h/d.e"), "its name got a number");
}

#[test]
fn the_digest_decides_between_files_that_may_be_meant() {
    // SHA-1 of "one" in base32, and of "two" in hexadecimal digits.
    let one = "7YC3ZXG4JEUACJ4BUXY2FJ34XNJZRYIG";
    let two = "sha1:ad782ecdac770fc6eb9a62e44f90873fb97fb26b";
    let crawl = Crawl::new()
        .with_file("h/x/y", "the directory")
        .with_file("h/x1", "one")
        .with_file("h/x2", "two")
        .with_file("h/FILE1.zip", "two")
        .with_file("h/other1.zip", "one")
        .with_line(&heritrix_line(200, "http://h/x", two))
        .with_line(&heritrix_line(200, "http://h/FILE.zip", two))
        .with_line(&heritrix_line(200, "http://h/other.zip", two))
        .with_line(&heritrix_line(200, "https://h/x", one));

    let bodies = crawl.read();

    assert_eq!(
        bodies.bodies(),
        [
            ("http://h/x", "not found"),
            ("http://h/FILE.zip", "two"),
            ("http://h/other.zip", "not found"),
            ("https://h/x", "one"),
        ],
        "the first was overwritten by the last, and other1.zip is not other.zip"
    );
}

#[test]
fn the_newest_line_of_a_path_has_its_file() {
    let crawl = Crawl::new()
        .with_file("h/a", "new")
        .with_file("h/b", "https")
        .with_file("h/same", "same")
        .with_line(&heritrix_line(200, "http://h/a", "AAAA"))
        .with_line(&heritrix_line(200, "http://h/b", "BBBB"))
        .with_line(&heritrix_line(200, "http://h/same", "CCCC"))
        .with_line(&heritrix_line(404, "http://h/a", "DDDD"))
        .with_line(&heritrix_line(200, "http://h/same", "CCCC"))
        .with_line(&heritrix_line(200, "https://h/b", "EEEE"))
        .with_line(&heritrix_line(304, "https://h/b", "-"));

    let seen = crawl.read();

    assert_eq!(
        seen.bodies(),
        [
            ("http://h/b", "not found"),
            ("http://h/same", "same"),
            ("http://h/a", "new"),
            ("http://h/same", "same"),
            ("https://h/b", "https"),
            ("https://h/b", "https"),
        ]
    );
    let late: Vec<&str> = seen.late.iter().map(|capture| &*capture.url).collect();
    assert_eq!(
        late,
        ["http://h/a"],
        "its first version is gone, that it was there is not"
    );
}

#[test]
fn duplicates_are_revisits() {
    let line =
        heritrix_line(200, "http://h/a", "sha1:AAAA").replace("- -", "- 2t,duplicate:\"x.arc,12\"");
    let seen = Crawl::new().with_line(&line).read();

    let (capture, body) = &seen.captures[0];
    assert!(matches!(capture.kind, Kind::Revisit { .. }));
    assert_eq!(body.as_deref(), Ok(""));
    assert_eq!(capture.digest.as_deref(), Some("sha1:AAAA"));
}

#[test]
fn long_paths_lie_in_one_directory() {
    let deep = format!("http://h/{}end.pdf", "directory/".repeat(90));
    let crawl = Crawl::new()
        .with_file("h/LONG/end.pdf", "long")
        .with_url(&deep);

    assert_eq!(crawl.read().bodies(), [(&*deep, "long")]);
}

#[test]
fn nothing_outside_of_the_root_is_read() {
    let crawl = Crawl::new()
        .with_file("../secret", "outside")
        .with_file("h/inside", "inside")
        .with_url("http://h/../../secret")
        .with_url("http://h/%2e%2e/%2e%2e/secret")
        .with_url("http://h/..%2f..%2fsecret")
        .with_url("http://../secret")
        .with_url("http://h/link")
        .with_url("http://h/directory/secret")
        .with_url("http://h/pipe");
    symlink("../../secret", crawl.root().join("h/link")).unwrap();
    symlink("../..", crawl.root().join("h/directory")).unwrap();
    let pipe = crawl.root().join("h/pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();

    let seen = crawl.read();

    assert_eq!(seen.captures.len(), 7);
    for (url, body) in seen.bodies() {
        assert_eq!(body, "not found", "{url}");
    }
}

#[test]
fn look_ups_of_names_and_failures_are_no_documents() {
    let crawl = Crawl::new()
        .with_line(&heritrix_line(1, "dns:h", "-"))
        .with_line(&heritrix_line(-9998, "http://h/robots", "-"))
        .with_line(&heritrix_line(0, "http://h/never", "-"))
        .with_line(&heritrix_line(1001, "http://h/name", "-"))
        .with_line(&heritrix_line(404, "http://h/gone", "-"));

    let seen = crawl.read();

    assert_eq!(
        seen.urls(),
        ["http://h/gone"],
        "what to make of a status of HTTP is not ours to decide"
    );
    assert_eq!(seen.skipped, []);
}

#[test]
fn every_position_is_a_place_to_go_on_and_threads_change_nothing() {
    let mut crawl = Crawl::new();
    for index in 0..300 {
        let (url, content) = (format!("http://h/{index}"), format!("content {index}"));
        crawl = crawl
            .with_file(&format!("h/{index}"), &content)
            .with_url(&url);
        if index % 10 == 0 {
            crawl = crawl
                .with_line("broken")
                .with_line(&heritrix_line(200, "http://h/0", "X"));
        }
    }
    let source = crawl.source(LogFormat::heritrix());
    let whole = read(&source, 0, &ReadOptions::default());
    assert_eq!(source.length(), crawl.log.len() as u64);
    assert_eq!(whole.ended.as_ref().unwrap().position, source.length());

    for threads in [2, 5] {
        let options = ReadOptions {
            threads,
            ..ReadOptions::default()
        };
        assert_eq!(read(&source, 0, &options), whole);
    }

    assert!(whole.positions.len() > 5);
    for position in &whole.positions {
        let rest = read(&source, *position, &ReadOptions::default());
        let behind = whole
            .captures
            .iter()
            .filter(|(capture, _)| capture.place.offset >= *position);
        assert!(behind.eq(&rest.captures), "from {position}");
    }
}

#[test]
fn a_log_that_is_still_written_is_read_to_its_last_whole_line() {
    let mut crawl = Crawl::new();
    for index in 0..40 {
        crawl = crawl.with_url(&format!("http://h/{index}"));
    }
    let whole = crawl.log.len() as u64;
    crawl.log.extend(b"2012-05-06T07:08:10.550Z   200");
    let source = crawl.source(LogFormat::heritrix());

    // The crawler goes on while the first lines are worked on.
    let work = |_: &Capture, _: &mut Body<'_>| {
        let mut log = fs::OpenOptions::new()
            .append(true)
            .open(crawl.log_path())
            .unwrap();
        log.write_all(b" ").unwrap();
    };
    let ended = source
        .read(0, &ReadOptions::default(), &work, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();

    assert_eq!((ended.position, ended.still_written), (whole, true));
    let later = read(&source, whole, &ReadOptions::default());
    assert_eq!(
        later.skipped.len(),
        1,
        "nobody writes any more, so that is the last line"
    );
    assert!(!later.ended.unwrap().still_written);
}

#[test]
fn whoever_has_enough_is_told_where_to_go_on() {
    let mut crawl = Crawl::new();
    for index in 0..100 {
        crawl = crawl.with_url(&format!("http://h/{index}"));
    }
    let source = crawl.source(LogFormat::heritrix());
    let mut positions = Vec::new();

    let ended = source
        .read(
            0,
            &ReadOptions::default(),
            &|_, _| (),
            &mut |news| match news {
                SourceEvent::Position(position) => {
                    positions.push(position);
                    ControlFlow::Break(())
                }
                _ => ControlFlow::Continue(()),
            },
        )
        .unwrap();

    assert_eq!(positions, [ended.position]);
    assert!(ended.stopped);
    let options = ReadOptions::default();
    options.stop.store(true, Ordering::Relaxed);
    let seen = read(&source, 0, &options);
    assert!(seen.captures.is_empty() && seen.ended.unwrap().stopped);
}
