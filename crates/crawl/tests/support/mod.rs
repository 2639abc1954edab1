//! Archives made for tests, and what is read from them.
#![allow(dead_code, reason = "each file of tests uses a part of it")]

use std::fs;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crawl::{Body, Capture, Ended, Limits, ReadOptions, Skipped, Source, SourceEvent};
use flate2::Compression;
use flate2::write::GzEncoder;

/// All items of a source.
#[derive(Debug, Default)]
pub(crate) struct ReadResult {
    pub(crate) captures: Vec<(Capture, Result<Vec<u8>, String>)>,
    pub(crate) late: Vec<Capture>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) noted: Vec<Skipped>,
    /// Where reading can begin, and how many captures had been handed over then.
    pub(crate) positions: Vec<(u64, usize)>,
    pub(crate) ended: Option<Ended>,
}

impl ReadResult {
    pub(crate) fn urls(&self) -> Vec<&str> {
        let urls = self
            .captures
            .iter()
            .map(|(capture, _)| capture.url.as_str());
        urls.collect()
    }

    pub(crate) fn body(&self, index: usize) -> &[u8] {
        self.captures[index].1.as_ref().unwrap()
    }

    pub(crate) fn reasons(&self) -> Vec<&str> {
        let reasons = self.skipped.iter().map(|skipped| skipped.reason.as_str());
        reasons.collect()
    }
}

pub(crate) fn options(threads: usize, segment: u64) -> ReadOptions {
    ReadOptions {
        threads,
        limits: Limits {
            segment,
            ..Limits::default()
        },
        ..ReadOptions::default()
    }
}

pub(crate) fn whole_body(_: &Capture, body: &mut Body<'_>) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    match body.read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn open_one(path: &Path) -> Source {
    let mut sources = crawl::open(path, &Limits::default()).unwrap();
    assert_eq!(sources.len(), 1, "{sources:?}");
    sources.remove(0)
}

/// Reads a source; after `most` captures it has enough.
pub(crate) fn read_from(
    source: &Source,
    from: u64,
    options: &ReadOptions,
    most: usize,
) -> ReadResult {
    let mut found = ReadResult::default();
    let ended = source.read(from, options, &whole_body, &mut |news| {
        match news {
            SourceEvent::Capture(capture, body) => found.captures.push((*capture, body)),
            SourceEvent::Late(capture) => found.late.push(*capture),
            SourceEvent::Checked(_) => {}
            SourceEvent::Skipped(skipped) => found.skipped.push(skipped),
            SourceEvent::Noted(noted) => found.noted.push(noted),
            SourceEvent::Position(position) => {
                found.positions.push((position, found.captures.len()));
            }
        }
        match found.captures.len() >= most {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    found.ended = Some(ended.unwrap());
    found
}

pub(crate) fn read(path: &Path) -> ReadResult {
    read_from(&open_one(path), 0, &ReadOptions::default(), usize::MAX)
}

/// A directory with one file in it.
pub(crate) struct Crawl {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

pub(crate) fn crawl(name: &str, bytes: &[u8]) -> Crawl {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, bytes).unwrap();
    Crawl { directory, path }
}

pub(crate) fn read_bytes(bytes: &[u8]) -> ReadResult {
    read(&crawl("crawl", bytes).path)
}

/// One record with the fields that are given.
pub(crate) fn record(fields: &[(&str, &str)], block: &[u8]) -> Vec<u8> {
    let mut bytes = b"WARC/1.0\r\n".to_vec();
    for (name, value) in fields {
        bytes.extend(format!("{name}: {value}\r\n").bytes());
    }
    bytes.extend(format!("Content-Length: {}\r\n\r\n", block.len()).bytes());
    bytes.extend(block);
    bytes.extend(b"\r\n\r\n");
    bytes
}

pub(crate) const DATE: &str = "2024-02-03T04:05:06Z";
pub(crate) const SECONDS: i64 = 1_706_933_106;

pub(crate) fn response(url: &str, id: &str, head: &str, body: &[u8]) -> Vec<u8> {
    let block = [format!("HTTP/1.1 200 OK\r\n{head}\r\n").as_bytes(), body].concat();
    let fields = [
        ("WARC-Type", "response"),
        ("WARC-Record-ID", id),
        ("WARC-Date", DATE),
        ("WARC-Target-URI", url),
        ("Content-Type", "application/http; msgtype=response"),
    ];
    record(&fields, &block)
}

/// A response that has nothing special.
pub(crate) fn page(url: &str, body: &[u8]) -> Vec<u8> {
    response(
        url,
        &format!("<urn:{url}>"),
        "Content-Type: text/plain\r\n",
        body,
    )
}

pub(crate) fn arc_record(url: &str, block: &[u8]) -> Vec<u8> {
    let line = format!("{url} 1.2.3.4 20240203040506 text/plain {}\n", block.len());
    [line.as_bytes(), block, b"\n"].concat()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    compressed(bytes, Compression::default())
}

/// As gzip keeps what cannot be made smaller.
pub(crate) fn stored(bytes: &[u8]) -> Vec<u8> {
    compressed(bytes, Compression::none())
}

fn compressed(bytes: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

pub(crate) fn brotli(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 22);
    encoder.write_all(bytes).unwrap();
    encoder.into_inner()
}

/// Numbers that are the same in every run (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, most: usize) -> usize {
        (self.next() % most.max(1) as u64) as usize
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// Text, or what cannot be made smaller.
    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        let text = self.one_in(2);
        let byte = |random: &mut Self| match text {
            true => b"some words \r\n"[random.below(13)],
            false => random.next() as u8,
        };
        (0..length).map(|_| byte(self)).collect()
    }
}

/// A ZIP file of members that are stored, or deflated.
pub(crate) fn zip(members: &[(&str, &[u8], bool)]) -> Vec<u8> {
    let (mut zip, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes, deflate) in members {
        let data = match deflate {
            // Gzip is deflate between a head of ten bytes and a trailer of eight.
            true => gzip(bytes)[10..]
                .split_last_chunk::<8>()
                .unwrap()
                .0
                .to_vec(),
            false => bytes.to_vec(),
        };
        let offset = zip.len() as u32;
        let mut common = vec![20, 0, 0, 0, if *deflate { 8 } else { 0 }, 0];
        let mut sum = flate2::Crc::new();
        sum.update(bytes);
        common.extend([0; 4]);
        common.extend(sum.sum().to_le_bytes());
        common.extend((data.len() as u32).to_le_bytes());
        common.extend((bytes.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        zip.extend(b"PK\x03\x04");
        zip.extend(&common);
        zip.extend(name.as_bytes());
        zip.extend(&data);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let offset = zip.len() as u32;
    zip.extend(&directory);
    zip.extend(b"PK\x05\x06\0\0\0\0");
    zip.extend([(members.len() as u16).to_le_bytes(); 2].concat());
    zip.extend((directory.len() as u32).to_le_bytes());
    zip.extend(offset.to_le_bytes());
    zip.extend([0, 0]);
    zip
}
