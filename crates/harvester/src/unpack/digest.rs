//! The digests that a record tells of its bytes, and the check that the bytes have them.

use std::io::{self, Write};

use data_encoding::HEXLOWER;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use super::Error;

/// A message digest algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// MD5, 128 bits.
    Md5,
    /// SHA-1, 160 bits.
    Sha1,
    /// SHA-256, 256 bits.
    Sha256,
}

impl Algorithm {
    /// The name as it stands in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
        }
    }

    /// Finds the algorithm of a name; hyphens and case do not count.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let name = name.trim().to_ascii_lowercase().replace('-', "");
        [Self::Md5, Self::Sha1, Self::Sha256]
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
    }
}

/// A digest that was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// How it was made.
    pub algorithm: Algorithm,
    /// In lower-case hexadecimal.
    pub hex: String,
}

/// Passes bytes on and tells in the end whether they were the right ones.
///
/// The written bytes must not be used before `finish` has agreed.
pub struct Checked<W> {
    out: W,
    url: String,
    length: u64,
    states: Vec<(State, String)>,
}

impl<W: Write> Checked<W> {
    /// Checks against `digests`, which were recorded for the bytes of `url`.
    pub fn new(out: W, url: &str, digests: &[Digest]) -> Self {
        let state = |digest: &Digest| (State::new(digest.algorithm), digest.hex.clone());
        Self {
            out,
            url: url.to_owned(),
            length: 0,
            states: digests.iter().map(state).collect(),
        }
    }

    /// Compares the digests, and returns how many bytes there were.
    pub fn finish(self) -> Result<u64, Error> {
        for (state, expected) in self.states {
            let algorithm = state.algorithm().name();
            let found = state.finish();
            if found != expected {
                return Err(Error::DigestMismatch {
                    url: self.url,
                    algorithm,
                    expected,
                    found,
                });
            }
        }
        Ok(self.length)
    }
}

impl<W: Write> Write for Checked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        for (state, _) in &mut self.states {
            state.update(&bytes[..count]);
        }
        self.length += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

enum State {
    Md5(Md5),
    Sha1(Sha1),
    Sha256(Sha256),
}

impl State {
    fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Md5 => Self::Md5(Md5::new()),
            Algorithm::Sha1 => Self::Sha1(Sha1::new()),
            Algorithm::Sha256 => Self::Sha256(Sha256::new()),
        }
    }

    fn algorithm(&self) -> Algorithm {
        match self {
            Self::Md5(_) => Algorithm::Md5,
            Self::Sha1(_) => Algorithm::Sha1,
            Self::Sha256(_) => Algorithm::Sha256,
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Md5(hasher) => hasher.update(bytes),
            Self::Sha1(hasher) => hasher.update(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
        }
    }

    fn finish(self) -> String {
        match self {
            Self::Md5(hasher) => HEXLOWER.encode(&hasher.finalize()),
            Self::Sha1(hasher) => HEXLOWER.encode(&hasher.finalize()),
            Self::Sha256(hasher) => HEXLOWER.encode(&hasher.finalize()),
        }
    }
}
