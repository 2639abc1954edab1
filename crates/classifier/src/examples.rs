//! Files of labelled documents: lines of JSON, compressed with gzip or not, read one after the other.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;

use super::{Error, Example};

/// Calls for each line of a file of labelled documents, which may be compressed with gzip.
pub fn read_examples(
    reader: impl Read,
    mut call: impl FnMut(Example) -> Result<(), Error>,
) -> Result<(), Error> {
    let packed = Rc::new(Cell::new(0));
    let reader = Counted {
        reader,
        count: Rc::clone(&packed),
    };
    let mut reader = BufReader::with_capacity(64 * 1024, reader);
    let is_gzip = reader.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    let mut reader: Box<dyn BufRead> = match is_gzip {
        true => Box::new(BufReader::new(MultiGzDecoder::new(reader))),
        false => Box::new(reader),
    };
    let mut line = Vec::new();
    let mut unpacked = 0_u64;
    for number in 1.. {
        line.clear();
        let wrong = |reason: String| Error::Line {
            line: number,
            reason,
        };
        let read = (&mut reader).take(LONGEST + 1).read_until(b'\n', &mut line);
        let read = read.map_err(|error| match is_gzip {
            true => wrong(format!("its compressed data is damaged: {error}")),
            false => Error::Io(error),
        })?;
        if read == 0 {
            break;
        }
        unpacked += read as u64;
        if line.len() as u64 > LONGEST {
            return Err(wrong(format!("it is longer than {LONGEST} bytes")));
        }
        if unpacked > LEAST_BOMB && unpacked / MOST_PACKED > packed.get() {
            return Err(wrong(format!(
                "the file unpacks to more than {MOST_PACKED} times its size, as no text does"
            )));
        }
        // Quirk: editors and spreadsheets on Windows put a byte order mark in front of UTF-8.
        let line = line.strip_prefix(MARK).unwrap_or(&line);
        if line.trim_ascii().is_empty() {
            continue;
        }
        call(serde_json::from_slice(line).map_err(|error| wrong(shown(&error.to_string())))?)?;
    }
    Ok(())
}

/// A reason without all of a line that it may quote.
fn shown(reason: &str) -> String {
    match reason.char_indices().nth(LONGEST_REASON) {
        Some((end, _)) => format!("{}…", &reason[..end]),
        None => reason.to_owned(),
    }
}

/// Knows how much was read.
struct Counted<R> {
    reader: R,
    count: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

const MARK: &[u8] = "\u{FEFF}".as_bytes();
/// Enough for the names of all kinds.
const LONGEST_REASON: usize = 500;
/// A line may hold a whole book, escaped.
const LONGEST: u64 = 256 * 1024 * 1024;
/// A file that unpacks to less can be read, whatever it is.
const LEAST_BOMB: u64 = 64 * 1024 * 1024;
/// Texts are packed to a third or a tenth.
const MOST_PACKED: u64 = 100;
