//! The digests of an archive, compared with the bytes of its records.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod support;

use std::io::Read;
use std::ops::ControlFlow;

use crawl::{Body, Capture, Checked, DigestCheck, ReadOptions, RecordCheck, SourceEvent};
use sha1::{Digest, Sha1};
use support::*;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sha1(bytes: &[u8]) -> String {
    format!("sha1:{}", hex(&Sha1::digest(bytes)))
}

/// A response with digests of its block and its payload.
fn digested(head: &str, body: &[u8], block_digest: &str, payload_digest: &str) -> Vec<u8> {
    record(
        &[
            ("WARC-Type", "response"),
            ("WARC-Record-ID", "<urn:1>"),
            ("WARC-Date", DATE),
            ("WARC-Target-URI", "http://h/"),
            ("WARC-Block-Digest", block_digest),
            ("WARC-Payload-Digest", payload_digest),
            ("Content-Type", "application/http; msgtype=response"),
        ],
        &block(head, body),
    )
}

fn block(head: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 200 OK\r\n{head}\r\n").as_bytes(), body].concat()
}

/// How digests are asked for.
#[derive(Clone, Copy, PartialEq)]
enum Ask {
    Not,
    Here,
    Told,
}

/// Reads the first record, of which some bytes are looked at before digests are asked for, as an import does.
fn check(bytes: &[u8], ask: Ask) -> DigestCheck {
    let file = crawl("x", bytes);
    let work = |_: &Capture, body: &mut Body<'_>| {
        let mut seen = Vec::new();
        body.take(100).read_to_end(&mut seen).unwrap();
        if ask == Ask::Not {
            return;
        }
        body.check_digests(ask == Ask::Told);
        body.read_to_end(&mut seen).unwrap();
        if ask == Ask::Told {
            body.tell_digests(
                Sha1::digest(&seen).into(),
                sha2::Sha256::digest(&seen).into(),
            );
        }
    };
    let mut found = Vec::new();
    let source = open_one(&file.path);
    let read = source.read(0, &ReadOptions::default(), &work, &mut |news| {
        if let SourceEvent::Capture(capture, ()) = news {
            found.push(capture.digests);
        }
        ControlFlow::Continue(())
    });
    read.unwrap();
    found.remove(0)
}

fn assert_fits(bytes: &[u8]) {
    let fits = DigestCheck {
        block: Checked::Fits,
        payload: Checked::Fits,
    };
    for bytes in [bytes.to_vec(), gzip(bytes)] {
        assert_eq!(check(&bytes, Ask::Here), fits);
        assert_eq!(check(&bytes, Ask::Told), fits);
        assert_eq!(check(&bytes, Ask::Not), DigestCheck::default());
    }
}

fn chunked(body: &[u8]) -> Vec<u8> {
    [
        format!("{:x}\r\n", body.len()).as_bytes(),
        body,
        b"\r\n0\r\n\r\n",
    ]
    .concat()
}

#[test]
fn a_payload_digest_fits_in_any_form_of_the_body() {
    const BOTH: &str = "Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n";
    for text in [
        &b"some words ".repeat(50)[..],
        &Random::new(5).bytes(700_000),
    ] {
        let (coded, chunks) = (gzip(text), chunked(text));
        let both = chunked(&coded);
        for (head, body, payload) in [
            ("", text, text),
            ("Transfer-Encoding: chunked\r\n", &chunks, &chunks),
            ("Transfer-Encoding: chunked\r\n", &chunks, text),
            ("Content-Encoding: gzip\r\n", &coded, &coded),
            ("Content-Encoding: gzip\r\n", &coded, text),
            (BOTH, &both, &both),
            (BOTH, &both, &coded),
            (BOTH, &both, text),
        ] {
            let of_block = sha1(&block(head, body));
            assert_fits(&digested(head, body, &of_block, &sha1(payload)));
        }
    }
}

#[test]
fn digests_of_all_usual_algorithms_are_compared() {
    let body = b"a body";
    let md5 = format!("md5:{}", hex(&md5::Md5::digest(body)));
    let sha256 = format!("sha256:{}", hex(&sha2::Sha256::digest(body)));
    let of_block = sha1(&block("", body));
    for payload in [
        md5,
        sha256,
        sha1(body).to_uppercase(),
        sha1(body)[5..].to_owned(),
    ] {
        assert_fits(&digested("", body, &of_block, &payload));
    }
}

#[test]
fn other_bytes_are_told_with_both_digests() {
    let (body, other) = (b"a body", sha1(b"another"));
    let of_block = sha1(&block("", body));
    for ask in [Ask::Here, Ask::Told] {
        let found = check(&digested("", body, &of_block, &other), ask);
        assert_eq!(found.block, Checked::Fits);
        let Checked::Differs(reason) = found.payload else {
            panic!("{found:?}");
        };
        assert!(
            reason.contains("payload") && reason.contains(&other),
            "{reason}"
        );

        let found = check(&digested("", body, &other, &sha1(body)), ask);
        assert!(matches!(found.block, Checked::Differs(_)), "{found:?}");
        assert_eq!(found.payload, Checked::Fits);

        // The head of HTTP is a part of the block.
        let found = check(&digested("X: y\r\n", body, &of_block, &sha1(body)), ask);
        assert!(matches!(found.block, Checked::Differs(_)), "{found:?}");
    }
}

#[test]
fn what_cannot_be_compared_is_told_apart() {
    let nothing = sha1(b"");
    for written in ["sha512:AAAA", "sha1:-", "-", &nothing] {
        let found = check(&digested("", b"a body", "blake3:00", written), Ask::Told);
        let unknown = DigestCheck {
            block: Checked::Unknown,
            payload: Checked::Unknown,
        };
        assert_eq!(found, unknown, "{written}");
    }
    // Of nothing, it is no placeholder.
    let empty = digested("", b"", &sha1(&block("", b"")), &nothing);
    assert_fits(&empty);
}

#[test]
fn a_body_that_cannot_be_decoded_says_nothing_of_its_payload() {
    let head = "Content-Encoding: gzip\r\n";
    let mut coded = gzip(&b"some words ".repeat(50));
    coded.truncate(coded.len() - 10);
    let bytes = digested(head, &coded, &sha1(&block(head, &coded)), &sha1(b"words"));
    let file = crawl("x", &bytes);
    let work = |_: &Capture, body: &mut Body<'_>| {
        body.check_digests(false);
        body.read_to_end(&mut Vec::new()).unwrap_err();
    };
    let read = open_one(&file.path).read(0, &ReadOptions::default(), &work, &mut |news| {
        if let SourceEvent::Capture(capture, ()) = news {
            assert_eq!(capture.digests.block, Checked::Fits);
            assert_eq!(capture.digests.payload, Checked::Unchecked);
        }
        ControlFlow::Continue(())
    });
    read.unwrap();
}

/// Reads an archive of which nobody wants a body. Returns how the digests of captures and of other records compare.
fn check_all(bytes: &[u8]) -> (Vec<DigestCheck>, Vec<RecordCheck>) {
    let file = crawl("x", bytes);
    let options = ReadOptions {
        check_all: true,
        ..ReadOptions::default()
    };
    let (mut captures, mut others) = (Vec::new(), Vec::new());
    let work = |_: &Capture, body: &mut Body<'_>| {
        body.read_exact(&mut [0; 3]).unwrap();
    };
    let read = open_one(&file.path).read(0, &options, &work, &mut |news| {
        match news {
            SourceEvent::Capture(capture, ()) => captures.push(capture.digests),
            SourceEvent::Checked(check) => others.push(*check),
            _ => {}
        }
        ControlFlow::Continue(())
    });
    read.unwrap();
    (captures, others)
}

#[test]
fn records_that_nobody_wants_are_compared_by_their_block() {
    // Of long blocks a sample is compared, by the first digit of the digest that counts.
    let is_sampled = |digest: &str| digest[5..].starts_with(['0', '8']);
    let mut bodies = (1..).map(|seed| Random::new(seed).bytes(300_000));
    let body = bodies.find(|body| is_sampled(&sha1(&block("", body))) && is_sampled(&sha1(body)));
    let (body, wrong) = (body.unwrap(), format!("sha1:{}", "0".repeat(40)));
    let right = sha1(&block("", &body));
    for (block_digest, payload_digest, differs) in [
        (right.as_str(), wrong.as_str(), false),
        (&wrong, &sha1(&body), true),
        ("-", &sha1(&body), false),
        ("-", &wrong, true),
    ] {
        let archive = digested("", &body, block_digest, payload_digest);
        let (captures, others) = check_all(&gzip(&archive));
        let found = [&captures[0].block, &captures[0].payload];
        let is_differing = |checked: &&Checked| matches!(checked, Checked::Differs(_));
        assert_eq!(found.iter().any(is_differing), differs, "{found:?}");
        assert_eq!(found.contains(&&Checked::Fits), !differs, "{found:?}");
        assert_eq!(others, []);

        // Nobody reads a long block of an uncompressed archive for its digests alone.
        let (captures, _) = check_all(&archive);
        let unread = match block_digest {
            "-" => Checked::Unknown,
            _ => Checked::Unchecked,
        };
        assert_eq!(captures[0].block, unread);
        assert_eq!(captures[0].payload, Checked::Unchecked);
    }
    let other = format!("sha1:{}", "1".repeat(40));
    let (captures, _) = check_all(&gzip(&digested("", &body, &other, &other)));
    assert_eq!(captures[0], DigestCheck::default());

    let short = digested("", b"a body", &wrong, &sha1(b"a body"));
    let (captures, _) = check_all(&short);
    assert!(matches!(captures[0].block, Checked::Differs(_)));
}

#[test]
fn requests_and_metadata_are_compared() {
    let about = |kind: &str, content_type: &str, digest: (&str, &str), block: &[u8]| {
        record(
            &[
                ("WARC-Type", kind),
                ("WARC-Record-ID", "<urn:2>"),
                ("WARC-Concurrent-To", "<urn:1>"),
                ("WARC-Date", DATE),
                ("WARC-Target-URI", "http://h/"),
                digest,
                ("Content-Type", content_type),
            ],
            block,
        )
    };
    let request = b"POST / HTTP/1.1\r\nReferer: http://h/up\r\n\r\nq=1";
    let (fields, wrong) = (b"via: http://h/up\r\n", sha1(b"another"));
    let (http, warc) = ("application/http", "application/warc-fields");
    let (of_request, of_fields) = (sha1(request), sha1(fields));
    const BLOCK: &str = "WARC-Block-Digest";
    for (kind, content_type, digest, bytes, fits) in [
        ("request", http, (BLOCK, &of_request), &request[..], true),
        ("request", http, (BLOCK, &wrong), request, false),
        (
            "request",
            http,
            ("WARC-Payload-Digest", &sha1(b"q=1")),
            request,
            true,
        ),
        (
            "request",
            http,
            ("WARC-Payload-Digest", &of_request),
            request,
            false,
        ),
        ("metadata", warc, (BLOCK, &of_fields), fields, true),
        ("metadata", warc, (BLOCK, &wrong), fields, false),
        ("metadata", "text/plain", (BLOCK, &wrong), fields, false),
        ("warcinfo", warc, (BLOCK, &of_fields), fields, true),
        (
            "warcinfo",
            warc,
            ("WARC-Payload-Digest", &wrong),
            fields,
            false,
        ),
    ] {
        let archive = about(kind, content_type, (digest.0, digest.1), bytes);
        for archive in [archive.clone(), gzip(&archive)] {
            let (_, others) = check_all(&archive);
            let [check] = &others[..] else {
                panic!("{kind}: {others:?}");
            };
            let digests = [&check.digests.block, &check.digests.payload];
            assert_eq!(digests.contains(&&Checked::Fits), fits, "{check:?}");
            let differs = digests.iter().any(|c| matches!(c, Checked::Differs(_)));
            assert_eq!(differs, !fits, "{check:?}");
        }
    }
}

#[test]
fn comparing_requests_leaves_captures_with_their_parents() {
    let body = b"a body";
    let response = digested("", body, &sha1(&block("", body)), &sha1(body));
    let request = b"GET / HTTP/1.1\r\nReferer: http://h/up\r\n\r\n";
    let request = record(
        &[
            ("WARC-Type", "request"),
            ("WARC-Record-ID", "<urn:2>"),
            ("WARC-Concurrent-To", "<urn:1>"),
            ("WARC-Date", DATE),
            ("WARC-Target-URI", "http://h/"),
            ("WARC-Block-Digest", &sha1(request)),
        ],
        request,
    );
    for archive in [
        [&response[..], &request].concat(),
        [&request[..], &response].concat(),
    ] {
        let file = crawl("x", &gzip(&archive));
        let options = ReadOptions {
            check_all: true,
            ..ReadOptions::default()
        };
        let mut parents = Vec::new();
        let read = open_one(&file.path).read(0, &options, &|_, _| (), &mut |news| {
            if let SourceEvent::Capture(capture, ()) = news {
                parents.push(capture.parent);
            }
            ControlFlow::Continue(())
        });
        read.unwrap();
        assert_eq!(parents, [Some("http://h/up".to_owned())]);
    }
}
