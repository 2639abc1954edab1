//! Reads base64 that lies in pieces and may have white space anywhere.

use std::io::{self, Read};

use base64_simd::{AsOut, STANDARD};

/// Decodes block by block, so that the bytes of a large file are never whole in memory.
pub(super) struct Decoder<'a> {
    pieces: std::slice::Iter<'a, &'a str>,
    piece: &'a [u8],
    text: Vec<u8>,
    block: Vec<u8>,
    at: usize,
    /// Padding was met: nothing may follow.
    ended: bool,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(pieces: &'a [&'a str]) -> Self {
        Self {
            pieces: pieces.iter(),
            piece: &[],
            text: Vec::new(),
            block: Vec::new(),
            at: 0,
            ended: false,
        }
    }

    /// Decodes straight from the piece into the buffer, if nothing but digits is in the way. Nearly always that is so.
    fn at_once(&mut self, buffer: &mut [u8]) -> Option<usize> {
        while self.piece.is_empty() {
            self.piece = self.pieces.next()?.as_bytes();
        }
        let digits = self.piece.len().min(buffer.len() / 3 * 4) / 4 * 4;
        if digits == 0 || self.ended {
            return None;
        }
        let (text, rest) = self.piece.split_at(digits);
        let length = STANDARD.decode(text, buffer.as_out()).ok()?.len();
        self.ended = text.last() == Some(&b'=');
        self.piece = rest;
        Some(length)
    }

    fn fill(&mut self) -> io::Result<()> {
        self.gather();
        self.at = 0;
        self.block.clear();
        if self.text.is_empty() {
            return Ok(());
        }
        let invalid = || io::Error::new(io::ErrorKind::InvalidData, NotBase64);
        if self.ended {
            return Err(invalid());
        }
        self.ended = self.text.last() == Some(&b'=');
        self.block.resize(self.text.len() / 4 * 3 + 3, 0);
        let decoded = STANDARD.decode(&self.text, self.block.as_mut_slice().as_out());
        let length = decoded.map_err(|_| invalid())?.len();
        self.block.truncate(length);
        Ok(())
    }

    /// Takes the next block of digits, a multiple of four unless it is the last.
    fn gather(&mut self) {
        self.text.clear();
        while self.text.len() < BLOCK {
            if self.piece.is_empty() {
                match self.pieces.next() {
                    Some(piece) => self.piece = piece.as_bytes(),
                    None => return,
                }
            }
            let room = BLOCK - self.text.len();
            let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
            // Lines are copied as lines.
            let run = self.piece.iter().take(room).position(is_space);
            let run = run.unwrap_or(self.piece.len().min(room));
            self.text.extend_from_slice(&self.piece[..run]);
            let spaces = self.piece[run..]
                .iter()
                .take_while(|byte| is_space(byte))
                .count();
            self.piece = &self.piece[run + spaces..];
        }
    }
}

impl Read for Decoder<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.len() {
            if let Some(length) = self.at_once(buffer) {
                return Ok(length);
            }
            self.fill()?;
        }
        let count = buffer.len().min(self.block.len() - self.at);
        buffer[..count].copy_from_slice(&self.block[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Marks an error as one of the base64, not of what was packed in it.
#[derive(Debug, thiserror::Error)]
#[error("not base64")]
pub(super) struct NotBase64;

/// A multiple of four, and of the three bytes they stand for.
const BLOCK: usize = 96 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(pieces: &[&str]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        Decoder::new(pieces).read_to_end(&mut bytes).map(|_| bytes)
    }

    #[test]
    fn white_space_and_pieces_do_not_count() {
        for pieces in [
            &["aGVsbG8="][..],
            &["  aGVs\r\n", "", "bG8 = \n"],
            &["a", "G", "V", "s", "b", "G", "8", "="],
        ] {
            assert_eq!(decode(pieces).unwrap(), b"hello");
        }
        assert_eq!(decode(&[]).unwrap(), b"");
        assert_eq!(decode(&[" \n"]).unwrap(), b"");
    }

    #[test]
    fn long_texts_are_decoded_in_blocks() {
        let bytes: Vec<u8> = (0..500_000_u32).map(|n| (n % 251) as u8).collect();
        let text = STANDARD.encode_to_string(&bytes);
        let lines: Vec<&str> = text
            .as_bytes()
            .chunks(76)
            .map(|line| std::str::from_utf8(line).unwrap())
            .collect();

        assert_eq!(decode(&[&text]).unwrap(), bytes);
        assert_eq!(decode(&lines).unwrap(), bytes);
        assert_eq!(decode(&[&lines.join("\n")]).unwrap(), bytes);
    }

    #[test]
    fn what_is_not_base64_is_an_error() {
        let padded_early = format!("{}AA==AAAA", "A".repeat(BLOCK - 4));
        for text in [
            "a",
            "aGVsbG8",
            "aGVsbG8=aGVs",
            "aGV*",
            "\u{e9}",
            &padded_early,
        ] {
            assert!(decode(&[text]).is_err(), "{text}");
        }
    }
}
