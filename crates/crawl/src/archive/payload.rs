//! The payload of a response: what chunks and content codings there are is undone, but only where they really are.
//!
//! Archives hold many bodies that were decoded already while their heads still say otherwise.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::block::Block;
use super::chunked::{self, Chunked};
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
    for coding in codings.rev() {
        match undo(reader, coding, limits) {
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
    limits: &Limits,
) -> io::Result<Box<dyn BufRead + 'b>> {
    let mut beginning = [0; BEGINNING];
    let length = fill(&mut reader, &mut beginning)?;
    let is_zlib = is_zlib(&beginning[..length]);
    let seen = &beginning[..length];
    let fits = match coding {
        "zstd" => seen.starts_with(&super::zstd::MAGIC),
        "deflate" => length > 1,
        _ => seen.starts_with(&super::gzip::MAGIC),
    };
    let whole = Cursor::new(beginning).take(length as u64).chain(reader);
    if !fits {
        return Ok(Box::new(whole));
    }
    let read = Rc::new(Cell::new(0));
    let counted = BufReader::with_capacity(
        BUFFER,
        Counted {
            reader: whole,
            count: Rc::clone(&read),
        },
    );
    let decoded: Box<dyn Read + 'b> = match coding {
        "zstd" => Box::new(Frame::open(counted, limits)?),
        "deflate" if is_zlib => Box::new(ZlibDecoder::new(counted)),
        // Quirk: some servers send deflate without the wrapping that HTTP asks for.
        "deflate" => Box::new(DeflateDecoder::new(counted)),
        _ => Box::new(Members(Some(GzDecoder::new(counted)))),
    };
    let bounded = Bounded {
        reader: decoded,
        read,
        written: 0,
        expansion: limits.expansion,
    };
    Ok(Box::new(BufReader::with_capacity(BUFFER, bounded)))
}

fn is_zlib(bytes: &[u8]) -> bool {
    let head = bytes.first_chunk::<2>().copied().map(u16::from_be_bytes);
    head.is_some_and(|head| head >> 8 & 0xF == 8 && head % 31 == 0)
}

/// Gzip members one after the other; whatever else follows is left out, as browsers do.
struct Members<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(decoder) = &mut self.0 else {
                return Ok(0);
            };
            let count = decoder.read(out)?;
            if count > 0 || out.is_empty() {
                return Ok(count);
            }
            let Some(mut reader) = self.0.take().map(GzDecoder::into_inner) else {
                return Ok(0);
            };
            if !reader.fill_buf()?.starts_with(&super::gzip::MAGIC) {
                return Ok(0);
            }
            self.0 = Some(GzDecoder::new(reader));
        }
    }
}

/// One zstd frame that does not want too much memory.
struct Frame<R: Read>(StreamingDecoder<R, FrameDecoder>);

impl<R: BufRead> Frame<R> {
    fn open(mut reader: R, limits: &Limits) -> io::Result<Self> {
        let wants = super::zstd::window(reader.fill_buf()?);
        if wants.is_none_or(|window| window > limits.zstd_window) {
            return Err(invalid("the body's zstd frame wants too much memory"));
        }
        let decoder = StreamingDecoder::new(reader);
        decoder
            .map(Self)
            .map_err(|error| invalid(&error.to_string()))
    }
}

impl<R: Read> Read for Frame<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out)
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

fn invalid(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// The longest head of a zstd frame.
const BEGINNING: usize = 18;

const BUFFER: usize = 32 * 1024;

/// So much may come out of anything.
const HARMLESS: u64 = 16 * 1024 * 1024;
