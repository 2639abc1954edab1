//! WARC records written to anything that takes bytes, one after the other: the same records always give the same bytes.

use std::io::{self, Read, Write};
use std::time::SystemTime;

use data_encoding::BASE32_NOPAD;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha1::{Digest, Sha1};

use super::digest::{each_block, named_id};
use super::head::{self, Head};

/// A record that was got or made of one that was.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Its type.
    pub kind: RecordKind,
    /// The URL.
    pub url: &'a str,
    /// When its bytes were got.
    pub captured_at: SystemTime,
    /// The media type of its block.
    pub media_type: &'a str,
    /// The SHA-1 of its block.
    pub sha1: [u8; 20],
    /// How many bytes its block has.
    pub length: u64,
    /// The record that it was made of, or tells of.
    pub refers_to: Option<&'a str>,
}

/// The type of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordKind {
    /// A resource without the headers that it came with.
    Resource,
    /// Another form of a resource.
    Conversion,
    /// Facts about a resource.
    Metadata,
}

/// Writes records. The name of each is made of what it is, and no clock is read.
#[derive(Debug)]
pub struct Records<W: Write> {
    out: W,
    /// Whether each record is a gzip member of its own.
    is_compressed: bool,
    info: Option<String>,
}

impl<W: Write> Records<W> {
    /// Writes records to `out`.
    pub fn new(out: W, is_compressed: bool) -> Self {
        Self {
            out,
            is_compressed,
            info: None,
        }
    }

    /// Writes a record with the bytes of `body`, and returns its name. The first comes behind a `warcinfo` record, which
    /// has its date. `body` must have as many bytes as the record says.
    pub fn write(&mut self, record: &Record<'_>, body: &mut dyn Read) -> io::Result<String> {
        let info = match self.info.clone() {
            Some(info) => info,
            None => self.info(record.captured_at)?,
        };
        let kind = record.kind.name();
        let date = head::date_text(record.captured_at);
        let id = named_id(&[kind, record.url, &date, &BASE32_NOPAD.encode(&record.sha1)]);
        let mut head = Head::new(kind, &id, record.captured_at);
        head.field("WARC-Target-URI", &head::target(record.url));
        head.field("WARC-Warcinfo-ID", &info);
        if let Some(other) = record.refers_to {
            head.field("WARC-Refers-To", other);
        }
        let digest = format!("sha1:{}", BASE32_NOPAD.encode(&record.sha1));
        head.field("WARC-Payload-Digest", &digest);
        head.field("WARC-Block-Digest", &digest);
        head.field("Content-Type", record.media_type);
        self.record(&head.finish(record.length), record.length, body)?;
        Ok(id)
    }

    /// Writes the `warcinfo` record now, with a date, if there is none yet.
    pub fn begin(&mut self, date: SystemTime) -> io::Result<()> {
        if self.info.is_none() {
            self.info(date)?;
        }
        Ok(())
    }

    /// The writer.
    pub fn get_ref(&self) -> &W {
        &self.out
    }

    /// The writer, once all is written.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn info(&mut self, date: SystemTime) -> io::Result<String> {
        let software = concat!("garner/", env!("CARGO_PKG_VERSION"));
        let block = format!(
            "software: {software}\r\nformat: WARC File Format 1.1\r\n{}",
            super::writer::CONFORMS_TO
        );
        let id = named_id(&["warcinfo", &head::date_text(date)]);
        let mut head = Head::new("warcinfo", &id, date);
        let digest = BASE32_NOPAD.encode(&Sha1::digest(&block));
        head.field("WARC-Block-Digest", &format!("sha1:{digest}"));
        head.field("Content-Type", "application/warc-fields");
        let length = block.len() as u64;
        self.record(&head.finish(length), length, &mut block.as_bytes())?;
        self.info = Some(id.clone());
        Ok(id)
    }

    fn record(&mut self, head: &str, length: u64, body: &mut dyn Read) -> io::Result<()> {
        let out = &mut self.out;
        if !self.is_compressed {
            return whole(out, head, length, body);
        }
        let mut member = GzEncoder::new(out, Compression::default());
        whole(&mut member, head, length, body)?;
        member.finish().map(drop)
    }
}

fn whole(out: &mut dyn Write, head: &str, length: u64, body: &mut dyn Read) -> io::Result<()> {
    out.write_all(head.as_bytes())?;
    if each_block(body, |bytes| out.write_all(bytes))? != length {
        return Err(io::Error::other(
            "the bytes of a record changed while they were written",
        ));
    }
    out.write_all(b"\r\n\r\n")
}

impl RecordKind {
    fn name(self) -> &'static str {
        match self {
            Self::Resource => "resource",
            Self::Conversion => "conversion",
            Self::Metadata => "metadata",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(is_compressed: bool) -> Vec<u8> {
        let mut records = Records::new(Vec::new(), is_compressed);
        let mut record = Record {
            kind: RecordKind::Resource,
            url: "http://a.example/a b",
            captured_at: SystemTime::UNIX_EPOCH,
            media_type: "text/plain",
            sha1: Sha1::digest("hello").into(),
            length: 5,
            refers_to: None,
        };
        let id = records.write(&record, &mut "hello".as_bytes()).unwrap();
        record.kind = RecordKind::Conversion;
        record.refers_to = Some(&id);
        records.write(&record, &mut "hello".as_bytes()).unwrap();
        record.length = 6;
        assert!(records.write(&record, &mut "hello".as_bytes()).is_err());
        records.into_inner()
    }

    #[test]
    fn the_same_records_give_the_same_bytes() {
        let plain = written(false);
        assert_eq!(plain, written(false));
        assert_eq!(written(true), written(true));
        let text = String::from_utf8(plain).unwrap();
        assert!(text.contains("WARC-Target-URI: http://a.example/a%20b\r\n"));
        assert!(text.contains("\r\n\r\nhello\r\n\r\nWARC/1.1\r\nWARC-Type: conversion\r\n"));
    }
}
