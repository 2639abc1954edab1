//! Lines that nobody should write, and logs that do not end.

use std::fs::{self, File};
use std::io::{BufWriter, Write};

use crawl::{Error, Limits, LogFormat, LogIndex, LogSource, ReadOptions, Source, SourceEvent};

use crate::support::{Crawl, heritrix_line};

/// Numbers that look random and are the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> usize {
        (self.next() % limit) as usize
    }
}

fn formats() -> Vec<LogFormat> {
    let described = r#"
        line = '^(?<url>\S*) (?<date>.*?) (?<depth>.*?) (?<size>.*?) (?<file>.*)$'
        date = ["%s", "%Y %j", "%A %d %B %Y %I:%M %p %z"]
        [values]
        parent = "{directory}"
    "#;
    let named = LogFormat::NAMES.map(|name| LogFormat::named(name).unwrap());
    named
        .into_iter()
        .chain([LogFormat::parse(described).unwrap()])
        .collect()
}

#[test]
fn lines_of_megabytes_are_passed_over() {
    let long = format!("http://h/{}", "x".repeat(10_000_000));
    let crawl = Crawl::new()
        .with_file("h/a", "a")
        .with_file("h/b", "b")
        .with_url("http://h/a")
        .with_line(&heritrix_line(200, &long, "-"))
        .with_line(&"y".repeat(10_000_000))
        .with_url("http://h/b");

    let seen = crawl.read();

    assert_eq!(seen.bodies(), [("http://h/a", "a"), ("http://h/b", "b")]);
    assert_eq!(seen.skipped.len(), 2);
    assert!(seen.skipped[0].length.unwrap() > 10_000_000);
    assert_eq!(
        seen.skipped[1].reason,
        "the line has 10000001 bytes, more than are read"
    );
    assert!(
        seen.skipped
            .iter()
            .all(|skipped| skipped.reason.len() < 500)
    );
}

#[test]
fn random_lines_do_no_harm() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let line = heritrix_line(200, "http://h/a%20b/c.pdf?q=1", "sha1:AAAA").into_bytes();
    let mut log = Vec::new();
    for _ in 0..3000 {
        let mut damaged = line.clone();
        for _ in 0..random.below(6) {
            if damaged.is_empty() {
                break;
            }
            let at = random.below(damaged.len() as u64);
            match random.below(4) {
                0 => damaged[at] = random.next() as u8,
                1 => drop(damaged.remove(at)),
                2 => damaged.insert(at, b" \t,\"%+-:/\xFF\0\r"[random.below(12)]),
                _ => damaged.truncate(at.max(1)),
            }
        }
        log.extend(damaged);
        log.push(b'\n');
        let noise = random.below(200);
        log.extend((0..noise).map(|_| random.next() as u8));
        log.push(b'\n');
    }

    for format in formats() {
        let mut crawl = Crawl::new().with_file("h/a b/c.pdf", "c");
        crawl.log = log.clone();
        let seen = crawl.read_as(format.clone());
        let lines = log.split(|byte| *byte == b'\n').count();
        assert!(seen.captures.len() + seen.skipped.len() + seen.late.len() <= lines);
        assert_eq!(seen.ended.unwrap().position, log.len() as u64);
        LogIndex::build(&crawl.log_path(), &format, &Limits::default()).unwrap();
    }
}

#[test]
fn what_is_no_log_is_refused_with_a_remedy() {
    let crawl = Crawl::new();
    fs::create_dir_all(crawl.root()).unwrap();
    let open = |log: &std::path::Path| {
        LogSource::open(
            log,
            &crawl.root(),
            LogFormat::heritrix(),
            &Limits::default(),
        )
        .unwrap_err()
    };

    fs::write(crawl.log_path(), b"\x1F\x8B\x08\0").unwrap();
    assert!(matches!(
        open(&crawl.log_path()),
        Error::CompressedLog { .. }
    ));
    assert!(matches!(open(&crawl.root()), Error::File { .. }));
    assert!(matches!(
        open(&crawl.root().join("none")),
        Error::File { .. }
    ));
    fs::write(crawl.log_path(), b"").unwrap();
    let no_root = LogSource::open(
        &crawl.log_path(),
        &crawl.log_path(),
        LogFormat::heritrix(),
        &Limits::default(),
    );
    assert!(matches!(no_root, Err(Error::File { .. })));
}

/// The largest size that this process ever had, in kilobytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_million_lines_take_little_memory() {
    let crawl = Crawl::new();
    fs::create_dir_all(crawl.root()).unwrap();
    let mut log = BufWriter::new(File::create(crawl.log_path()).unwrap());
    // As in a crawl that robots.txt kept from most pages, so that the test does not take minutes.
    let kept_out = heritrix_line(-9998, "http://www.example.org/directory/kept/out.pdf", "-");
    for index in 0..1_000_000 {
        match index % 10 {
            9 => writeln!(
                log,
                "{}",
                heritrix_line(200, &format!("http://h/directory/{index}.pdf"), "-")
            ),
            _ => writeln!(log, "{kept_out}"),
        }
        .unwrap();
    }
    log.flush().unwrap();
    let size = fs::metadata(crawl.log_path()).unwrap().len();
    let before = peak();

    let source = LogSource::open(
        &crawl.log_path(),
        &crawl.root(),
        LogFormat::heritrix(),
        &Limits::default(),
    );
    let options = ReadOptions {
        threads: 2,
        ..ReadOptions::default()
    };
    let mut captures = 0;
    Source::Log(source.unwrap())
        .read(0, &options, &|_, _| (), &mut |news| {
            captures += u64::from(matches!(news, SourceEvent::Capture(..)));
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    let index = LogIndex::build(
        &crawl.log_path(),
        &LogFormat::heritrix(),
        &Limits::default(),
    )
    .unwrap();
    let mut capture = crawl::Capture {
        url: "http://h/directory/999999.pdf".to_owned(),
        ..Default::default()
    };
    index.complete(&mut capture);

    assert_eq!(captures, 100_000);
    assert_eq!(capture.parent.as_deref(), Some("http://h/parent"));
    let grown = (peak() - before) * 1024;
    assert!(
        grown < 64 * 1024 * 1024 && grown < size / 2,
        "{grown} bytes for {size}"
    );
}
