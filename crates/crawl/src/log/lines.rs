//! Lines of a file, none longer than a limit.

use std::io::{self, BufRead};

/// Reads lines.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    offset: u64,
    limit: usize,
}

/// The position of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    /// The byte of the file at which it begins.
    pub(super) offset: u64,
    /// Its bytes, with those that end it.
    pub(super) length: u64,
    /// It is longer than the limit; its bytes were passed over.
    pub(super) too_long: bool,
    /// It has an end. Only the last may have none.
    pub(super) ended: bool,
}

impl<R: BufRead> Lines<R> {
    /// Reads lines from a reader that stands at an offset.
    pub(super) fn new(reader: R, offset: u64, limit: usize) -> Self {
        Self {
            reader,
            offset,
            limit,
        }
    }

    /// Adds the next line to a buffer, without its end; `None` when there is no more.
    pub(super) fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<Line>> {
        let start = buffer.len();
        let mut line = Line {
            offset: self.offset,
            length: 0,
            too_long: false,
            ended: false,
        };
        while !line.ended {
            let available = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                available => available?,
            };
            if available.is_empty() {
                break;
            }
            let end = memchr::memchr(b'\n', available);
            let content = &available[..end.unwrap_or(available.len())];
            line.too_long |= buffer.len() - start + content.len() > self.limit;
            match line.too_long {
                true => buffer.truncate(start),
                false => buffer.extend(content),
            }
            line.ended = end.is_some();
            let used = content.len() + usize::from(line.ended);
            self.reader.consume(used);
            line.length += used as u64;
        }
        if line.length == 0 {
            return Ok(None);
        }
        if buffer.len() > start && buffer.last() == Some(&b'\r') {
            buffer.pop();
        }
        self.offset += line.length;
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], limit: usize, buffer: usize) -> Vec<(u64, Vec<u8>, bool, bool)> {
        let reader = io::BufReader::with_capacity(buffer, text);
        let mut lines = Lines::new(reader, 100, limit);
        let mut found = Vec::new();
        let mut content = Vec::new();
        while let Some(line) = lines.next(&mut content).unwrap() {
            found.push((
                line.offset,
                std::mem::take(&mut content),
                line.too_long,
                line.ended,
            ));
        }
        found
    }

    #[test]
    fn long_lines_are_passed_over_and_the_next_is_found() {
        for buffer in [1, 2, 3, 7, 100] {
            let found = lines(b"ab\r\n\n12345678\n1234\nend", 4, buffer);

            let expected = [
                (100, b"ab".to_vec(), false, true),
                (104, b"".to_vec(), false, true),
                (105, b"".to_vec(), true, true),
                (114, b"1234".to_vec(), false, true),
                (119, b"end".to_vec(), false, false),
            ];
            assert_eq!(found, expected, "a buffer of {buffer}");
        }
        assert!(lines(b"", 4, 10).is_empty());
    }
}
