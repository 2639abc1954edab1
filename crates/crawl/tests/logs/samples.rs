//! Logs of real crawls, from beside the project.

use std::fs;

use crate::support::{Crawl, Seen, sample};

fn read_sample(name: &str) -> Option<Seen> {
    let mut crawl = Crawl::new();
    crawl.log = fs::read(sample(name)?).unwrap();
    Some(crawl.read())
}

#[test]
fn logs_of_2006_are_read_whole() {
    let Some(seen) = read_sample("heritrix-2006-crawl.log") else {
        return;
    };
    let Some(path) = sample("heritrix-2006-crawl.log") else {
        return;
    };

    // The expected number is counted by a plain look at the fourth field and the status.
    let text = fs::read_to_string(path).unwrap();
    let documents = text.lines().filter(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let status: i32 = fields[1].parse().unwrap();
        (100..600).contains(&status) && fields[3].starts_with("http")
    });

    assert_eq!(seen.captures.len() + seen.late.len(), documents.count());
    assert_eq!(seen.skipped, []);
    let (capture, _) = &seen.captures[0];
    assert_eq!(capture.digest.as_ref().unwrap().len(), 32, "bare base32");
    assert!(
        seen.captures
            .iter()
            .all(|(capture, _)| capture.crawled.is_some())
    );
    let is_right =
        |depth: u32, path: Option<&str>| depth as usize == path.unwrap_or_default().len();
    assert!(seen.captures.iter().all(|(capture, _)| {
        is_right(capture.depth.unwrap(), capture.path_from_seed.as_deref())
            && capture.is_seed == Some(capture.depth == Some(0))
    }));
}

#[test]
fn short_logs_are_read_whole() {
    let Some(seen) = read_sample("heritrix-short-crawl.log") else {
        return;
    };

    assert!(seen.captures.len() > 10);
    assert_eq!(seen.skipped, []);
    let seed = seen
        .captures
        .iter()
        .find(|(capture, _)| capture.is_seed == Some(true))
        .unwrap();
    assert_eq!((seed.0.depth, &seed.0.parent), (Some(0), &None));
}

#[test]
fn broken_lines_are_skipped_and_named() {
    let Some(seen) = read_sample("invalid-crawl.log") else {
        return;
    };

    let reasons: Vec<&str> = seen
        .skipped
        .iter()
        .map(|skipped| &*skipped.reason)
        .collect();
    assert_eq!(
        reasons,
        [
            "the line cannot be read: `000nourl000` is not a URL",
            "the line cannot be read: it has 4 fields, and a line of Heritrix at least 10",
        ]
    );
    assert!(seen.captures.is_empty());
}
