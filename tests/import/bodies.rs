//! Bodies in codings, and bodies that are not what they are declared as.

use std::io::Write;

use serde_json::json;

use super::crawl::{Crawl, Warc, date, pdf};
use crate::command_line::stdout;

/// A response whose head has this line.
fn coded(warc: &mut Warc, url: &str, media_type: &str, line: &str, body: &[u8]) {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n{line}\r\n\r\n");
    let block = [head.as_bytes(), body].concat();
    let headers = "Content-Type: application/http; msgtype=response\r\n";
    warc.record("response", url, &date(warc.offsets.len()), headers, &block);
}

fn brotli(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 22);
    encoder.write_all(bytes).unwrap();
    encoder.into_inner()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Issue 18, A2: what browsers are sent is stored as it was before it was encoded, and never in its coding.
#[test]
fn bodies_are_stored_without_their_codings_or_not_at_all() {
    let (one, two, three) = (pdf(1), pdf(2), pdf(3));
    let noise: Vec<u8> = (0..3000_u32).map(|n| (n * n / 7 % 251) as u8).collect();
    let mut warc = Warc::default();
    let mut add = |path: &str, line: &str, body: &[u8]| {
        let url = format!("http://a.example/{path}");
        coded(&mut warc, &url, "application/pdf", line, body);
    };
    add("br.pdf", "Content-Encoding: br", &brotli(&one));
    add(
        "both.pdf",
        "Content-Encoding: gzip, br",
        &brotli(&gzip(&two)),
    );
    add("plain.pdf", "Content-Encoding: br", &three);
    add("broken.pdf", "Content-Encoding: br", &brotli(&noise)[..900]);
    add("other.pdf", "Content-Encoding: br", &noise);
    add("secret.pdf", "Content-Encoding: aes128gcm", &noise);
    let page = "<!DOCTYPE html><html><p>a page</p></html>";
    let url = "http://a.example/";
    coded(
        &mut warc,
        url,
        "text/html",
        "Content-Encoding: br",
        &brotli(page.as_bytes()),
    );
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", &warc.bytes);

    let printed = crawl.import(3, &["a.warc.gz", "--types", "application/pdf,text/html"]);

    assert_eq!(printed["saved_New"], json!(4), "{printed}");
    assert_eq!(printed["failed_Read"], json!(3), "{printed}");
    let left = crawl.left();
    for body in [&one[..], &two, &three, page.as_bytes()] {
        assert!(left.contents.contains(body));
    }
    assert_eq!(left.contents.len(), 4);
    let report = std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap();
    assert!(
        report.contains("broken.pdf: the body ends in the middle of its br coding"),
        "{report}"
    );
    assert!(
        report.contains("other.pdf: the content coding br cannot be undone"),
        "{report}"
    );
    assert!(
        report.contains("secret.pdf: the content coding aes128gcm cannot be undone"),
        "{report}"
    );
}

/// Issue 18, A5.
#[test]
fn bytes_decide_what_is_a_pdf() {
    let noise: Vec<u8> = (0..3000_u32).map(|n| (n * n / 7 % 251) as u8).collect();
    let least = b"%PDF-1.4\n%%EOF\n";
    let mut warc = Warc::default();
    warc.response(
        "http://a.example/noise.pdf",
        &date(1),
        "application/pdf",
        &noise,
    );
    warc.response(
        "http://a.example/empty.pdf",
        &date(2),
        "application/pdf",
        b"",
    );
    warc.response("http://a.example/least.pdf", &date(3), "text/plain", least);
    warc.response(
        "http://a.example/words.pdf",
        &date(4),
        "application/pdf",
        b"only words",
    );
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", &warc.bytes);

    let output = crawl.garner(&["import", "a.warc.gz"]).output();

    let printed = [stdout(&output), crate::command_line::stderr(&output)].concat();
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let documents = crawl.documents();
    assert_eq!(documents.len(), 1, "{documents:?}");
    assert_eq!(documents[0]["url"], "http://a.example/least.pdf");
    assert_eq!(documents[0]["media_type"], "application/pdf");
    assert!(
        printed.contains("application/octet-stream, declared as application/pdf"),
        "{printed}"
    );
}

/// Stored blocks hold the document as it is, behind a head that is damaged or of a coding that is not known.
#[test]
fn a_document_inside_of_bytes_whose_coding_cannot_be_undone_is_not_stored() {
    let one = pdf(1);
    let gzip_stored = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let mut damaged = gzip_stored(&one);
    damaged[1] ^= 7;
    let mut warc = Warc::default();
    let mut add = |path: &str, coding: &str, body: &[u8]| {
        let url = format!("http://a.example/{path}");
        let line = format!("Content-Encoding: {coding}");
        coded(&mut warc, &url, "application/pdf", &line, body);
    };
    add("gzip.pdf", "gzip", &damaged);
    add(
        "zstd.pdf",
        "zstd",
        &[b"\x28\xB5\x2F\xFE\0\x58\x01\x02\x03", &one[..]].concat(),
    );
    add(
        "lz4.pdf",
        "lz4",
        &[b"\x04\x22\x4D\x18\x60\x40\x82", &one[..]].concat(),
    );
    add("exi.pdf", "exi", &[b"junk", &one[..]].concat());
    // Servers and crawlers name a coding and give plain bytes.
    for (number, coding) in ["gzip", "zstd", "deflate", "br", "exi", "utf-8"]
        .iter()
        .enumerate()
    {
        let plain = [b"\r\n", &pdf(10 + number)[..]].concat();
        add(&format!("plain-{coding}.pdf"), coding, &plain);
    }
    let crawl = Crawl::new();
    let path = crawl.write("a.warc.gz", &warc.bytes);

    let printed = crawl.import(3, &["a.warc.gz"]);

    assert_eq!(printed["saved_New"], json!(6), "{printed}");
    assert_eq!(printed["failed_Read"], json!(4), "{printed}");
    let report = std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap();
    for name in ["gzip", "zstd", "lz4", "exi"] {
        let said = format!("{name}.pdf: the content coding {name} cannot be undone");
        assert!(report.contains(&said), "{report}");
    }
    let extract = |url: &str| {
        let command = crate::garner().args(["warc", "extract", path.to_str().unwrap(), url]);
        command.output()
    };
    let refused = extract("http://a.example/exi.pdf");
    assert_eq!(refused.status.code(), Some(1));
    assert!(refused.stdout.is_empty());
    let plain = extract("http://a.example/plain-gzip.pdf");
    assert_eq!(plain.stdout, [b"\r\n", &pdf(10)[..]].concat());
}

#[test]
fn a_chunked_body_that_was_cut_off_is_named_in_the_report() {
    let one = pdf(30);
    let chunked = |bytes: &[u8]| -> Vec<u8> {
        let chunks = bytes
            .chunks(100)
            .map(|chunk| [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat());
        chunks.collect::<Vec<_>>().concat()
    };
    let mut warc = Warc::default();
    let mut add = |path: &str, body: &[u8]| {
        let url = format!("http://a.example/{path}");
        let line = "Transfer-Encoding: chunked";
        coded(&mut warc, &url, "application/pdf", line, body);
    };
    add("cut.pdf", &chunked(&one[..300]));
    add("whole.pdf", &[&chunked(&one)[..], b"0\r\n\r\n"].concat());
    add(
        "beyond.pdf",
        &[b"ffffffffffffffffff\r\n", &one[..]].concat(),
    );
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", &warc.bytes);

    let printed = crawl.import(3, &["a.warc.gz"]);

    assert_eq!(printed["saved_New"], json!(2), "{printed}");
    assert_eq!(printed["failed_Read"], json!(1), "{printed}");
    let report = std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap();
    assert!(
        report.contains("cut.pdf: its body ends without its last chunk"),
        "{report}"
    );
    assert!(
        report.contains("beyond.pdf: a chunk of the body has no size"),
        "{report}"
    );
    assert!(!report.contains("whole.pdf"), "{report}");
}

#[test]
fn a_revisit_of_a_body_that_was_sent_compressed_or_in_chunks_finds_its_original() {
    let one = pdf(1);
    let chunks = [
        format!("{:x}\r\n", one.len()).as_bytes(),
        &one,
        b"\r\n0\r\n\r\n",
    ]
    .concat();
    for (line, body) in [
        ("X-Is: plain", one.clone()),
        ("Content-Encoding: gzip", gzip(&one)),
        ("Transfer-Encoding: chunked", chunks),
    ] {
        let digest = document::digest::Digests::of(&body).sha1_hex();
        let digest = format!("WARC-Payload-Digest: sha1:{digest}\r\n");
        let kind = format!("Content-Type: application/http; msgtype=response\r\n{digest}");
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n{line}\r\n\r\n");
        let mut warc = Warc::default();
        let block = [head.as_bytes(), &body].concat();
        warc.record(
            "response",
            "http://a.example/1.pdf",
            &date(1),
            &kind,
            &block,
        );
        let again = b"HTTP/1.1 200 OK\r\n\r\n";
        warc.record("revisit", "http://b.example/2.pdf", &date(2), &kind, again);
        let crawl = Crawl::new();
        crawl.write("a.warc.gz", &warc.bytes);

        let printed = crawl.import(0, &["a.warc.gz"]);

        assert_eq!(printed["revisits_Unknown"], json!(0), "{line}: {printed}");
        let left = crawl.left();
        let urls: Vec<_> = left.documents.keys().map(String::as_str).collect();
        let wanted = ["http://a.example/1.pdf", "http://b.example/2.pdf"];
        assert_eq!(urls, wanted.map(|url| format!("\"{url}\" null")), "{line}");
    }
}
