//! The payload of a response: what chunks and content codings there are is undone, but only where they really are.
//!
//! Archives hold many bodies that were decoded already while their heads still say otherwise.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

use flate2::bufread::{DeflateDecoder, ZlibDecoder};

use super::block::Block;
use super::coding::chunked::{self, Chunked};
use super::coding::{self, Brotli, Deflate, Frames, Members};
use super::digest::{Check, Form};
use super::heads::http::{self, HttpHead};
use crate::{Body, Limits};

/// The payload behind the head of a response, and the first coding that it may still have. `is_cut` tells in the end
/// whether its last chunk is missing.
pub(super) fn body<'b>(
    block: &'b mut Block<'_>,
    head: &HttpHead,
    check: Option<&Rc<Check>>,
    limits: &Limits,
    is_cut: &Rc<Cell<bool>>,
) -> (Body<'b>, Option<String>) {
    let remaining = block.remaining();
    let is_chunked = head.is_chunked && chunked::begins(block.peek(chunked::SEEN), remaining);
    let is_coded = !head.codings.is_empty();
    let mut form = None;
    for (is_there, other) in [(is_chunked, Form::Dechunked), (is_coded, Form::Decoded)] {
        if let Some(check) = check.filter(|_| is_there) {
            check.add_form(other);
            form = Some(other);
        }
    }
    let checked = |body: Body<'b>| body.checked(check.cloned(), form);
    let mut reader: Box<dyn BufRead + 'b> = match is_chunked {
        false if !is_coded => return (checked(Body::new(block, Some(remaining))), None),
        false => Box::new(block),
        true if !is_coded => {
            let chunks = Chunked::new(block, Rc::clone(is_cut));
            return (checked(Body::new(chunks, None)), None);
        }
        true => {
            let chunks = Body::new(Chunked::new(block, Rc::clone(is_cut)), None);
            let chunks = chunks.checked(check.cloned(), Some(Form::Dechunked));
            Box::new(BufReader::with_capacity(BUFFER, chunks))
        }
    };
    if head.codings.len() > http::CODINGS {
        let text = format!("the body has more than {} content codings", http::CODINGS);
        return (Body::failing(invalid(&text)), None);
    }
    // The output of all codings together is limited by the input of the last.
    let read = Rc::new(Cell::new(0));
    let counted = Counted {
        reader,
        count: Rc::clone(&read),
    };
    reader = Box::new(BufReader::with_capacity(BUFFER, counted));
    let mut remaining = None;
    for coding in head.codings.iter().rev() {
        match undo(reader, coding, &read, limits) {
            Ok((decoded, is_known)) => {
                reader = decoded;
                remaining = Some(coding.clone()).filter(|_| !is_known).or(remaining);
            }
            Err(error) => return (Body::failing(error), None),
        }
    }
    (checked(Body::new(reader, None)), remaining)
}

type Undone<'b> = (Box<dyn BufRead + 'b>, bool);

/// Undoes one coding, if the bytes begin like it. `false` says that they may have it all the same.
fn undo<'b>(
    mut reader: Box<dyn BufRead + 'b>,
    coding: &str,
    read: &Rc<Cell<u64>>,
    limits: &Limits,
) -> io::Result<Undone<'b>> {
    let mut beginning = vec![0; BEGINNING];
    let length = fill(&mut reader, &mut beginning)?;
    beginning.truncate(length);
    let is_all = length < BEGINNING;
    let way = Way::of(coding, &beginning, is_all);
    let whole = Cursor::new(beginning).chain(reader);
    let decoded: Box<dyn Read + 'b> = match way {
        Way::Gzip => Box::new(Members::new(whole)),
        Way::Zstd => Box::new(Frames::new(whole, limits)),
        Way::Zlib => Box::new(ZlibDecoder::new(whole)),
        Way::Deflate => Box::new(DeflateDecoder::new(whole)),
        Way::Brotli => Box::new(Brotli::new(whole)),
        Way::None => return Ok((Box::new(whole), true)),
        Way::Unknown => return Ok((Box::new(whole), false)),
    };
    let bounded = Bounded {
        reader: decoded,
        read: Rc::clone(read),
        written: 0,
        expansion: limits.expansion,
        most: limits.decoded,
    };
    let reader = BufReader::with_capacity(BUFFER, bounded);
    Ok((Box::new(reader), true))
}

/// How a coding is undone.
enum Way {
    Gzip,
    Zstd,
    Zlib,
    Deflate,
    Brotli,
    /// Not at all: the bytes do not have it.
    None,
    /// Not at all, and they may have it.
    Unknown,
}

impl Way {
    /// Finds out by the beginning of a body; `is_all` says that nothing is behind it.
    fn of(coding: &str, beginning: &[u8], is_all: bool) -> Self {
        match coding {
            _ if beginning.is_empty() => Self::None,
            "gzip" | "x-gzip" if beginning.starts_with(&coding::gzip::MAGIC) => Self::Gzip,
            "zstd" if beginning.starts_with(&coding::zstd::MAGIC) => Self::Zstd,
            "deflate" => match Deflate::of(beginning, is_all) {
                Deflate::Wrapped => Self::Zlib,
                Deflate::Bare => Self::Deflate,
                Deflate::Not if coding::is_text(beginning) => Self::None,
                Deflate::Not => Self::Unknown,
            },
            // Decoded before, or damaged: text is what it looks like.
            "gzip" | "x-gzip" | "zstd" if coding::is_text(beginning) => Self::None,
            "br" => match coding::is_brotli(beginning, is_all) {
                Some(true) => Self::Brotli,
                Some(false) => Self::None,
                None => Self::Unknown,
            },
            _ => Self::Unknown,
        }
    }
}

/// Counts what is read.
struct Counted<R> {
    reader: R,
    count: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(out)?;
        self.count.set(self.count.get() + count as u64);
        Ok(count)
    }
}

/// Ends what expands beyond all measure.
struct Bounded<R> {
    reader: R,
    read: Rc<Cell<u64>>,
    written: u64,
    expansion: u64,
    most: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(out)?;
        self.written += count as u64;
        let most = self.read.get().saturating_mul(self.expansion);
        if self.written > most.max(HARMLESS) {
            let text = format!("the body expands to more than {} times", self.expansion);
            return Err(invalid(&text));
        }
        if self.written > self.most {
            let text = format!("the body expands to more than {} bytes", self.most);
            return Err(invalid(&text));
        }
        Ok(count)
    }
}

fn fill(reader: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < out.len() {
        match reader.read(&mut out[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

pub(super) fn invalid(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// How much of a body is looked at to see whether it is encoded.
const BEGINNING: usize = 1024;

const BUFFER: usize = 32 * 1024;

/// So much may come out of anything.
const HARMLESS: u64 = 16 * 1024 * 1024;
