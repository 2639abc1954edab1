//! SHA-1, which is a content's identity, and SHA-256, which nobody can forge, in one go.

use std::io::{self, Write};

use data_encoding::{BASE32_NOPAD, HEXLOWER, HEXLOWER_PERMISSIVE};
use sha1::{Digest, Sha1};
use sha2::Sha256;

/// The digests of a content, and how many bytes it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digests {
    /// SHA-1: what contents are told apart by.
    pub sha1: [u8; 20],
    /// SHA-256.
    pub sha256: [u8; 32],
    /// The number of bytes.
    pub size: u64,
}

impl Digests {
    /// The digests of bytes that are all there.
    ///
    /// ```
    /// let digests = document::digest::Digests::of(b"abc");
    /// assert_eq!(digests.sha1_hex(), "a9993e364706816aba3e25717850c26c9cd0d89d");
    /// ```
    pub fn of(bytes: &[u8]) -> Self {
        let mut digester = Digester::new();
        digester.update(bytes);
        digester.finish()
    }

    /// SHA-1 as 40 lower-case digits.
    pub fn sha1_hex(&self) -> String {
        hex(&self.sha1)
    }

    /// SHA-256 as 64 lower-case digits.
    pub fn sha256_hex(&self) -> String {
        hex(&self.sha256)
    }

    /// Whether a digest that a crawler wrote down is one of these. `None` if it is of another kind, or no digest.
    ///
    /// Crawlers write `sha1:` and base32, or base32 alone, or hexadecimal digits. A difference says little: many hashed
    /// the bytes before they were decoded.
    pub fn agree_with(&self, written: &str) -> Option<bool> {
        let (scheme, value) = match written.trim().split_once(':') {
            Some((scheme, value)) => (Some(scheme.to_ascii_lowercase()), value),
            None => (None, written.trim()),
        };
        let expected: &[u8] = match (scheme.as_deref(), value.len()) {
            (Some("sha1" | "sha-1") | None, 32 | 40) => &self.sha1,
            (Some("sha256" | "sha-256") | None, 52 | 56 | 64) => &self.sha256,
            _ => return None,
        };
        let is_hex = value.len() == expected.len() * 2;
        let decoded = if is_hex {
            from_hex(value)
        } else {
            from_base32(value)
        };
        decoded.map(|decoded| decoded == expected)
    }
}

/// Computes digests of what is written into it.
#[derive(Debug, Clone, Default)]
pub struct Digester {
    sha1: Sha1,
    sha256: Sha256,
    size: u64,
}

impl Digester {
    /// A digester that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes further bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.sha1.update(bytes);
        self.sha256.update(bytes);
        self.size += bytes.len() as u64;
    }

    /// The digests of all that was written.
    pub fn finish(self) -> Digests {
        Digests {
            sha1: self.sha1.finalize().into(),
            sha256: self.sha256.finalize().into(),
            size: self.size,
        }
    }
}

impl Write for Digester {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The SHA-1 that a crawler wrote down, as 40 lower-case digits. `None` if it is another digest, or none.
///
/// ```
/// let sha1 = document::digest::sha1_written("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
/// assert_eq!(sha1.as_deref(), Some("da39a3ee5e6b4b0d3255bfef95601890afd80709"));
/// ```
pub fn sha1_written(written: &str) -> Option<String> {
    let written = written.trim();
    let value = match written.split_once(':') {
        Some((scheme, value))
            if ["sha1", "sha-1"].contains(&scheme.to_ascii_lowercase().as_str()) =>
        {
            value
        }
        Some(_) => return None,
        None => written,
    };
    let bytes = match value.len() {
        40 => from_hex(value)?,
        32 => from_base32(value)?,
        _ => return None,
    };
    Some(hex(&bytes))
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()
}

/// RFC 4648, section 6, in any case, with or without the filling at the end.
fn from_base32(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').to_ascii_uppercase();
    BASE32_NOPAD.decode(digits.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standards() {
        let mut digester = Digester::new();

        digester.write_all(b"a").unwrap();
        digester.write_all(b"bc").unwrap();
        let digests = digester.finish();

        assert_eq!(
            digests.sha1_hex(),
            "a9993e364706816aba3e25717850c26c9cd0d89d"
        );
        assert_eq!(
            digests.sha256_hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(digests.size, 3);
        assert_eq!(digests, Digests::of(b"abc"));
    }

    #[test]
    fn what_crawlers_write_is_compared_in_every_form() {
        let nothing = Digests::of(b"");
        for written in [
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709",
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "sha256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ====",
            "sha256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ",
        ] {
            assert_eq!(nothing.agree_with(written), Some(true), "{written}");
            let other = Digests::of(b"x").agree_with(written);
            assert_eq!(other, Some(false), "{written}");
        }
        for written in [
            "",
            "-",
            "md5:d41d8cd98f00b204e9800998ecf8427e",
            "sha1:",
            "sha1:äääääääääääääääääääääääääääääääää",
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBY1",
        ] {
            assert_eq!(nothing.agree_with(written), None, "{written}");
        }
    }
}
