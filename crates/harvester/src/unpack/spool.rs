//! Long values, written where they are to go while their record is read: the bytes of a large file are never in memory with
//! the rest.
//!
//! What is left of such a value in its record is a mark, which is no base64 and cannot be guessed.

use std::any::Any;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom, Write};

use base64_simd::{AsOut, STANDARD};
use memchr::memmem;
use sha2::{Digest as _, Sha256};

use super::digest::hex;
use super::{Algorithm, Error, Resource};

/// Where the bytes of long values go.
pub trait Spool: fmt::Debug + Send + Sync {
    /// A new place, for the bytes of one value.
    fn create(&self) -> io::Result<Box<dyn Spooled>>;

    /// How many bytes a value may have.
    fn limit(&self) -> u64;
}

/// The bytes of a value, where a [`Spool`] put them.
pub trait Spooled: Read + Write + Seek + Any + Send {}

/// A value that was taken out of its record.
pub struct SpooledValue {
    mark: String,
    sha256: String,
    bytes: Result<Box<dyn Spooled>, Failure>,
}

/// Why the bytes are not there.
enum Failure {
    NotBase64,
    TooLarge(u64),
    Output(io::Error),
}

impl SpooledValue {
    /// Whether this is the value of a resource.
    pub fn is_of(&self, resource: &Resource<'_>) -> bool {
        resource
            .value
            .as_ref()
            .is_some_and(|value| value.is_mark(&self.mark))
    }

    /// The SHA-256 of the bytes, in lower-case hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The bytes, found to be those that the resource tells the digests of.
    pub fn into_bytes(self, resource: &Resource<'_>) -> Result<Box<dyn Spooled>, Error> {
        let url = || resource.url.clone();
        let mut bytes = self.bytes.map_err(|failure| match failure {
            Failure::NotBase64 => Error::Base64 { url: url() },
            Failure::TooLarge(limit) => Error::TooLarge { url: url(), limit },
            Failure::Output(source) => Error::Output { url: url(), source },
        })?;
        let digests = resource.digests.iter();
        let (known, others): (Vec<_>, Vec<_>) =
            digests.partition(|digest| digest.algorithm == Algorithm::Sha256);
        if let Some(digest) = known.iter().find(|digest| digest.hex != self.sha256) {
            return Err(Error::DigestMismatch {
                url: url(),
                algorithm: Algorithm::Sha256.name(),
                expected: digest.hex.clone(),
                found: self.sha256,
            });
        }
        if !others.is_empty() {
            // Which digests there are is known only when the record is read, and most have the one above.
            let output = |source| Error::Output { url: url(), source };
            bytes.seek(SeekFrom::Start(0)).map_err(output)?;
            let mut checked = resource.checked(io::sink());
            io::copy(&mut bytes, &mut checked).map_err(output)?;
            checked.finish()?;
        }
        Ok(bytes)
    }

    /// Takes the mark out of the record, where it still is.
    pub fn unmark(&self, record: &mut Vec<u8>) {
        while let Some(at) = memmem::find(record, self.mark.as_bytes()) {
            record.drain(at..at + self.mark.len());
        }
    }
}

impl fmt::Debug for SpooledValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("SpooledValue");
        debug.field("sha256", &self.sha256).finish_non_exhaustive()
    }
}

/// Decodes a value that comes piece by piece, and writes it.
pub(crate) struct Spooling {
    mark: String,
    out: Result<Box<dyn Spooled>, Failure>,
    digest: Sha256,
    left: u64,
    limit: u64,
    /// Digits that wait for others: fewer than four.
    digits: Vec<u8>,
    /// Bytes that wait for others, so that many are written at once.
    block: Vec<u8>,
    waiting: usize,
    /// Padding was met: nothing may follow.
    ended: bool,
}

impl Spooling {
    /// Begins a value that is known by a mark.
    pub(crate) fn begin(spool: &dyn Spool, mark: String) -> Self {
        let limit = spool.limit();
        Self {
            mark,
            out: spool.create().map_err(Failure::Output),
            digest: Sha256::new(),
            left: limit,
            limit,
            digits: Vec::new(),
            block: Vec::new(),
            waiting: 0,
            ended: false,
        }
    }

    /// What stands in the record in its place.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// Takes the next piece of base64, with white space anywhere. What is wrong with it is told in the end.
    pub(crate) fn write(&mut self, text: &[u8]) {
        let mut rest = text;
        while !rest.is_empty() && self.out.is_ok() {
            // Nearly always there are only digits.
            let run = rest.len().min(BLOCK) / 4 * 4;
            if self.digits.is_empty() && run > 0 && self.decode(&rest[..run]) {
                rest = &rest[run..];
                continue;
            }
            rest = self.gather(rest);
            let digits = std::mem::take(&mut self.digits);
            if digits.len() == 4 && !self.decode(&digits) {
                self.fail(Failure::NotBase64);
            } else if digits.len() < 4 {
                self.digits = digits;
            }
        }
    }

    /// Ends the value.
    pub(crate) fn finish(mut self) -> SpooledValue {
        if !self.digits.is_empty() {
            self.fail(Failure::NotBase64);
        }
        self.write_out();
        SpooledValue {
            mark: self.mark,
            sha256: hex(&self.digest.finalize()),
            bytes: self.out,
        }
    }

    /// Takes single digits up to four, and passes over white space.
    fn gather<'t>(&mut self, text: &'t [u8]) -> &'t [u8] {
        for (at, byte) in text.iter().enumerate() {
            if self.digits.len() == 4 {
                return &text[at..];
            }
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                self.digits.push(*byte);
            }
        }
        &[]
    }

    /// Decodes whole groups of four digits and writes what they stand for; `false` if they are none.
    fn decode(&mut self, digits: &[u8]) -> bool {
        if self.ended {
            return false;
        }
        self.block.resize(WRITTEN + BLOCK / 4 * 3, 0);
        let room = &mut self.block[self.waiting..];
        let Ok(bytes) = STANDARD.decode(digits, room.as_out()) else {
            return false;
        };
        self.ended = digits.last() == Some(&b'=');
        let Some(left) = self.left.checked_sub(bytes.len() as u64) else {
            self.fail(Failure::TooLarge(self.limit));
            return true;
        };
        self.left = left;
        self.digest.update(&*bytes);
        self.waiting += bytes.len();
        if self.waiting >= WRITTEN {
            self.write_out();
        }
        true
    }

    /// Writes what waits.
    fn write_out(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        if let Ok(out) = &mut self.out
            && let Err(error) = out.write_all(&self.block[..waiting])
        {
            self.fail(Failure::Output(error));
        }
    }

    /// The first reason counts.
    fn fail(&mut self, failure: Failure) {
        if self.out.is_ok() {
            self.out = Err(failure);
        }
    }
}

/// So many digits are decoded at once, so that they stay in the processor's cache.
const BLOCK: usize = 128 * 1024;
/// So many bytes are written at once, or more.
const WRITTEN: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Memory(u64);

    impl Spool for Memory {
        fn create(&self) -> io::Result<Box<dyn Spooled>> {
            Ok(Box::new(io::Cursor::new(Vec::new())))
        }

        fn limit(&self) -> u64 {
            self.0
        }
    }

    impl Spooled for io::Cursor<Vec<u8>> {}

    fn resource(algorithm: Algorithm, hex: &str) -> Resource<'static> {
        let record = "<r><DIDL xmlns='urn:mpeg:mpeg21:2002:02-DIDL-NS'><Item><Component>\
            <Resource ref='http://a.example/1'/></Component></Item></DIDL></r>";
        let mut found = super::super::resources(record.as_bytes()).unwrap();
        let mut resource = found.remove(0).without_value();
        resource.digests.push(super::super::Digest {
            algorithm,
            hex: hex.to_owned(),
        });
        resource
    }

    fn spooled(pieces: &[&[u8]], limit: u64) -> SpooledValue {
        let mut spooling = Spooling::begin(&Memory(limit), "mark".to_owned());
        pieces.iter().for_each(|piece| spooling.write(piece));
        spooling.finish()
    }

    fn bytes(pieces: &[&[u8]]) -> Result<Vec<u8>, Error> {
        let value = spooled(pieces, 1_000_000);
        let sha256 = value.sha256().to_owned();
        let bytes = value.into_bytes(&resource(Algorithm::Sha256, &sha256))?;
        let bytes: Box<dyn Any> = bytes;
        Ok(bytes
            .downcast::<io::Cursor<Vec<u8>>>()
            .unwrap()
            .into_inner())
    }

    #[test]
    fn pieces_and_white_space_do_not_count() {
        let hello: [&[&[u8]]; 4] = [
            &[b"aGVsbG8="],
            &[b" aGVs\r\n", b"", b"bG8 = \n"],
            &[b"a", b"G", b"V", b"s", b"b", b"G", b"8", b"="],
            &[b"aG", b"VsbG8="],
        ];
        for pieces in hello {
            assert_eq!(bytes(pieces).unwrap(), b"hello");
        }
        let long: Vec<u8> = (0..500_000_u32).map(|n| (n % 251) as u8).collect();
        let text = STANDARD.encode_to_string(&long).into_bytes();
        let lines: Vec<u8> = text
            .chunks(76)
            .flat_map(|line| [line, b"\n"].concat())
            .collect();
        assert_eq!(bytes(&[&text]).unwrap(), long);
        assert_eq!(bytes(&[&text[..70_001], &text[70_001..]]).unwrap(), long);
        assert_eq!(bytes(&[&lines]).unwrap(), long);
    }

    #[test]
    fn what_is_not_base64_is_found_out() {
        let wrong: [&[u8]; 5] = [b"aGVsbG8", b"aGVsbG8=aGVs", b"aGV*", b"====", b"a"];
        for text in wrong {
            assert!(matches!(bytes(&[text]), Err(Error::Base64 { .. })));
        }
    }

    #[test]
    fn bytes_that_are_too_many_or_other_ones_are_refused() {
        let sha1_of_hello = "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d";
        let value = || spooled(&[b"aGVsbG8="], 5);

        assert!(
            value()
                .into_bytes(&resource(Algorithm::Sha1, sha1_of_hello))
                .is_ok()
        );
        for algorithm in [Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256] {
            let refused = value().into_bytes(&resource(algorithm, "00"));
            assert!(matches!(refused, Err(Error::DigestMismatch { .. })));
        }
        let refused = spooled(&[b"aGVsbG8="], 4).into_bytes(&resource(Algorithm::Sha256, "00"));
        assert!(matches!(refused, Err(Error::TooLarge { limit: 4, .. })));
    }

    #[test]
    fn a_mark_that_is_left_is_taken_out() {
        let value = spooled(&[], 1);
        let mut record = b"<a>mark</a><b>mark</b>".to_vec();

        value.unmark(&mut record);

        assert_eq!(record, b"<a></a><b></b>");
    }
}
