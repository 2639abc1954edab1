//! A log that adds what archives lack.

use std::fs;

use crawl::{Capture, Limits, LogFormat, LogIndex, LogSource, ReadOptions, Source};

use crate::support::{Crawl, Seen, read, sample};

fn index(crawl: &Crawl) -> LogIndex {
    fs::write(crawl.log_path(), &crawl.log).unwrap();
    LogIndex::build(
        &crawl.log_path(),
        &LogFormat::heritrix(),
        &Limits::default(),
    )
    .unwrap()
}

fn capture(url: &str, crawled: Option<i64>) -> Capture {
    Capture {
        url: url.to_owned(),
        crawled,
        ..Capture::default()
    }
}

fn line(url: &str, via: &str, time: &str) -> String {
    format!("2012-05-06T07:08:10.550Z 200 42 {url} LL {via} text/html #002 {time}000+2 - - -")
}

#[test]
fn a_capture_gets_what_it_lacks_and_keeps_what_it_has() {
    let index = index(&Crawl::new().with_line(&line("http://h/a", "http://h/", "20120506070809")));

    let mut bare = capture("http://h/a", None);
    index.complete(&mut bare);
    assert_eq!(bare.parent.as_deref(), Some("http://h/"));
    assert_eq!(bare.path_from_seed.as_deref(), Some("LL"));
    assert_eq!(
        (bare.depth, bare.is_seed, bare.status),
        (Some(2), Some(false), Some(200))
    );
    assert_eq!(bare.crawled, Some(1_336_288_089));

    let mut full = capture("http://h/a", Some(5));
    full.parent = Some("http://mine/".to_owned());
    full.status = Some(404);
    index.complete(&mut full);
    assert_eq!(
        (full.parent.as_deref(), full.status, full.crawled),
        (Some("http://mine/"), Some(404), Some(5))
    );

    let mut other = capture("http://h/b", None);
    index.complete(&mut other);
    assert_eq!(other, capture("http://h/b", None));
}

#[test]
fn a_log_beside_archives_tells_what_it_says_and_can_be_read_on() {
    let [a, b, c] = ["a", "b", "c"].map(|name| {
        let url = format!("http://h/{name}");
        line(&url, "http://h/", "20120506070809") + "\n"
    });
    let crawl = Crawl::new()
        .with_line(a.trim_end())
        .with_line("one two three");
    let whole = crawl.log.len() as u64;
    let half = [&crawl.log, &b.as_bytes()[..60]].concat();
    fs::write(crawl.log_path(), half).unwrap();
    let open = || {
        let source =
            LogSource::beside(&crawl.log_path(), LogFormat::heritrix(), &Limits::default())
                .unwrap();
        Source::Log(source)
    };
    let urls = |seen: &Seen| {
        let late = seen.late.iter().map(|capture| capture.url.clone());
        late.collect::<Vec<_>>()
    };

    let first = read(&open(), 0, &ReadOptions::default());
    let end = LogIndex::build(
        &crawl.log_path(),
        &LogFormat::heritrix(),
        &Limits::default(),
    );
    let grown = [b, c].concat();
    let grown = [&crawl.log, grown.as_bytes()].concat();
    fs::write(crawl.log_path(), grown).unwrap();
    let next = read(&open(), whole, &ReadOptions::default());

    assert!(open().only_tells() && open().is_appended_to());
    assert_eq!(urls(&first), ["http://h/a"]);
    assert_eq!(first.late[0].parent.as_deref(), Some("http://h/"));
    assert!(first.captures.is_empty() && first.skipped.is_empty());
    assert_eq!(first.ended.unwrap().position, whole);
    assert_eq!(end.unwrap().end(), whole);
    assert_eq!(urls(&next), ["http://h/b", "http://h/c"]);
}

#[test]
fn of_several_lines_the_nearest_in_time_counts() {
    let mut crawl = Crawl::new();
    for day in 10..30 {
        let time = format!("201205{day}000000");
        crawl = crawl
            .with_line(&line("http://h/a", &format!("http://h/{day}"), &time))
            .with_line(&line("http://h/b", "http://h/other", &time));
    }
    let index = index(&crawl);
    let day = |day: i64| 1_335_830_400 + (day - 1) * 86_400;

    for (crawled, parent) in [
        (Some(day(15)), "http://h/15"),
        (Some(day(15) + 40_000), "http://h/15"),
        (Some(day(15) + 50_000), "http://h/16"),
        (Some(0), "http://h/10"),
        (Some(-5_000_000_000), "http://h/10"),
        (Some(i64::MAX), "http://h/29"),
        (None, "http://h/29"),
    ] {
        let mut found = capture("http://h/a", crawled);
        index.complete(&mut found);
        assert_eq!(found.parent.as_deref(), Some(parent), "{crawled:?}");
    }
}

#[test]
fn every_url_of_a_large_log_is_found() {
    let mut crawl = Crawl::new();
    for index in 0..3000 {
        let via = format!("http://h/via/{index}");
        crawl = crawl.with_line(&line(&format!("http://h/{index}"), &via, "20120506070809"));
    }
    let built = index(&crawl);

    for index in 0..3000 {
        let mut found = capture(&format!("http://h/{index}"), Some(1_336_288_089));
        built.complete(&mut found);
        assert_eq!(found.parent, Some(format!("http://h/via/{index}")));
    }
}

#[test]
fn an_empty_log_says_nothing() {
    let mut found = capture("http://h/", None);
    index(&Crawl::new()).complete(&mut found);
    assert_eq!(found, capture("http://h/", None));
}

#[test]
fn a_real_log_completes_its_own_urls() {
    let Some(sample) = sample("heritrix-2006-crawl.log") else {
        return;
    };
    let index = LogIndex::build(&sample, &LogFormat::heritrix(), &Limits::default()).unwrap();

    let mut found = capture("http://www.trineogkaare.dk/robots.txt", None);
    index.complete(&mut found);

    assert_eq!(found.parent.as_deref(), Some("http://www.trineogkaare.dk/"));
    assert_eq!((found.status, found.depth), (Some(404), Some(1)));
}
