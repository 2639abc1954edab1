//! Bytes of names as text and back, each byte a character: a name need not be UTF-8 to be asked for.

use std::io;

use suppaftp::Encoding;

/// Lets every byte through as it is.
#[derive(Debug)]
pub(super) struct Transparent;

impl Encoding for Transparent {
    fn decode(&self, bytes: &[u8]) -> String {
        text(bytes)
    }

    fn encode(&self, text: &str) -> io::Result<Vec<u8>> {
        bytes(text)
    }
}

pub(super) fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

pub(super) fn bytes(text: &str) -> io::Result<Vec<u8>> {
    let byte = |c: char| u8::try_from(u32::from(c));
    let bytes = text.chars().map(byte).collect::<Result<_, _>>();
    bytes.map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a character beyond bytes"))
}
