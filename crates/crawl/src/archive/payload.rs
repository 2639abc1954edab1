//! The payload of a response: what chunks and content codings there are is undone, but only where they really are.
//!
//! Archives hold many bodies that were decoded already while their heads still say otherwise.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

use flate2::bufread::{DeflateDecoder, ZlibDecoder};

use super::block::Block;
use super::chunked::{self, Chunked};
use super::coding::{Deflate, Frames, Members};
use super::http::HttpHead;
use crate::{Body, Limits};

/// The payload behind the head of a response.
pub(super) fn body<'b>(block: &'b mut Block<'_>, head: &HttpHead, limits: &Limits) -> Body<'b> {
    let remaining = block.remaining();
    let is_chunked = head.is_chunked && chunked::begins(block.peek(chunked::SEEN), remaining);
    let codings = head.codings.iter().filter(|coding| can_undo(coding));
    let mut reader: Box<dyn BufRead + 'b> = match is_chunked {
        false if head.codings.is_empty() => return Body::new(block, Some(remaining)),
        false => Box::new(block),
        true if head.codings.is_empty() => return Body::new(Chunked::new(block), None),
        true => Box::new(BufReader::with_capacity(BUFFER, Chunked::new(block))),
    };
    // What comes out of all codings together is bounded by what went into the last.
    let read = Rc::new(Cell::new(0));
    let counted = Counted {
        reader,
        count: Rc::clone(&read),
    };
    reader = Box::new(BufReader::with_capacity(BUFFER, counted));
    for coding in codings.rev() {
        match undo(reader, coding, &read, limits) {
            Ok(decoded) => reader = decoded,
            Err(error) => return Body::failing(error),
        }
    }
    Body::new(reader, None)
}

/// The first coding that bytes keep because it cannot be undone here.
pub(super) fn remaining_coding(head: &HttpHead) -> Option<String> {
    let stays = |coding: &&String| !can_undo(coding) && coding.as_str() != "identity";
    head.codings.iter().find(stays).cloned()
}

fn can_undo(coding: &str) -> bool {
    matches!(coding, "gzip" | "x-gzip" | "deflate" | "zstd")
}

/// Undoes one coding, if the bytes begin like it.
fn undo<'b>(
    mut reader: Box<dyn BufRead + 'b>,
    coding: &str,
    read: &Rc<Cell<u64>>,
    limits: &Limits,
) -> io::Result<Box<dyn BufRead + 'b>> {
    let mut beginning = vec![0; BEGINNING];
    let length = fill(&mut reader, &mut beginning)?;
    beginning.truncate(length);
    let deflate = match coding {
        "deflate" => Deflate::of(&beginning, length < BEGINNING),
        _ => Deflate::Not,
    };
    let is_zstd = coding == "zstd" && beginning.starts_with(&super::zstd::MAGIC);
    let is_gzip = coding.ends_with("gzip") && beginning.starts_with(&super::gzip::MAGIC);
    let whole = Cursor::new(beginning).chain(reader);
    let decoded: Box<dyn Read + 'b> = match deflate {
        Deflate::Wrapped => Box::new(ZlibDecoder::new(whole)),
        Deflate::Bare => Box::new(DeflateDecoder::new(whole)),
        Deflate::Not if is_zstd => Box::new(Frames::new(whole, limits)),
        Deflate::Not if is_gzip => Box::new(Members::new(whole)),
        Deflate::Not => return Ok(Box::new(whole)),
    };
    let bounded = Bounded {
        reader: decoded,
        read: Rc::clone(read),
        written: 0,
        expansion: limits.expansion,
    };
    Ok(Box::new(BufReader::with_capacity(BUFFER, bounded)))
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
