//! The head of a WARC record (ISO 28500), also as 0.17 and 0.18 had it.

use std::borrow::Cow;

use super::fields;
use crate::url;

/// The fields of a WARC head that garner uses.
#[derive(Debug, Default)]
pub(in crate::archive) struct WarcHead<'a> {
    pub(in crate::archive) kind: Cow<'a, [u8]>,
    pub(in crate::archive) length: u64,
    pub(in crate::archive) id: Cow<'a, [u8]>,
    pub(in crate::archive) date: Cow<'a, [u8]>,
    pub(in crate::archive) url: Cow<'a, [u8]>,
    pub(in crate::archive) content_type: Cow<'a, [u8]>,
    pub(in crate::archive) payload_digest: Cow<'a, [u8]>,
    pub(in crate::archive) block_digest: Cow<'a, [u8]>,
    /// The records that this one belongs to.
    pub(in crate::archive) concurrent_to: Vec<Cow<'a, [u8]>>,
    pub(in crate::archive) refers_to: Cow<'a, [u8]>,
    pub(in crate::archive) refers_to_url: Cow<'a, [u8]>,
    pub(in crate::archive) refers_to_date: Cow<'a, [u8]>,
    pub(in crate::archive) truncated: Cow<'a, [u8]>,
    pub(in crate::archive) segment: Cow<'a, [u8]>,
    pub(in crate::archive) segment_origin: Cow<'a, [u8]>,
    pub(in crate::archive) segment_total: Cow<'a, [u8]>,
    /// Its lines end in LF alone, so the record does too.
    pub(in crate::archive) is_lf: bool,
}

impl<'a> WarcHead<'a> {
    /// Parses a whole head.
    pub(in crate::archive) fn parse(head: &'a [u8]) -> Result<Self, &'static str> {
        if !begins(head) {
            return Err("no record begins there");
        }
        let (_, rest) = fields::first_line(head);
        let mut parsed = Self {
            is_lf: !head.ends_with(b"\r\n"),
            ..Self::default()
        };
        let mut length = Err("its head has no Content-Length");
        fields::each(rest, |name, value| match Name::of(name) {
            Some(Name::ContentLength) => length = number(&value),
            Some(name) => parsed.set(name, value),
            None => {}
        });
        parsed.length = length?;
        if parsed.kind.is_empty() {
            return Err("its head has no WARC-Type");
        }
        Ok(parsed)
    }

    fn set(&mut self, name: Name, value: Cow<'a, [u8]>) {
        let field = match name {
            Name::Type => &mut self.kind,
            Name::RecordId => &mut self.id,
            Name::Date => &mut self.date,
            Name::TargetUri => &mut self.url,
            Name::ContentType => &mut self.content_type,
            Name::PayloadDigest => &mut self.payload_digest,
            Name::BlockDigest => &mut self.block_digest,
            Name::RefersTo => &mut self.refers_to,
            Name::RefersToTargetUri => &mut self.refers_to_url,
            Name::RefersToDate => &mut self.refers_to_date,
            Name::Truncated => &mut self.truncated,
            Name::SegmentNumber => &mut self.segment,
            Name::SegmentOriginId => &mut self.segment_origin,
            Name::SegmentTotalLength => &mut self.segment_total,
            Name::ConcurrentTo => {
                if self.concurrent_to.len() < CONCURRENT {
                    self.concurrent_to.push(value);
                }
                return;
            }
            Name::ContentLength => return,
        };
        *field = value;
    }
}

/// A URL without the brackets that wget and others put around it, as WARC 1.0 seemed to ask for.
pub(in crate::archive) fn url(bytes: &[u8]) -> String {
    let bytes = bytes.trim_ascii();
    let inner = bytes
        .strip_prefix(b"<")
        .and_then(|rest| rest.strip_suffix(b">"));
    url::text(inner.unwrap_or(bytes)).into_owned()
}

/// The end of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::archive) enum HeadEnd {
    /// Behind its empty line.
    At(usize),
    /// Behind the bytes that are there, if anywhere.
    Unseen,
    /// Nowhere: another record begins before.
    Cut,
}

/// Looks for the end of the head that bytes begin with.
pub(in crate::archive) fn head_end(bytes: &[u8]) -> HeadEnd {
    let mut at = 0;
    while let Some(end) = memchr::memchr(b'\n', &bytes[at..]) {
        let line = &bytes[at..at + end];
        if line.is_empty() || line == b"\r" {
            return HeadEnd::At(at + end + 1);
        }
        if at > 0 && has_mark(line) {
            return HeadEnd::Cut;
        }
        at += end + 1;
    }
    HeadEnd::Unseen
}

/// Whether a record begins here.
pub(in crate::archive) fn begins(bytes: &[u8]) -> bool {
    has_mark(bytes) && bytes.get(MARK.len()).is_some_and(u8::is_ascii_digit)
}

/// Whether bytes begin as a record does. Quirk: some writers put it in small letters.
pub(in crate::archive) fn has_mark(bytes: &[u8]) -> bool {
    let mark = bytes.get(..MARK.len());
    mark.is_some_and(|mark| mark.eq_ignore_ascii_case(MARK))
}

enum Name {
    Type,
    RecordId,
    Date,
    TargetUri,
    ContentLength,
    ContentType,
    PayloadDigest,
    BlockDigest,
    ConcurrentTo,
    RefersTo,
    RefersToTargetUri,
    RefersToDate,
    Truncated,
    SegmentNumber,
    SegmentOriginId,
    SegmentTotalLength,
}

impl Name {
    fn of(name: &[u8]) -> Option<Self> {
        let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
        // The length tells most of them apart, and there are dozens of fields in a group of records.
        Some(match name.len() {
            9 if is("WARC-Type") => Self::Type,
            9 if is("WARC-Date") => Self::Date,
            14 if is("WARC-Record-ID") => Self::RecordId,
            14 if is("Content-Length") => Self::ContentLength,
            14 if is("WARC-Truncated") => Self::Truncated,
            15 if is("WARC-Target-URI") => Self::TargetUri,
            12 if is("Content-Type") => Self::ContentType,
            17 if is("WARC-Block-Digest") => Self::BlockDigest,
            19 if is("WARC-Payload-Digest") => Self::PayloadDigest,
            18 if is("WARC-Concurrent-To") => Self::ConcurrentTo,
            14 if is("WARC-Refers-To") => Self::RefersTo,
            25 if is("WARC-Refers-To-Target-URI") => Self::RefersToTargetUri,
            19 if is("WARC-Refers-To-Date") => Self::RefersToDate,
            19 if is("WARC-Segment-Number") => Self::SegmentNumber,
            22 if is("WARC-Segment-Origin-ID") => Self::SegmentOriginId,
            25 if is("WARC-Segment-Total-Length") => Self::SegmentTotalLength,
            _ => return None,
        })
    }
}

fn number(value: &[u8]) -> Result<u64, &'static str> {
    let digits = std::str::from_utf8(value).ok();
    let digits = digits.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    digits
        .and_then(|text| text.parse().ok())
        .ok_or("its Content-Length is no number")
}

const MARK: &[u8] = b"WARC/";

const CONCURRENT: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_old_writers_are_read() {
        let head = b"WARC/0.18\nwarc-type: response\nWARC-Target-URI: <http://h/a b>\nContent-Length: 12\n\n";

        let head = WarcHead::parse(head).unwrap();

        assert_eq!(head.kind.as_ref(), b"response");
        assert_eq!(url(&head.url), "http://h/a b");
        assert_eq!((head.length, head.is_lf), (12, true));
    }

    #[test]
    fn a_head_ends_before_another_begins() {
        assert_eq!(
            head_end(b"WARC/1.0\r\na: b\r\n\r\nWARC/1.0\n"),
            HeadEnd::At(18)
        );
        assert_eq!(head_end(b"WARC/1.0\na: b\n"), HeadEnd::Unseen);
        assert_eq!(head_end(b"WARC/1.0\na: b\nWARC/1.0\n\n"), HeadEnd::Cut);
    }

    #[test]
    fn a_head_without_a_length_is_none() {
        for (head, reason) in [
            (
                "WARC/1.0\r\nWARC-Type: response\r\n\r\n",
                "no Content-Length",
            ),
            (
                "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: -1\r\n\r\n",
                "no number",
            ),
            ("WARC/1.0\r\nContent-Length: 1\r\n\r\n", "no WARC-Type"),
            (
                "WARC-Type: response\r\nContent-Length: 1\r\n\r\n",
                "no record",
            ),
        ] {
            let error = WarcHead::parse(head.as_bytes()).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
