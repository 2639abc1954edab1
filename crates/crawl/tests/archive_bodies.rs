//! Bodies as servers and crawlers leave them: chunked and compressed, or only said to be.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod support;

use std::io::{Read, Write};
use std::ops::ControlFlow;

use crawl::{Body, Capture, Limits, ReadOptions, SourceEvent};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use support::*;

fn body(head: &str, body: &[u8]) -> Result<Vec<u8>, String> {
    let mut found = read_bytes(&response("http://h/", "<urn:1>", head, body));
    assert!(found.skipped.is_empty());
    found.captures.remove(0).1
}

const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";
const GZIP: &str = "Content-Encoding: gzip\r\n";
const BR: &str = "Content-Encoding: br\r\n";

#[test]
fn chunks_are_put_together_only_where_there_are_chunks() {
    assert_eq!(
        body(CHUNKED, b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n").unwrap(),
        b"abcde"
    );
    assert_eq!(
        body(CHUNKED, b"<html>already decoded").unwrap(),
        b"<html>already decoded"
    );
    assert_eq!(
        body("", b"3\r\nabc\r\n0\r\n\r\n").unwrap(),
        b"3\r\nabc\r\n0\r\n\r\n"
    );
    assert_eq!(body(CHUNKED, b"").unwrap(), b"");
}

#[test]
fn bad_chunks_are_told_and_cost_nothing_else() {
    let bad = response(
        "http://h/bad",
        "<urn:1>",
        CHUNKED,
        b"3\r\nabc\r\nxyz\r\nde\r\n0\r\n\r\n",
    );
    let found = read_bytes(&[bad, page("http://h/good", b"good")].concat());

    let error = found.captures[0].1.as_ref().unwrap_err();
    assert!(error.contains("chunk of the body has no size"), "{error}");
    assert_eq!(found.body(1), b"good");
}

#[test]
fn content_codings_are_undone_only_where_they_are() {
    let text = b"hello hello hello".repeat(100);
    let zipped = gzip(&text);
    let deflated = zipped[10..zipped.len() - 8].to_vec();
    let chunked = [
        format!("{:x}\r\n", zipped.len()).as_bytes(),
        &zipped,
        b"\r\n0\r\n\r\n",
    ]
    .concat();

    assert_eq!(body(GZIP, &zipped).unwrap(), text);
    assert_eq!(
        body(
            "Content-Encoding: x-gzip\r\n",
            &[&zipped[..], &zipped].concat()
        )
        .unwrap(),
        text.repeat(2)
    );
    assert_eq!(body(GZIP, &[&zipped[..], b"junk"].concat()).unwrap(), text);
    assert_eq!(body(GZIP, &text).unwrap(), text);
    assert_eq!(
        body("Content-Encoding: deflate\r\n", &deflated).unwrap(),
        text
    );
    assert_eq!(
        body("Content-Encoding: zstd\r\n", &zstd(&text)).unwrap(),
        text
    );
    assert_eq!(body(&[CHUNKED, GZIP].concat(), &chunked).unwrap(), text);
    assert_eq!(
        body("Content-Encoding: gzip, gzip\r\n", &gzip(&zipped)).unwrap(),
        text
    );
    assert_eq!(
        body("Content-Type: application/gzip\r\n", &zipped).unwrap(),
        zipped
    );
}

#[test]
fn bodies_that_were_decoded_already_stay_as_they_are() {
    let page = "<!DOCTYPE html><html><body>a page</body></html>";
    let json = format!("{{\"items\": [{}]}}", "1, ".repeat(1000));
    let random = Random::new(9).bytes(5000);
    for coding in ["deflate", "gzip", "zstd", "gzip, deflate"] {
        let head = format!("Content-Encoding: {coding}\r\n");
        for text in [&b"x"[..], page.as_bytes(), json.as_bytes(), &random] {
            assert_eq!(body(&head, text).unwrap(), text, "{coding}");
        }
    }
}

#[test]
fn deflate_is_undone_with_and_without_its_wrapping() {
    let text: Vec<u8> = (0..9000_u32).flat_map(u32::to_le_bytes).collect();
    let head = "Content-Encoding: deflate\r\n";
    for text in [&text[..], &text[..40]] {
        let mut wrapped = ZlibEncoder::new(Vec::new(), Compression::default());
        wrapped.write_all(text).unwrap();
        let zipped = gzip(text);
        assert_eq!(body(head, &wrapped.finish().unwrap()).unwrap(), text);
        assert_eq!(body(head, &zipped[10..zipped.len() - 8]).unwrap(), text);
    }
}

#[test]
fn all_frames_of_zstd_are_read_and_their_checksums_looked_at() {
    let head = "Content-Encoding: zstd\r\n";
    let text = Random::new(8).bytes(700_000);
    let (one, two) = (zstd(&text), zstd(b"and more"));
    let skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc";
    let both = [&one[..], skippable, &two].concat();
    assert_eq!(
        body(head, &both).unwrap(),
        [&text[..], b"and more"].concat()
    );
    assert_eq!(
        body(head, &[&two[..], b"junk"].concat()).unwrap(),
        b"and more"
    );

    let error = body(head, &one[..one.len() - 9]).unwrap_err();
    assert!(error.contains("middle of a zstd frame"), "{error}");
    let mut damaged = one.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    let error = body(head, &damaged).unwrap_err();
    assert!(error.contains("checksum"), "{error}");
}

/// Each layer alone would be borne with.
#[test]
fn layers_of_codings_do_not_multiply_what_is_borne_with() {
    let pattern = Random::new(7).bytes(1000);
    let inner = gzip(&pattern.repeat(60_000));
    let middle = gzip(&inner);
    let outer = gzip(&middle);
    assert!(inner.len() * 1000 > 60_000_000 && outer.len() * 1000 < 60_000_000);

    let error = body("Content-Encoding: gzip, gzip, gzip\r\n", &outer).unwrap_err();

    assert!(error.contains("expands to more than 1000 times"), "{error}");
}

/// Issue 18, A2.
#[test]
fn brotli_is_undone_also_among_other_codings() {
    let text = b"hello hello hello".repeat(100);
    let noise = Random::new(3).bytes(200_000);
    let pdf = [&b"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n1 0 obj\n"[..], &noise].concat();
    for body_of in [&b"x"[..], &text, &noise, &pdf] {
        let coded = brotli(body_of);
        let chunked = [
            format!("{:x}\r\n", coded.len()).as_bytes(),
            &coded,
            b"\r\n0\r\n\r\n",
        ]
        .concat();
        assert_eq!(body(BR, &coded).unwrap(), body_of);
        assert_eq!(body(&[CHUNKED, BR].concat(), &chunked).unwrap(), body_of);
        for (head, coded) in [
            ("Content-Encoding: gzip, br\r\n", brotli(&gzip(body_of))),
            ("Content-Encoding: br, gzip\r\n", gzip(&coded)),
            (
                "Content-Encoding: BR\r\nContent-Encoding: zstd\r\n",
                zstd(&coded),
            ),
            ("Content-Encoding: br, identity, br\r\n", brotli(&coded)),
        ] {
            assert_eq!(body(head, &coded).unwrap(), body_of, "{head}");
        }
    }
    assert_eq!(body(BR, &brotli(b"")).unwrap(), b"");
}

#[test]
fn bodies_that_are_said_to_be_brotli_and_are_not_stay_as_they_are() {
    let latin = "for f\u{fc}r, tilde ~ & more".as_bytes().repeat(100);
    // A metablock of bytes that are not compressed could begin like this.
    let comment = b"%ab\nA comment of TeX.\n".repeat(100);
    for text in [&b"x"[..], b"fine", &latin, &comment, b"<html>ok</html>"] {
        assert_eq!(body(BR, text).unwrap(), text);
    }
    for version in 0..8 {
        let pdf = format!("%PDF-1.{version}\n%");
        let pdf = [pdf.as_bytes(), b"\xE2\xE3\xCF\xD3\n1 0 obj\n\0\0\x01"].concat();
        let found = read_bytes(&response("http://h/", "<urn:1>", BR, &pdf));
        assert_eq!(found.body(0), pdf);
        assert_eq!(found.captures[0].0.coding.as_deref(), Some("br"));
    }
}

#[test]
fn damaged_brotli_is_told() {
    let coded = brotli(&Random::new(3).bytes(200_000));
    let error = body(BR, &coded[..coded.len() - 9]).unwrap_err();
    assert!(error.contains("ends in the middle of its br"), "{error}");
    let error = body(BR, &coded[..9]).unwrap_err();
    assert!(error.contains("ends in the middle of its br"), "{error}");

    let bomb = brotli(&vec![0; 40 << 20]);
    let error = body(BR, &bomb).unwrap_err();
    assert!(error.contains("expands to more than 1000 times"), "{error}");

    let long = Limits {
        decoded: 100_000,
        ..Limits::default()
    };
    let file = crawl("x", &response("http://h/", "<urn:1>", BR, &coded));
    let options = ReadOptions {
        limits: long,
        ..ReadOptions::default()
    };
    let found = read_from(&open_one(&file.path), 0, &options, usize::MAX);
    let error = found.captures[0].1.as_ref().unwrap_err();
    assert!(error.contains("more than 100000 bytes"), "{error}");
}

/// Nothing of this may panic, or come out as something that was not sent.
#[test]
fn noise_that_is_said_to_be_brotli_does_no_harm() {
    let mut random = Random::new(11);
    for _ in 0..2000 {
        let length = random.below(3000);
        let noise: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        let mut coded = brotli(&noise);
        let at = random.below(coded.len());
        coded[at] ^= 1 << random.below(8);
        let _ = body(BR, &noise);
        let _ = body(BR, &coded);
    }
}

#[test]
fn a_coding_that_cannot_be_undone_is_named() {
    for (coding, bytes) in [
        ("aes128gcm", &b"\x0b\x02"[..]),
        ("br", b"\x11\x02\x03\x04"),
        ("dcb, gzip", &gzip(b"\xff\x44\x43\x42")),
    ] {
        let head = format!("Content-Encoding: {coding}\r\n");
        let found = read_bytes(&response("http://h/", "<urn:1>", &head, bytes));

        let first = coding.split(',').next();
        assert_eq!(found.captures[0].0.coding.as_deref(), first);
    }
    let four = body("Content-Encoding: gzip, gzip, gzip, gzip\r\n", b"x").unwrap_err();
    assert!(four.contains("more than 3 content codings"), "{four}");
}

#[test]
fn a_body_that_expands_beyond_measure_is_refused() {
    let mut bomb = vec![0; 40 << 20];
    for _ in 0..2 {
        bomb = gzip(&bomb);
    }
    let head = "Content-Encoding: gzip, gzip\r\n";

    let found = read_bytes(
        &[
            response("http://h/bomb", "<urn:1>", head, &bomb),
            page("http://h/", b"x"),
        ]
        .concat(),
    );

    let error = found.captures[0].1.as_ref().unwrap_err();
    assert!(error.contains("expands"), "{error}");
    assert_eq!(found.body(1), b"x");
}

#[test]
fn a_head_of_http_that_never_ends_is_refused() {
    let long = format!("X: {}\r\n", "x".repeat(400_000));
    let found = read_bytes(
        &[
            response("http://h/", "<urn:1>", &long, b"x"),
            page("http://h/2", b"x"),
        ]
        .concat(),
    );

    assert_eq!(found.urls(), ["http://h/2"]);
    assert_eq!(found.reasons(), ["its HTTP head is too long"]);
}

/// Bodies of several windows, of which some bytes, all, or none are read.
#[test]
fn bodies_need_not_be_read() {
    let large = Random::new(3).bytes(1_500_000);
    let records: Vec<_> = (0..6)
        .map(|n| page(&format!("http://h/{n}"), &large))
        .collect();
    let each: Vec<_> = records.iter().map(|record| gzip(record)).collect();
    let work = |capture: &Capture, body: &mut Body<'_>| {
        assert_eq!(body.length(), Some(large.len() as u64));
        let most = match &capture.url[9..] {
            "0" => 0,
            "1" => 1,
            "2" => 700_000,
            _ => u64::MAX,
        };
        let mut read = Vec::new();
        body.take(most).read_to_end(&mut read).unwrap();
        assert!(large.starts_with(&read));
        read.len()
    };
    for bytes in [records.concat(), each.concat(), gzip(&records.concat())] {
        let file = crawl("x", &bytes);
        let mut lengths = Vec::new();
        open_one(&file.path)
            .read(0, &ReadOptions::default(), &work, &mut |news| {
                if let SourceEvent::Capture(_, length) = news {
                    lengths.push(length);
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        let all = large.len();
        assert_eq!(lengths, [0, 1, 700_000, all, all, all]);
    }
}
