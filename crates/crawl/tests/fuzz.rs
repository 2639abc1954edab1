//! Fuzz targets: archives of every kind. Nothing breaks the reader, threads change nothing, and what is read from the
//! middle on is what is read from the beginning.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod support;

use std::fmt::Write as _;
use std::io::Write as _;

use crawl::{Limits, LogFormat};
use support::*;

/// Reads bytes as an archive, alone and on two threads.
fn read_archive(bytes: &[u8]) {
    let crawl = crawl("crawl.warc", bytes);
    let Ok(sources) = crawl::open(&crawl.path, &Limits::default()) else {
        return;
    };
    for source in &sources {
        let alone = told(&read_from(source, 0, &options(1, 1 << 20), usize::MAX));
        let together = told(&read_from(source, 0, &options(2, 1000), usize::MAX));
        assert_eq!(alone, together, "threads change nothing");
    }
}

fn told(found: &ReadResult) -> String {
    let mut told = String::new();
    for (capture, body) in &found.captures {
        let length = body.as_ref().map(Vec::len);
        writeln!(told, "{} {:?} {length:?}", capture.url, capture.place).unwrap();
    }
    for skipped in &found.skipped {
        writeln!(told, "{skipped:?}").unwrap();
    }
    told
}

fn samples(is_wanted: impl Fn(&[u8]) -> bool) -> Vec<Vec<u8>> {
    let mut samples = test_support::fuzz::samples("crawl", 20_000);
    samples.retain(|sample| is_wanted(sample));
    samples
}

#[test]
fn warc_files() {
    let pages = [
        page("http://a.example/1", b"one"),
        page("http://a.example/2", b"two"),
    ]
    .concat();
    let mut seeds = samples(|sample| sample.starts_with(b"WARC/"));
    seeds.push(pages);
    test_support::fuzz!(seeds, read_archive);
}

#[test]
fn arc_files() {
    let records = [
        arc_record("http://a.example/1", b"HTTP/1.0 200 OK\r\n\r\none"),
        arc_record("http://a.example/2", b"HTTP/1.0 200 OK\r\n\r\ntwo"),
    ]
    .concat();
    let mut seeds = samples(|sample| sample.starts_with(b"filedesc"));
    seeds.push(records);
    test_support::fuzz!(seeds, read_archive);
}

#[test]
fn gzip_members() {
    let pages = ["1", "2", "3"].map(|name| gzip(&page(&format!("http://a.example/{name}"), b"x")));
    let mut seeds = samples(|sample| sample.starts_with(&[0x1F, 0x8B]));
    seeds.push(pages.concat());
    test_support::fuzz!(seeds, read_archive);
}

#[test]
fn zstd_frames() {
    let pages = ["1", "2", "3"].map(|name| zstd(&page(&format!("http://a.example/{name}"), b"x")));
    let seeds = vec![pages.concat(), pages[0].clone()];
    test_support::fuzz!(seeds, read_archive);
}

#[test]
fn wacz_files() {
    let archive = gzip(&page("http://a.example/1", b"one"));
    let seeds = vec![
        wacz(&[
            ("archive/data.warc.gz", &archive),
            ("datapackage.json", b"{}"),
        ]),
        wacz(&[("archive/a.warc", &page("http://a.example/2", b"two"))]),
    ];
    test_support::fuzz!(seeds, read_archive);
}

/// A ZIP file with members that are stored.
fn wacz(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let length = u32::try_from(content.len()).unwrap().to_le_bytes();
        let mut common = vec![10, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        common.extend(crc.sum().to_le_bytes());
        common.extend([length, length].concat());
        common.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        common.extend([0, 0]);
        let offset = u32::try_from(file.len()).unwrap().to_le_bytes();
        file.write_all(&[b"PK\x03\x04", &*common, name.as_bytes(), content].concat())
            .unwrap();
        let rest = [&[0; 10][..], &offset, name.as_bytes()].concat();
        directory.extend([b"PK\x01\x02\x14\0", &*common, &*rest].concat());
    }
    let count = u16::try_from(members.len()).unwrap().to_le_bytes();
    let length = u32::try_from(directory.len()).unwrap().to_le_bytes();
    let offset = u32::try_from(file.len()).unwrap().to_le_bytes();
    let end = [
        b"PK\x05\x06\0\0\0\0",
        &count[..],
        &count,
        &length,
        &offset,
        &[0; 2],
    ]
    .concat();
    [file, directory, end].concat()
}

#[test]
fn log_formats() {
    let seeds = [
        "line = '^(?<date>\\S+) (?<status>\\d+) (?<url>\\S+)$'\ndate = \"%d.%m.%Y-%H:%M\"\npath = \"{host}/{path}\"",
        "columns = [\"file\", \"url\"]\nseparator = \"tab or comma\"\n[values]\nurl = \"file:///{file}\"",
    ];
    let seeds = seeds.map(|seed| seed.as_bytes().to_vec()).to_vec();
    test_support::fuzz!(seeds, |bytes| {
        let _ = LogFormat::parse(&String::from_utf8_lossy(bytes));
    });
}

#[test]
fn crawl_logs() {
    let line = "2024-02-03T04:05:06.789Z   200        512 http://a.example/b/c.pdf LLE http://a.example/ \
        application/pdf #042 20240203040506+99 sha1:AAAA - -\n";
    let mut seeds = samples(|sample| sample.starts_with(b"20"));
    seeds.push(line.repeat(2).into_bytes());
    seeds.push(b"a/b.pdf\thttp://a.example/b.pdf\t-\t2024-02-03\n".to_vec());
    test_support::fuzz!(seeds, |bytes| {
        let crawl = crawl("crawl.log", bytes);
        for format in ["list", "ftp-list", "pmc"] {
            read_log(&crawl, LogFormat::named(format).unwrap());
        }
        read_log(&crawl, LogFormat::heritrix());
    });
}

fn read_log(crawl: &Crawl, format: LogFormat) {
    let root = crawl.directory.path();
    let log = crawl::LogSource::open(&crawl.path, root, format, &Limits::default()).unwrap();
    let found = read_from(
        &crawl::Source::Log(log),
        0,
        &options(1, 1 << 20),
        usize::MAX,
    );
    // The log itself is the only file there is, and no line of it leads outside.
    let read = found
        .captures
        .iter()
        .filter_map(|(_, body)| body.as_ref().ok());
    read.for_each(|body| assert!(body.len() <= 1 << 20));
}
