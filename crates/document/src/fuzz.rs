//! Fuzz targets: containers, media types and URLs of hostile documents.

use std::io::Write;
use std::ops::ControlFlow;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};

use crate::container::{self, Containers, Limits};
use crate::{media_type, url};

/// Small enough that a bomb is found out within a moment.
const LIMITS: Limits = Limits {
    ratio: 200,
    free: 1 << 16,
    size: 1 << 20,
    depth: 2,
    members: 50,
};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

fn tar(name: &str, content: &[u8]) -> Vec<u8> {
    let mut header = [0; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..108].copy_from_slice(b"0000644\0");
    header[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
    header[148..156].fill(b' ');
    header[156] = b'0';
    header[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut tar = header.to_vec();
    tar.extend_from_slice(content);
    tar.resize(tar.len().next_multiple_of(512) + 1024, 0);
    tar
}

fn zip(name: &str, content: &[u8]) -> Vec<u8> {
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::fast());
    deflate.write_all(content).unwrap();
    let packed = deflate.finish().unwrap();
    let mut crc = flate2::Crc::new();
    crc.update(content);
    let mut zip = b"PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0".to_vec();
    zip.extend(crc.sum().to_le_bytes());
    zip.extend(u32::try_from(packed.len()).unwrap().to_le_bytes());
    zip.extend(u32::try_from(content.len()).unwrap().to_le_bytes());
    zip.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
    zip.extend([0, 0]);
    zip.extend_from_slice(name.as_bytes());
    zip.extend(packed);
    zip.extend(b"PK\x05\x06");
    zip
}

/// Opens a container of any kind and checks what its members are called and how long they are.
fn open(bytes: &[u8]) {
    let mut total = 0;
    let mut names = std::collections::HashSet::new();
    let _ = container::open(
        bytes,
        &mut std::io::empty(),
        Containers::ALL,
        &LIMITS,
        &mut |path, content| {
            assert!(path.split('/').all(|part| part != ".."), "{path}");
            assert!(
                !path.starts_with('/') && !path.contains(char::is_control),
                "{path:?}"
            );
            assert!(names.insert(path.to_owned()), "{path} is there twice");
            let mut buffer = [0; 4096];
            while let Ok(1..) = content.read(&mut buffer).inspect(|count| total += count) {}
            assert!(total <= 8 << 20, "the limits bound what comes out");
            ControlFlow::Continue(())
        },
    );
}

#[test]
fn tar_archives_are_opened_within_limits() {
    let inner = tar("a/../b.pdf", b"%PDF-1.4 x");
    let seeds = vec![
        tar("inner.tar.gz", &gzip(&inner)),
        inner,
        tar("x", &zip("y", b"z")),
    ];
    test_support::fuzz!(seeds, open);
}

#[test]
fn zip_archives_are_opened_within_limits() {
    let inner = zip("../../b.pdf", b"%PDF-1.4 x");
    let seeds = vec![
        zip("inner.zip", &inner),
        inner,
        zip("bomb", &vec![0; 1 << 18]),
    ];
    test_support::fuzz!(seeds, open);
}

#[test]
fn gzip_layers_are_opened_within_limits() {
    let seeds = vec![
        gzip(b"%!PS-Adobe-3.0"),
        gzip(&gzip(&gzip(b"deep"))),
        gzip(&tar("a", b"b")),
    ];
    test_support::fuzz!(seeds, open);
}

#[test]
fn media_types_are_found_for_any_bytes() {
    let mut seeds: Vec<Vec<u8>> = [
        &b"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n1 0 obj\n<</Type/Catalog>>\nendobj\n"[..],
        b"%!PS-Adobe-3.0\n%%BoundingBox: 0 0 1 1\n",
        b"<!DOCTYPE html><html><body>a</body></html>",
        b"<?xml version='1.0'?><rss/>",
        b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1",
        b"\x89PNG\r\n\x1A\n",
        b"plain text\n",
    ]
    .map(<[u8]>::to_vec)
    .to_vec();
    seeds.push(zip("word/document.xml", b"<w:document/>"));
    test_support::fuzz!(seeds, |bytes| {
        for declared in [None, Some("application/pdf"), Some("a/b; c=\"d")] {
            let decision = media_type::decide(declared, bytes);
            assert!(decision.decided.contains('/'), "{decision:?}");
        }
        assert!(media_type::decide_named(bytes).contains('/'));
    });
}

#[test]
fn urls_are_normalised_once_and_for_all() {
    let seeds = [
        "HTTP://www.Example.EDU:80/~tom/./pub/../P\u{e1}pers/a b.pdf#page=2",
        "http://user:pass@[::1]:8080/%7e%2F%zz?a=%41&b=c d#e",
        "ftp://xn--bcher-kva.example/\u{202e}x",
        "file:///C:/x/../y",
        "file://0X//C:/x",
        "data:text/plain,x",
    ];
    let seeds = seeds.map(|seed| seed.as_bytes().to_vec()).to_vec();
    test_support::fuzz!(seeds, |bytes| {
        let Ok(normal) = url::normalise(&String::from_utf8_lossy(bytes)) else {
            return;
        };
        let again = url::normalise(&normal.url).expect("a normal URL is a URL");
        assert_eq!(again, normal);
        assert!(
            normal.url.bytes().all(|byte| byte.is_ascii_graphic()),
            "{}",
            normal.url
        );
    });
}
