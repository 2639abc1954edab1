//! Chunks of HTTP (RFC 9112, 7.1), taken apart.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

/// Whether a body of `length` bytes begins with a chunk. `seen` is its beginning.
pub(in crate::archive) fn begins(seen: &[u8], length: u64) -> bool {
    let Some(end) = memchr::memchr(b'\n', &seen[..seen.len().min(LINE)]) else {
        return false;
    };
    let Some(size) = size(&seen[..end]) else {
        return is_beyond(&seen[..end]);
    };
    let behind = (end as u64 + 1).saturating_add(size);
    if behind > length {
        // The crawler cut it off; what looks like a size is one if nothing else is in its line.
        return seen[..end].ends_with(b"\r");
    }
    let rest = usize::try_from(behind).ok().and_then(|at| seen.get(at..));
    match rest {
        Some([b'\r', b'\n', ..] | [b'\n', ..] | [] | [b'\r']) => true,
        Some(_) => size == 0,
        None => true,
    }
}

/// The data of chunks.
pub(in crate::archive) struct Chunked<R> {
    reader: R,
    /// The bytes of the chunk that are not read yet.
    left: u64,
    is_first: bool,
    ended: bool,
    /// Set when the body ends without its last chunk.
    is_cut: Rc<Cell<bool>>,
}

impl<R: BufRead> Chunked<R> {
    pub(in crate::archive) fn new(reader: R, is_cut: Rc<Cell<bool>>) -> Self {
        Self {
            reader,
            left: 0,
            is_first: true,
            ended: false,
            is_cut,
        }
    }

    fn next_chunk(&mut self) -> io::Result<()> {
        if !self.is_first && !self.line()?.is_empty() {
            return Err(invalid("a chunk of the body is longer than it says"));
        }
        self.is_first = false;
        let line = self.line()?;
        if line.is_empty() && self.reader.fill_buf()?.is_empty() {
            // Quirk: crawlers that cut a body off leave it without its last chunk.
            self.is_cut.set(true);
            self.ended = true;
            return Ok(());
        }
        let size = size(&line).ok_or_else(|| invalid("a chunk of the body has no size"))?;
        self.left = size;
        self.ended = size == 0;
        Ok(())
    }

    /// A line without its end.
    fn line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        (&mut self.reader)
            .take(LINE as u64)
            .read_until(b'\n', &mut line)?;
        if line.len() == LINE {
            return Err(invalid("a chunk of the body has no size"));
        }
        line.truncate(line.trim_ascii_end().len());
        Ok(line)
    }
}

impl<R: BufRead> Read for Chunked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        while self.left == 0 && !self.ended {
            self.next_chunk()?;
        }
        if self.ended {
            return Ok(0);
        }
        let most = out
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let count = self.reader.read(&mut out[..most])?;
        if count == 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the body ends in the middle of a chunk",
            ));
        }
        self.left -= count as u64;
        Ok(count)
    }
}

/// The size that a line gives, before a semicolon.
fn size(line: &[u8]) -> Option<u64> {
    let end = memchr::memchr(b';', line).unwrap_or(line.len());
    let digits = line[..end].trim_ascii();
    if digits.is_empty() || digits.len() > 15 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Whether a line gives a size that no body has. A line of so many digits which is no size is a digest in hexadecimal.
fn is_beyond(line: &[u8]) -> bool {
    let digits = line.strip_suffix(b"\r").unwrap_or_default();
    (16..32).contains(&digits.len()) && digits.iter().all(u8::is_ascii_hexdigit)
}

fn invalid(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// The longest line that gives a size.
const LINE: usize = 1024;

/// How much of a body is looked at.
pub(in crate::archive) const SEEN: usize = 32 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        Chunked::new(bytes, Rc::default()).read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn chunks_are_put_together() {
        let bytes = b"5\r\nhello\r\n6 ;x=y\r\n world\r\n0\r\nTrailer: x\r\n\r\n";
        assert!(begins(bytes, bytes.len() as u64));
        assert_eq!(decoded(bytes).unwrap(), "hello world");
        assert_eq!(decoded(b"5\r\nhello\r\n").unwrap(), "hello");
    }

    #[test]
    fn what_is_not_chunked_is_noticed() {
        for body in ["<html>\r\n", "", "5", "5\r\nhello world, this is text"] {
            assert!(!begins(body.as_bytes(), body.len() as u64), "{body}");
        }
    }

    #[test]
    fn bad_chunks_are_errors() {
        for bytes in ["5\r\nhello world", "5\r\nhello\r\nxyz\r\n", "9\r\nhello"] {
            assert!(decoded(bytes.as_bytes()).is_err(), "{bytes}");
        }
    }
}
