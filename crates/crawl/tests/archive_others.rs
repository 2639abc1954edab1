//! Archives that other programs wrote: samples where they are present, and what warcio writes.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use crawl::Kind;
use support::*;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A sample, unless there are none here.
fn sample(name: &str) -> Option<ReadResult> {
    let path = root().join("../shared/samples/crawl").join(name);
    path.exists().then(|| read(&path))
}

#[test]
fn each_sample_is_read() {
    // The name, how many captures, how many bytes, how many records that were skipped.
    for (name, captures, bytes, skipped) in [
        ("20130729-heritrix-original.warc.gz", 1, 68_639, 0),
        (
            "20130729-heritrix-revisit-with-http-headers.warc.gz",
            1,
            0,
            0,
        ),
        ("20141124-heritrix-server-not-modified.warc.gz", 1, 0, 0),
        ("bad.arc", 1, 1, 2),
        ("commoncrawl-2010.arc.gz", 1, 2860, 0),
        ("docs.warc.gz", 9, 265_543, 0),
        ("example-bad-non-chunked.warc.gz", 2, 1270, 0),
        ("example-digest.warc", 0, 0, 0),
        ("example-iana.org-chunked.warc", 1, 7223, 0),
        ("example-resource.warc.gz", 1, 1303, 0),
        ("example-space-in-url.arc", 1, 1270, 0),
        ("example-trunc.warc", 1, 1270, 0),
        ("example-wget-bad-target-uri.warc.gz", 1, 1270, 0),
        ("example.arc", 1, 1270, 0),
        ("example.arc.gz", 1, 1270, 0),
        ("example.warc", 2, 1270, 0),
        ("example.warc.gz", 2, 1270, 0),
        ("fyensdk.arc", 189, 619_158, 0),
        ("fyensdk.warc", 189, 619_158, 0),
        ("heritrix-metadata-records.warc", 39, 93_317, 0),
        ("pdf.warc.gz", 37, 4_116_974, 0),
        ("post-test.warc.gz", 3, 1648, 0),
        ("warcfile.warc.gz", 16, 513_225, 0),
        ("wget.warc.gz", 16, 144_438, 0),
    ] {
        let Some(found) = sample(name) else {
            continue;
        };
        let bodies = found
            .captures
            .iter()
            .map(|(_, body)| body.as_ref().unwrap().len());
        let seen = (
            found.captures.len(),
            bodies.sum::<usize>(),
            found.skipped.len(),
        );
        assert_eq!(
            seen,
            (captures, bytes, skipped),
            "{name}: {:?}",
            found.skipped
        );
    }
}

#[test]
fn the_same_crawl_as_arc_and_as_warc_is_the_same() {
    let (Some(arc), Some(warc)) = (sample("fyensdk.arc"), sample("fyensdk.warc")) else {
        return;
    };
    for ((one, one_body), (other, other_body)) in arc.captures.into_iter().zip(warc.captures) {
        let placeless = |capture: crawl::Capture| crawl::Capture {
            place: crawl::Place::default(),
            digest: None,
            ..capture
        };
        assert_eq!(placeless(one), placeless(other));
        assert_eq!(one_body, other_body);
    }
}

#[test]
fn heritrix_says_where_its_captures_come_from() {
    let Some(found) = sample("heritrix-metadata-records.warc") else {
        return;
    };
    let seeds = found
        .captures
        .iter()
        .filter(|(capture, _)| capture.is_seed == Some(true));
    assert_eq!(seeds.count(), 2);
    let robots = &found.captures[0].0;
    assert_eq!(robots.url, "http://netarkivet.dk/robots.txt");
    assert_eq!(robots.parent.as_deref(), Some("http://netarkivet.dk/"));
    assert_eq!(
        (robots.path_from_seed.as_deref(), robots.depth),
        (Some("P"), Some(1))
    );
    assert!(found.late.is_empty());
    assert!(
        found
            .captures
            .iter()
            .all(|(capture, _)| capture.depth.is_some())
    );
}

#[test]
fn heritrix_revisits_are_recognised() {
    for (name, digest) in [
        (
            "20130729-heritrix-revisit-with-http-headers.warc.gz",
            Some("sha1:USUDYFY6UJJK63UC7CCM7G37JIIFIAW2"),
        ),
        ("20141124-heritrix-server-not-modified.warc.gz", None),
    ] {
        let Some(found) = sample(name) else {
            continue;
        };
        let capture = &found.captures[0].0;
        assert!(matches!(capture.kind, Kind::Revisit { .. }));
        assert_eq!(capture.digest.as_deref(), digest);
    }
}

#[test]
fn what_warcio_writes_comes_back_exactly() {
    let python = root().join(".venv/bin/python");
    assert!(python.exists(), "run scripts/setup test");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/writer.py");
    let directory = tempfile::tempdir().unwrap();
    for (seed, compression) in [("1", "gzip"), ("2", "none"), ("3", "gzip")] {
        let path = directory.path().join(format!("{seed}.warc"));
        let output = Command::new(&python)
            .arg("-B")
            .arg(&script)
            .arg(&path)
            .args([seed, compression])
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let expected = std::fs::read(path.with_extension("warc.json")).unwrap();
        let expected: Vec<(String, Option<String>, String)> =
            serde_json::from_slice(&expected).unwrap();

        for threads in [1, 2, 4] {
            let found = read_from(&open_one(&path), 0, &options(threads, 10_000), usize::MAX);
            assert_eq!(found.captures.len(), expected.len(), "{:?}", found.skipped);
            for ((capture, body), (url, parent, encoded)) in found.captures.iter().zip(&expected) {
                assert_eq!((&capture.url, &capture.parent), (url, parent));
                let body = base64_simd::STANDARD.encode_to_string(body.as_ref().unwrap());
                assert_eq!(&body, encoded);
            }
            assert!(found.skipped.is_empty() && found.late.is_empty());
        }
    }
}
