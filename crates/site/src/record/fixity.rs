//! Fixity: the message digests by which a harvester can tell that a file arrived unchanged.
//!
//! MD5 and SHA-1 are offered because archives still ask for them; they show accidents, not attacks.

use std::io::{self, ErrorKind, Read};

use data_encoding::HEXLOWER;
use md5::Md5;
use serde::{Deserialize, Serialize};
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// Names a message digest algorithm.
#[derive(Deserialize, Serialize, Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Algorithm {
    /// MD5, 128 bits.
    Md5,
    /// SHA-1, 160 bits.
    Sha1,
    /// SHA-256, 256 bits.
    Sha256,
}

impl Algorithm {
    /// Returns the name as it is written in configuration and in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
        }
    }
}

/// Computes several digests over the same bytes, so that a file is read once.
///
/// ```
/// use site::fixity::{Algorithm, Digester};
///
/// let mut digester = Digester::new(&[Algorithm::Md5]);
/// digester.update(b"abc");
/// let digests = digester.finish();
/// assert_eq!(digests[0].1, "900150983cd24fb0d6963f7d28e17f72");
/// ```
#[derive(Clone)]
pub struct Digester {
    states: Vec<State>,
}

impl Digester {
    /// Starts a digest for each of `algorithms`; one named twice counts once.
    pub fn new(algorithms: &[Algorithm]) -> Self {
        let mut states: Vec<State> = Vec::with_capacity(algorithms.len());
        for &algorithm in algorithms {
            if states.iter().all(|state| state.algorithm() != algorithm) {
                states.push(State::new(algorithm));
            }
        }
        Self { states }
    }

    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        for state in &mut self.states {
            match state {
                State::Md5(hasher) => hasher.update(bytes),
                State::Sha1(hasher) => hasher.update(bytes),
                State::Sha256(hasher) => hasher.update(bytes),
            }
        }
    }

    /// Ends the digests and returns them in lower-case hexadecimal, in the order asked for.
    pub fn finish(self) -> Vec<(Algorithm, String)> {
        let digest = |state: State| (state.algorithm(), state.finish());
        self.states.into_iter().map(digest).collect()
    }
}

/// Reads to the end and returns the digests of all that was read.
pub fn digests_of(
    reader: &mut dyn Read,
    algorithms: &[Algorithm],
) -> io::Result<Vec<(Algorithm, String)>> {
    let mut digester = Digester::new(algorithms);
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(digester.finish()),
            Ok(count) => digester.update(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[derive(Clone)]
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

    fn finish(self) -> String {
        match self {
            Self::Md5(hasher) => HEXLOWER.encode(&hasher.finalize()),
            Self::Sha1(hasher) => HEXLOWER.encode(&hasher.finalize()),
            Self::Sha256(hasher) => HEXLOWER.encode(&hasher.finalize()),
        }
    }
}

const BUFFER_BYTES: usize = 128 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Algorithm; 3] = [Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256];

    fn digests(bytes: &[u8]) -> Vec<String> {
        let found = digests_of(&mut { bytes }, &ALL).unwrap();
        found.into_iter().map(|(_, digest)| digest).collect()
    }

    #[test]
    fn digests_agree_with_the_published_vectors() {
        assert_eq!(
            digests(b"abc"),
            [
                "900150983cd24fb0d6963f7d28e17f72",
                "a9993e364706816aba3e25717850c26c9cd0d89d",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ]
        );
        assert_eq!(
            digests(b""),
            [
                "d41d8cd98f00b204e9800998ecf8427e",
                "da39a3ee5e6b4b0d3255bfef95601890afd80709",
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            ]
        );
    }

    #[test]
    fn a_file_longer_than_the_buffer_is_read_whole() {
        let million = vec![b'a'; 1_000_000];

        assert_eq!(
            digests(&million),
            [
                "7707d6ae4e027c70eea2a935c2296f21",
                "34aa973cd4c4daa4f61eeb2bdbad27316534016f",
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
            ]
        );
    }

    #[test]
    fn pieces_give_the_same_digest_as_the_whole() {
        let mut digester = Digester::new(&[Algorithm::Sha1]);
        digester.update(b"a");
        digester.update(b"bc");

        let digests = digester.finish();

        assert_eq!(digests[0].1, "a9993e364706816aba3e25717850c26c9cd0d89d");
    }

    #[test]
    fn digests_come_in_the_order_asked_for_and_once() {
        let asked = [Algorithm::Sha256, Algorithm::Md5, Algorithm::Sha256];

        let names: Vec<_> = Digester::new(&asked)
            .finish()
            .into_iter()
            .map(|(algorithm, _)| algorithm.name())
            .collect();

        assert_eq!(names, ["sha256", "md5"]);
    }

    #[test]
    fn algorithms_are_configured_by_their_names() {
        for algorithm in ALL {
            let quoted = format!("\"{}\"", algorithm.name());
            assert_eq!(serde_json::to_string(&algorithm).unwrap(), quoted);
            let read: Algorithm = serde_json::from_str(&quoted).unwrap();
            assert_eq!(read, algorithm);
        }
    }

    #[test]
    fn an_error_of_the_reader_is_passed_on() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("bad sector"))
            }
        }

        let error = digests_of(&mut Broken, &ALL).unwrap_err();

        assert_eq!(error.to_string(), "bad sector");
    }
}
