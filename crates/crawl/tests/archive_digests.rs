//! The digests of an archive, compared with the bytes of its records.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod support;

use std::io::Read;
use std::ops::ControlFlow;

use crawl::{Body, Capture, Checked, DigestCheck, News, ReadOptions};
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
        if let News::Capture(capture, ()) = news {
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
        if let News::Capture(capture, ()) = news {
            assert_eq!(capture.digests.block, Checked::Fits);
            assert_eq!(capture.digests.payload, Checked::Unchecked);
        }
        ControlFlow::Continue(())
    });
    read.unwrap();
}
