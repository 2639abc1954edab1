//! Large values, written where they are to go while their record is read: the bytes of a large file are never in memory
//! with the rest.
//!
//! The record keeps the element of such a value without its text, and the value knows where in the record that is.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::time::SystemTime;

use base64_simd::{AsOut, STANDARD};
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use super::{Algorithm, Error, Resource};

/// Creates the places for the bytes of large values.
pub trait Spool: fmt::Debug + Send + Sync {
    /// A new place, for the bytes of one value.
    fn create(&self) -> io::Result<Handle>;

    /// How many bytes a value may have.
    fn limit(&self) -> u64;
}

/// Owns the bytes of a value where a [`Spool`] put them. Dropping it discards them.
pub type Handle = Box<dyn Spooled>;

/// The bytes of a value outside of its record.
pub trait Spooled: Read + Write + Seek + Send {
    /// Gives the bytes their final place, as the content of `url`.
    fn place(self: Box<Self>, url: &str, modified: Option<SystemTime>) -> Result<(), PlaceError>;
}

/// The bytes of a value could not get their place.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// This URL can have no place; others can.
    #[error("{0}")]
    Refused(String),
    /// Nothing can be placed: a disk that is full.
    #[error(transparent)]
    Failed(Box<dyn std::error::Error + Send + Sync>),
}

/// A large value that was taken out of its record.
pub struct SpooledValue {
    at: usize,
    sha256: String,
    bytes: Result<Handle, Failure>,
}

/// Why the bytes are not there.
enum Failure {
    NotBase64,
    TooLarge(u64),
    Output(io::Error),
}

impl SpooledValue {
    /// The offset in the record at which its text stood.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Follows its element to another offset, after the record has changed before it.
    pub fn move_to(&mut self, at: usize) {
        self.at = at;
    }

    /// The SHA-256 of the bytes, in lower-case hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Refuses the bytes, because the element holds more than them.
    pub(super) fn refuse(&mut self) {
        self.bytes = Err(Failure::NotBase64);
    }

    /// The bytes, after checking them against the digests of `resource`.
    pub(super) fn into_handle(self, resource: &Resource<'_>) -> Result<Handle, Error> {
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
}

impl fmt::Debug for SpooledValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("SpooledValue");
        debug.field("at", &self.at);
        debug.field("sha256", &self.sha256).finish_non_exhaustive()
    }
}

/// Decodes a value that arrives in pieces, and writes it.
pub(crate) struct Spooling {
    at: usize,
    out: Result<Handle, Failure>,
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
    /// Begins a value whose text stands at an offset of its record.
    pub(crate) fn begin(spool: &dyn Spool, at: usize) -> Self {
        let limit = spool.limit();
        Self {
            at,
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
            at: self.at,
            sha256: HEXLOWER.encode(&self.digest.finalize()),
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

/// Bytes that came by themselves, for a record that is made of them.
pub struct SpooledBody {
    out: Result<Handle, Failure>,
    digest: Sha256,
    length: u64,
    limit: u64,
}

impl SpooledBody {
    /// Begins with no bytes.
    pub fn begin(spool: &dyn Spool) -> Self {
        Self {
            out: spool.create().map_err(Failure::Output),
            digest: Sha256::new(),
            length: 0,
            limit: spool.limit(),
        }
    }

    /// Adds bytes. `false` if no more are wanted: there are too many, or they cannot be written.
    pub fn write(&mut self, bytes: &[u8]) -> bool {
        self.length += bytes.len() as u64;
        self.digest.update(bytes);
        if self.length > self.limit {
            self.out = Err(Failure::TooLarge(self.limit));
        }
        if let Ok(out) = &mut self.out
            && let Err(error) = out.write_all(bytes)
        {
            self.out = Err(Failure::Output(error));
        }
        self.out.is_ok()
    }

    /// How many bytes there are.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The limit, if there are more bytes than that.
    pub fn exceeded_limit(&self) -> Option<u64> {
        (self.length > self.limit).then_some(self.limit)
    }

    /// Ends with the value of an element whose text would stand at an offset of its record.
    pub fn finish(self, at: usize) -> SpooledValue {
        SpooledValue {
            at,
            sha256: HEXLOWER.encode(&self.digest.finalize()),
            bytes: self.out,
        }
    }
}

/// How many digits are decoded at once: few enough to stay in the processor's cache.
const BLOCK: usize = 128 * 1024;
/// The least number of bytes that are written at once.
const WRITTEN: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Memory(u64);

    impl Spool for Memory {
        fn create(&self) -> io::Result<Handle> {
            Ok(Box::new(io::Cursor::new(Vec::new())))
        }

        fn limit(&self) -> u64 {
            self.0
        }
    }

    impl Spooled for io::Cursor<Vec<u8>> {
        fn place(self: Box<Self>, _: &str, _: Option<SystemTime>) -> Result<(), PlaceError> {
            Ok(())
        }
    }

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
        let mut spooling = Spooling::begin(&Memory(limit), 0);
        pieces.iter().for_each(|piece| spooling.write(piece));
        spooling.finish()
    }

    fn bytes(pieces: &[&[u8]]) -> Result<Vec<u8>, Error> {
        let value = spooled(pieces, 1_000_000);
        let sha256 = value.sha256().to_owned();
        let mut handle = value.into_handle(&resource(Algorithm::Sha256, &sha256))?;
        let mut bytes = Vec::new();
        handle.seek(SeekFrom::Start(0)).unwrap();
        handle.read_to_end(&mut bytes).unwrap();
        Ok(bytes)
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
                .into_handle(&resource(Algorithm::Sha1, sha1_of_hello))
                .is_ok()
        );
        for algorithm in [Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256] {
            let refused = value().into_handle(&resource(algorithm, "00"));
            assert!(matches!(refused, Err(Error::DigestMismatch { .. })));
        }
        let refused = spooled(&[b"aGVsbG8="], 4).into_handle(&resource(Algorithm::Sha256, "00"));
        assert!(matches!(refused, Err(Error::TooLarge { limit: 4, .. })));
    }
}
