//! Records in DIDL, ours and others', and what is found in them.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::io::Write;
use std::time::{Duration, UNIX_EPOCH};

use flate2::Compression;
use flate2::write::GzEncoder;
use harvester::unpack::{Error, Resource, resources};
use oai::format::didl::Didl;
use oai::format::http_header;
use oai::xml::Writer;

const URL: &str = "http://a.example/caf%C3%A9.txt?a=1&b=2";

/// A record as our own provider writes it.
fn own_record(bytes: &[u8], sha1: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut xml = Writer::new(&mut out);
    xml.start(
        "record",
        &[("xmlns", "http://www.openarchives.org/OAI/2.0/")],
    )
    .unwrap();
    xml.start("metadata", &[]).unwrap();
    let mut didl = Didl::begin(&mut xml, "urn:uuid:1", URL).unwrap();
    didl.modified("2020-01-01T00:00:00Z").unwrap();
    let fields = [
        ("Content-Type".to_owned(), "text/plain".to_owned()),
        (
            "Last-Modified".to_owned(),
            "Tue, 14 Nov 2023 22:13:20 GMT".to_owned(),
        ),
        ("ETag".to_owned(), "\"a<b\"".to_owned()),
    ];
    didl.descriptor(|xml| http_header::write(xml, "http://a.example/s.xsd", 200, &fields))
        .unwrap();
    didl.begin_component().unwrap();
    didl.digests(&[("sha1", sha1)]).unwrap();
    didl.by_value("text/plain", bytes, bytes.len() as u64)
        .unwrap();
    didl.finish_by_reference("text/plain", URL).unwrap();
    xml.end("metadata").unwrap();
    xml.end("record").unwrap();
    out
}

fn didl(content: &str) -> Vec<u8> {
    format!(
        "<record xmlns='http://www.openarchives.org/OAI/2.0/'><metadata>\
         <d:DIDL xmlns:d='urn:mpeg:mpeg21:2002:02-DIDL-NS' xmlns:dii='urn:mpeg:mpeg21:2002:01-DII-NS'>\
         {content}</d:DIDL></metadata></record>"
    )
    .into_bytes()
}

fn resource(attributes: &str, content: &str) -> Vec<u8> {
    didl(&format!(
        "<d:Item><d:Component><d:Resource {attributes}>{content}</d:Resource>\
         <d:Resource mimeType='text/plain' ref='http://a.example/x'/></d:Component></d:Item>"
    ))
}

fn bytes(resource: &Resource<'_>) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    resource.copy_to(&mut bytes, 1_000_000).map(|_| bytes)
}

#[test]
fn our_own_records_give_back_the_file() {
    for length in [0, 1, 5, 300_000] {
        let content: Vec<u8> = (0..length).map(|n| (n % 253) as u8).collect();
        let digest = <sha1::Sha1 as sha1::Digest>::digest(&content);
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let record = own_record(&content, &hex);

        let found = resources(&record).unwrap();

        assert_eq!(found.len(), 1);
        let resource = &found[0];
        assert_eq!(resource.url, URL);
        assert_eq!(resource.reference.as_deref(), Some(URL));
        assert_eq!(resource.media_type.as_deref(), Some("text/plain"));
        assert_eq!(
            resource.modified,
            Some(UNIX_EPOCH + Duration::from_secs(1_700_000_000))
        );
        let http = resource.http.as_ref().unwrap();
        assert_eq!((http.status, http.field("etag")), (200, Some("\"a<b\"")));
        assert_eq!(bytes(resource).unwrap(), content);
    }
}

#[test]
fn wrong_bytes_are_named() {
    let record = own_record(b"hello", "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    let found = resources(&record).unwrap();

    let error = bytes(&found[0]).unwrap_err();

    assert_eq!(
        error.to_string(),
        format!(
            "the bytes of `{URL}` are not those recorded: their sha1 is \
             aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d, recorded is \
             da39a3ee5e6b4b0d3255bfef95601890afd80709"
        )
    );
    let mut checked = found[0].checked(Vec::new());
    checked.write_all(b"").unwrap();
    assert_eq!(
        checked.finish().unwrap(),
        0,
        "bytes got by reference are checked alike"
    );
}

#[test]
fn records_of_eprints_give_files_by_reference() {
    let record = didl(
        "<d:Item><d:Descriptor><d:Statement mimeType='application/xml'>\
         <dii:Identifier>http://eprints.example/1</dii:Identifier></d:Statement></d:Descriptor>\
         <d:Descriptor><d:Statement mimeType='application/xml'><m:modified xmlns:m='http://purl.org/dc/terms/'>\
         2007-11-28T08:03:25Z</m:modified></d:Statement></d:Descriptor>\
         <d:Component><d:Resource ref='http://eprints.example/1/' mimeType='text/html'/></d:Component>\
         <d:Item><d:Component><d:Resource mimeType='application/xml'><dc><title>metadata</title></dc></d:Resource>\
         </d:Component></d:Item>\
         <d:Item><d:Component><d:Resource ref='http://eprints.example/1/1/p.pdf' mimeType='application/pdf'/>\
         </d:Component></d:Item></d:Item>",
    );

    let found = resources(&record).unwrap();

    let urls: Vec<_> = found.iter().map(|resource| resource.url.as_str()).collect();
    assert_eq!(
        urls,
        [
            "http://eprints.example/1/",
            "http://eprints.example/1/1/p.pdf"
        ]
    );
    assert_eq!(
        found[0].modified,
        Some(UNIX_EPOCH + Duration::from_secs(1_196_237_005))
    );
    assert_eq!(found[1].modified, None);
    assert!(found.iter().all(|resource| resource.value.is_none()));
}

#[test]
fn bytes_of_lanl_records_are_unpacked() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(b"hello").unwrap();
    let text = base64_simd::STANDARD.encode_to_string(packed.finish().unwrap());
    let (start, end) = text.split_at(10);
    let record = didl(&format!(
        "<d:Item><d:Component><d:Descriptor><d:Statement mimeType='application/xml'>\
         <dii:Identifier>info:lanl-repo/ds/1</dii:Identifier></d:Statement></d:Descriptor>\
         <d:Resource mimeType='text/plain' encoding='base64' contentEncoding='gzip'>\n{start}&#13;\n<!-- -->\
         <![CDATA[{end}]]>\n</d:Resource></d:Component></d:Item>"
    ));

    let found = resources(&record).unwrap();

    assert_eq!(found[0].url, "info:lanl-repo/ds/1");
    assert_eq!(bytes(&found[0]).unwrap(), b"hello");
}

#[test]
fn text_by_value_is_taken_as_it_is() {
    let record = resource("mimeType='text/plain'", "a &lt; b &#233;");
    assert_eq!(
        bytes(&resources(&record).unwrap()[0]).unwrap(),
        "a < b \u{e9}".as_bytes()
    );
}

#[test]
fn packed_bombs_stop_at_the_limit() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&vec![0; 20_000_000]).unwrap();
    let text = base64_simd::STANDARD.encode_to_string(packed.finish().unwrap());
    let record = resource(
        "mimeType='a/b' encoding='base64' contentEncoding='gzip'",
        &text,
    );

    let mut out = Vec::new();
    let error = resources(&record).unwrap()[0]
        .copy_to(&mut out, 1_000_000)
        .unwrap_err();

    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    assert!(out.len() <= 1_000_000);
}

#[test]
fn damaged_bytes_are_errors() {
    for (attributes, content) in [
        ("encoding='base64'", "aGVsbG8"),
        ("encoding='base64'", "aGVs&amp;bG8="),
        ("encoding='base64' contentEncoding='gzip'", "aGVsbG8="),
        ("encoding='base64' contentEncoding='zstd'", "aGVsbG8="),
    ] {
        let record = resource(&format!("mimeType='a/b' {attributes}"), content);
        let error = bytes(&resources(&record).unwrap()[0]).unwrap_err();
        assert!(error.to_string().contains("http://a.example/x"), "{error}");
    }
}

#[test]
fn hostile_records_are_refused() {
    let deep = didl(&format!("{}{}", "<a>".repeat(300), "</a>".repeat(300)));
    for record in [
        &b"<!DOCTYPE r [<!ENTITY a 'b'>]><r>&a;</r>"[..],
        b"<r>&unknown;</r>",
        b"<r><a></r>",
        b"<r>",
        b"<x:r/>",
        b"\xff\xfe",
        &deep,
        &didl(
            "<d:Item><d:Component><d:Resource encoding='base64'>AA==</d:Resource></d:Component></d:Item>",
        ),
    ] {
        assert!(
            resources(record).is_err(),
            "{}",
            String::from_utf8_lossy(record)
        );
    }
}

#[test]
fn records_without_files_give_none() {
    for record in [
        &b"<record><header status='deleted'/></record>"[..],
        b"<record><metadata><dc/></metadata></record>",
        b"",
    ] {
        assert!(resources(record).unwrap().is_empty());
    }
}

#[test]
fn random_damage_never_panics() {
    let record = own_record(&[7; 500], "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    let mut seed = 1_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below.max(1)
    };
    for _ in 0..5000 {
        let mut damaged = record.clone();
        for _ in 0..=random(4) {
            let at = random(damaged.len());
            match random(3) {
                0 => damaged[at] = b"<>&;/'\"= x\0"[random(11)],
                1 if damaged.len() > 1 => drop(damaged.remove(at)),
                _ => damaged.truncate(at.max(1)),
            }
        }
        if let Ok(found) = resources(&damaged) {
            found.iter().for_each(|resource| drop(bytes(resource)));
        }
    }
}
