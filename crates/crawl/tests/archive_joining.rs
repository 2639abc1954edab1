//! What requests and metadata say of captures, whatever the order.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod support;

use support::*;

fn about(kind: &str, other: (&str, &str), block: &str) -> Vec<u8> {
    let content_type = match kind {
        "request" => "application/http; msgtype=request",
        _ => "application/warc-fields",
    };
    let fields = [
        ("WARC-Type", kind),
        ("WARC-Record-ID", &format!("<urn:{kind}:{}>", other.1)),
        ("WARC-Date", DATE),
        other,
        ("Content-Type", content_type),
    ];
    record(&fields, block.as_bytes())
}

const REQUEST: &str = "GET / HTTP/1.1\r\nHost: h\r\nReferer: http://h/from\r\n\r\n";
const METADATA: &str = "via: http://h/via\r\nhopsFromSeed: LLE\r\nfetchTimeMs: 3\r\n";

#[test]
fn records_are_tied_together_in_any_order() {
    let response = response("http://h/", "<urn:response>", "", b"x");
    let concurrent = ("WARC-Concurrent-To", "<urn:response>");
    let request = about("request", concurrent, REQUEST);
    let metadata = about("metadata", concurrent, METADATA);
    let other = page("http://h/other", b"y");

    for records in [
        [&response, &request, &metadata, &other],
        [&response, &metadata, &request, &other],
        [&request, &response, &metadata, &other],
        [&metadata, &other, &request, &response],
        [&request, &metadata, &other, &response],
        [&response, &other, &metadata, &request],
    ] {
        let bytes: Vec<_> = records.into_iter().flatten().copied().collect();
        let found = read_bytes(&bytes);
        assert_eq!(found.captures.len(), 2);
        assert!(found.late.is_empty(), "{:?}", found.late);
        let capture = found
            .captures
            .iter()
            .find(|(capture, _)| capture.url == "http://h/");
        let capture = &capture.unwrap().0;
        assert_eq!(capture.parent.as_deref(), Some("http://h/via"));
        assert_eq!(capture.path_from_seed.as_deref(), Some("LLE"));
        assert_eq!((capture.depth, capture.is_seed), (Some(3), Some(false)));
    }
}

#[test]
fn the_other_side_may_be_the_one_that_names() {
    // As wget writes it: the response names the request, which comes first.
    let request = about("request", ("WARC-Target-URI", "<http://h/>"), REQUEST);
    let id = "<urn:request:<http://h/>>";
    let fields = [
        ("WARC-Type", "response"),
        ("WARC-Record-ID", "<urn:response>"),
        ("WARC-Concurrent-To", id),
        ("WARC-Target-URI", "<http://h/>"),
    ];
    let response = record(&fields, b"HTTP/1.1 200 OK\r\n\r\nx");

    let found = read_bytes(&[request, response].concat());

    assert_eq!(found.captures[0].0.parent.as_deref(), Some("http://h/from"));
}

#[test]
fn the_same_url_and_second_will_do() {
    let metadata = about(
        "metadata",
        ("WARC-Target-URI", "http://h/"),
        "seed: \r\nvia: \r\n",
    );
    let found = read_bytes(&[page("http://h/", b"x"), metadata].concat());

    let capture = &found.captures[0].0;
    assert_eq!((capture.is_seed, capture.depth), (Some(true), Some(0)));
    assert_eq!(capture.parent, None);
}

#[test]
fn what_comes_long_after_is_late() {
    let mut bytes = page("http://h/", b"x");
    for number in 0..400 {
        bytes.extend(page(&format!("http://h/{number}"), b"x"));
    }
    bytes.extend(about(
        "metadata",
        ("WARC-Target-URI", "http://h/"),
        METADATA,
    ));

    let found = read_bytes(&bytes);

    assert_eq!(found.captures[0].0.parent, None);
    let late = &found.late[0];
    assert_eq!((late.url.as_str(), late.depth), ("http://h/", Some(3)));
    assert_eq!(late.parent.as_deref(), Some("http://h/via"));
    assert_eq!(late.crawled, Some(SECONDS));
}

#[test]
fn a_request_that_says_nothing_holds_nobody_up() {
    let mut bytes = Vec::new();
    for number in 0..3 {
        let url = format!("http://h/{number}");
        bytes.extend(about(
            "request",
            ("WARC-Target-URI", &url),
            "GET / HTTP/1.1\r\n\r\n",
        ));
        bytes.extend(page(&url, b"x"));
    }

    let found = read_bytes(&bytes);

    assert_eq!(found.captures.len(), 3);
    assert!(found.late.is_empty());
}

/// A killed import goes on at the last position, and has to end up with the same.
#[test]
fn breaking_off_and_going_on_is_as_reading_at_once() {
    let mut random = Random::new(11);
    for round in 0..60 {
        let bytes = some_crawl(&mut random, round % 2 == 0);
        let file = crawl("x", &bytes);
        let source = open_one(&file.path);
        let all = read_from(&source, 0, &options(1, 4000), usize::MAX);
        let expected: Vec<_> = all
            .captures
            .iter()
            .map(|(capture, _)| capture.clone())
            .collect();

        let threads = 1 + random.below(3);
        let most = random.below(expected.len());
        let first = read_from(&source, 0, &options(threads, 4000), most.max(1));
        let ended = first.ended.unwrap();
        assert!(ended.stopped);
        let committed = first.positions.last().copied().unwrap_or((0, 0));
        assert_eq!(ended.position, committed.0);
        let rest = read_from(&source, committed.0, &options(threads, 4000), usize::MAX);

        let mut captures: Vec<_> = first.captures.into_iter().take(committed.1).collect();
        captures.extend(rest.captures);
        let mut captures: Vec<_> = captures.into_iter().map(|(capture, _)| capture).collect();
        for late in first.late.iter().chain(&rest.late) {
            let same = |capture: &&mut crawl::Capture| capture.url == late.url;
            if let Some(capture) = captures.iter_mut().find(same) {
                capture.parent = late.parent.clone().or(capture.parent.take());
                capture.depth = late.depth.or(capture.depth);
                capture.is_seed = late.is_seed.or(capture.is_seed);
                capture.path_from_seed = late
                    .path_from_seed
                    .clone()
                    .or(capture.path_from_seed.take());
            }
        }
        assert_eq!(
            captures, expected,
            "round {round}, {most} captures, {threads} threads"
        );
    }
}

/// Captures with their requests and metadata, near each other.
fn some_crawl(random: &mut Random, compress: bool) -> Vec<u8> {
    let mut records = Vec::new();
    for number in 0..random.below(60) + 2 {
        let url = format!("http://h/{number}");
        let mut group = vec![page(&url, &random.bytes(300))];
        let referer = format!("GET / HTTP/1.1\r\nReferer: http://h/from/{number}\r\n\r\n");
        if random.one_in(2) {
            group.insert(
                random.below(2),
                about("request", ("WARC-Target-URI", &url), &referer),
            );
        }
        if random.one_in(2) {
            let via = format!("via: http://h/via/{number}\r\nhopsFromSeed: L\r\n");
            let at = random.below(group.len() + 1);
            group.insert(at, about("metadata", ("WARC-Target-URI", &url), &via));
        }
        records.extend(group);
    }
    let write = |record: &Vec<u8>| match compress {
        true => gzip(record),
        false => record.clone(),
    };
    records.iter().flat_map(write).collect()
}
