//! Requests and metadata add to captures, whatever the order.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod support;

use crawl::Capture;
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
fn a_revisit_does_not_get_what_is_said_of_what_it_refers_to() {
    let original = response("http://h/1", "<urn:original>", "", b"x");
    let fields = [
        ("WARC-Type", "revisit"),
        ("WARC-Record-ID", "<urn:revisit>"),
        ("WARC-Target-URI", "http://h/2"),
        ("WARC-Refers-To", "<urn:original>"),
    ];
    let revisit = record(&fields, b"HTTP/1.1 200 OK\r\n\r\n");
    let metadata = about("metadata", ("WARC-Refers-To", "<urn:original>"), METADATA);

    for records in [
        [&original, &revisit, &metadata],
        [&metadata, &revisit, &original],
        [&revisit, &original, &metadata],
    ] {
        let bytes: Vec<_> = records.into_iter().flatten().copied().collect();
        let found = read_bytes(&bytes);
        let parent = |url: &str| {
            let of = |capture: &&(Capture, _)| capture.0.url == url;
            found.captures.iter().find(of).unwrap().0.parent.as_deref()
        };
        assert_eq!(parent("http://h/1"), Some("http://h/via"));
        assert_eq!(parent("http://h/2"), None);
    }
}

/// Two responses to one request: what names one of them is not for the other.
#[test]
fn a_name_counts_more_than_a_third_that_both_name() {
    let answer = |url: &str, id: &str| {
        let fields = [
            ("WARC-Type", "response"),
            ("WARC-Record-ID", id),
            ("WARC-Concurrent-To", "<urn:third>"),
            ("WARC-Target-URI", url),
        ];
        record(&fields, b"HTTP/1.1 200 OK\r\n\r\nx")
    };
    let metadata = record(
        &[
            ("WARC-Type", "metadata"),
            ("WARC-Concurrent-To", "<urn:third>"),
            ("WARC-Refers-To", "<urn:one>"),
            ("Content-Type", "application/warc-fields"),
        ],
        METADATA.as_bytes(),
    );
    let (one, two) = (
        answer("http://h/1", "<urn:one>"),
        answer("http://h/2", "<urn:two>"),
    );

    let found = read_bytes(&[one, two, metadata].concat());

    let parents = found.captures.iter().map(|(capture, _)| &capture.parent);
    let parents: Vec<_> = parents.map(Option::as_deref).collect();
    assert_eq!(parents, [Some("http://h/via"), None]);
}

/// A record far behind does not count, whatever happens to have been read with it.
#[test]
fn only_the_beginning_of_metadata_counts_and_no_half_line() {
    let page = page("http://h/", b"x");
    let target = ("WARC-Target-URI", "http://h/");
    for (fill, expected) in [
        (16_000, Some("http://h/far")),
        // The limit falls into the line.
        (16 * 1024 - 20, None),
        (20_000, None),
    ] {
        let links = format!("outlink: {}\r\n", "x".repeat(fill - 11));
        let block = format!("hopsFromSeed: L\r\n{links}via: http://h/far\r\n");
        let metadata = about("metadata", target, &(block + &links));
        let plain = [&page[..], &metadata].concat();
        let each = [gzip(&page), gzip(&metadata)].concat();
        for bytes in [&plain, &each, &gzip(&plain)] {
            let found = read_bytes(bytes);
            let capture = &found.captures[0].0;
            assert_eq!(capture.path_from_seed.as_deref(), Some("L"));
            assert_eq!(capture.parent.as_deref(), expected, "{fill}");
        }
    }
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

/// Two that write into one file: there is always a request before the capture that comes next.
#[test]
fn positions_come_even_if_records_are_mixed_without_end() {
    let request = |number: usize| {
        let url = format!("http://h/{number}");
        gzip(&about("request", ("WARC-Target-URI", &url), REQUEST))
    };
    let mut bytes = request(0);
    for number in 0..2000 {
        bytes.extend(request(number + 1));
        bytes.extend(gzip(&page(&format!("http://h/{number}"), b"x")));
    }
    let file = crawl("x", &bytes);
    let source = open_one(&file.path);

    let first = read_from(&source, 0, &options(1, 4000), 1900);

    let (position, before) = first.positions.last().copied().unwrap_or_default();
    assert!(before > 1000, "{before}");
    let rest = read_from(&source, position, &options(1, 4000), usize::MAX);
    let again = before + rest.captures.len() - 2000;
    assert!(again < 300, "{again} are read again");
    // The first ones were handed over with their parents before.
    let orphans = rest.captures.iter().skip(again);
    assert_eq!(
        orphans
            .filter(|(capture, _)| capture.parent.is_none())
            .count(),
        0
    );
}

/// A request at the end of a file that grows waits for its capture, wherever the end happens to be.
#[test]
fn a_request_is_not_spent_before_its_capture_is_written() {
    let of = |kind, block| about(kind, ("WARC-Target-URI", "http://h/2"), block);
    let before = page("http://h/1", b"x");
    let (request, metadata) = (of("request", REQUEST), of("metadata", METADATA));
    let after = page("http://h/2", b"x");
    for (facts, parent) in [
        (vec![&request], "http://h/from"),
        (vec![&metadata, &request], "http://h/via"),
    ] {
        let mut records = vec![&before];
        records.extend(facts);
        records.push(&after);
        let whole: Vec<u8> = records.iter().copied().flatten().copied().collect();
        let each: Vec<u8> = records.iter().flat_map(|record| gzip(record)).collect();
        for (bytes, last) in [(whole, after.len()), (each, gzip(&after).len())] {
            for half in [bytes.len() - last, bytes.len() - last / 2] {
                let file = crawl("x.warc.open", &bytes[..half]);
                let source = open_one(&file.path);
                let first = read_from(&source, 0, &options(1, 4000), usize::MAX);
                assert_eq!((first.urls(), first.late.len()), (vec!["http://h/1"], 0));
                let ended = first.ended.unwrap();
                assert!(ended.still_written);

                std::fs::write(&file.path, &bytes).unwrap();
                let rest = read_from(&source, ended.position, &options(1, 4000), usize::MAX);
                assert_eq!((rest.urls(), rest.late.len()), (vec!["http://h/2"], 0));
                assert_eq!(rest.captures[0].0.parent.as_deref(), Some(parent));
                assert!(!rest.ended.unwrap().still_written);
            }
        }
    }
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
            let same = |capture: &&mut Capture| capture.url == late.url;
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
