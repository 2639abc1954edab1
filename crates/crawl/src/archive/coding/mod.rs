//! Content codings of bodies: whether bytes have them, and their decoders.

pub(super) mod chunked;
pub(super) mod gzip;
pub(super) mod zstd;

use std::io::{self, BufRead, Read};

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::bufread::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};

use self::zstd::Zstd;
use super::payload::invalid;
use super::stream::Progress;
use crate::Limits;

/// How bytes that are said to be deflated really are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deflate {
    /// With the wrapping that HTTP asks for.
    Wrapped,
    /// Without it, as some servers send it.
    Bare,
    /// Not at all.
    Not,
}

impl Deflate {
    /// Finds out by inflating the beginning of a body; `is_all` says that nothing is behind it.
    pub(super) fn of(beginning: &[u8], is_all: bool) -> Self {
        // A sum stands at the end of what is wrapped; of bare bytes only their end tells that they were meant to be.
        match (trial(beginning, true), trial(beginning, false)) {
            (Some(_), _) if beginning.len() >= WRAPPED => Self::Wrapped,
            (_, Some(Trial::Ended { left: 0 })) => Self::Bare,
            (_, Some(Trial::Going)) if !is_all => Self::Bare,
            _ => Self::Not,
        }
    }
}

enum Trial {
    Going,
    Ended { left: usize },
}

/// Inflates bytes; `None` if they cannot be.
fn trial(bytes: &[u8], is_wrapped: bool) -> Option<Trial> {
    let mut inflate = Decompress::new(is_wrapped);
    let mut out = [0; 4096];
    loop {
        let (read, written) = (inflate.total_in(), inflate.total_out());
        let rest = bytes.get(read as usize..)?;
        let status = inflate.decompress(rest, &mut out, FlushDecompress::None);
        let has_moved = inflate.total_in() > read || inflate.total_out() > written;
        match status.ok()? {
            Status::StreamEnd => {
                let left = bytes.len() - inflate.total_in() as usize;
                return Some(Trial::Ended { left });
            }
            _ if has_moved && inflate.total_out() < TRIAL => {}
            _ => return Some(Trial::Going),
        }
    }
}

/// Gzip members one after the other; whatever else follows is left out, as browsers do.
pub(super) struct Members<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Members<R> {
    pub(super) fn new(reader: R) -> Self {
        Self(Some(GzDecoder::new(reader)))
    }
}

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
            if !reader.fill_buf()?.starts_with(&gzip::MAGIC) {
                return Ok(0);
            }
            self.0 = Some(GzDecoder::new(reader));
        }
    }
}

/// Frames of zstd one after the other; whatever else follows is left out.
pub(super) struct Frames<R> {
    reader: R,
    zstd: Zstd,
    /// Bytes that are read but not decoded: the decoder needs whole blocks.
    buffer: Vec<u8>,
    begin: usize,
    is_over: bool,
}

impl<R: Read> Frames<R> {
    pub(super) fn new(reader: R, limits: &Limits) -> Self {
        Self {
            reader,
            zstd: Zstd::new(None, limits.zstd_window),
            buffer: Vec::new(),
            begin: 0,
            is_over: false,
        }
    }

    /// Reads more; `false` at the end.
    fn more(&mut self) -> io::Result<bool> {
        self.buffer.drain(..self.begin);
        self.begin = 0;
        let length = self.buffer.len();
        if length > LONGEST {
            return Err(invalid("the body's zstd frame is damaged"));
        }
        self.buffer.resize(length + PIECE, 0);
        let count = self.reader.read(&mut self.buffer[length..]);
        self.buffer.truncate(length + *count.as_ref().unwrap_or(&0));
        count.map(|count| count > 0)
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !self.is_over && !out.is_empty() {
            let step = self.zstd.step(&self.buffer[self.begin..], out);
            self.begin += step.consumed;
            match step.progress {
                Progress::Going => {}
                Progress::Starved => {
                    if !self.more()? {
                        return Err(io::Error::new(
                            io::ErrorKind::UnexpectedEof,
                            "the body ends in the middle of a zstd frame",
                        ));
                    }
                }
                Progress::Ended => {
                    while self.buffer.len() - self.begin < MARK && self.more()? {}
                    self.is_over = !zstd::begins(&self.buffer[self.begin..]);
                    self.zstd.reset();
                }
                Progress::Broken(reason) | Progress::Unproven(reason) => {
                    return Err(invalid(&format!("the body cannot be decoded: {reason}")));
                }
            }
            if step.produced > 0 {
                return Ok(step.produced);
            }
        }
        Ok(0)
    }
}

/// A stream of Brotli (RFC 7932); whatever follows it is left out.
pub(super) struct Brotli<R> {
    reader: R,
    state: Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>,
    is_over: bool,
}

impl<R: BufRead> Brotli<R> {
    pub(super) fn new(reader: R) -> Self {
        let [one, two, three] = [(); 3].map(|()| StandardAlloc::default());
        Self {
            reader,
            // Without the large windows that are no part of HTTP: they may want a gigabyte of memory.
            state: Box::new(BrotliState::new_strict(one, two, three)),
            is_over: false,
        }
    }
}

impl<R: BufRead> Read for Brotli<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !self.is_over && !out.is_empty() {
            let input = self.reader.fill_buf()?;
            let is_end = input.is_empty();
            let (mut left, mut consumed) = (input.len(), 0);
            let (mut room, mut produced, mut total) = (out.len(), 0, 0);
            let result = BrotliDecompressStream(
                &mut left,
                &mut consumed,
                input,
                &mut room,
                &mut produced,
                out,
                &mut total,
                &mut self.state,
            );
            self.reader.consume(consumed);
            match result {
                BrotliResult::ResultSuccess => self.is_over = true,
                BrotliResult::ResultFailure => {
                    return Err(invalid("the body's br coding is damaged"));
                }
                BrotliResult::NeedsMoreInput if is_end && produced == 0 => {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the body ends in the middle of its br coding",
                    ));
                }
                BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
            }
            if produced > 0 {
                return Ok(produced);
            }
        }
        Ok(0)
    }
}

/// Whether bytes that are said to be Brotli are. It has no signature, so they are decoded: text is what was decoded
/// before; `None` says that they are neither. `is_all` says that nothing is behind the beginning.
pub(super) fn is_brotli(beginning: &[u8], is_all: bool) -> Option<bool> {
    // The empty stream is one byte, and a character of text.
    if beginning.len() > 1 && is_text(beginning) {
        return Some(false);
    }
    let mut rest = beginning;
    let mut brotli = Brotli::new(&mut rest);
    let mut out = [0; 4096];
    let mut written = 0;
    let ended = loop {
        match brotli.read(&mut out) {
            Ok(0) => break true,
            Ok(count) if written > TRIAL => break count == 0,
            Ok(count) => written += count as u64,
            // If the body is longer than `beginning`, the stream ends early because the beginning does; otherwise the body is cut.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break false,
            Err(_) => return None,
        }
    };
    let is_one = !ended || is_all && rest.is_empty() || written > 0;
    match is_one {
        true => Some(beginning.len() > 1 || ended),
        false => None,
    }
}

/// Whether bytes, of which the last character may be cut off, are text.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    let of_text = |byte: &u8| *byte >= 0x20 || matches!(byte, b'\t' | b'\n' | 0x0C | b'\r' | 0x1B);
    let is_utf8 = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    is_utf8 && bytes.iter().all(of_text)
}

/// Head, sum and the shortest block between them.
const WRAPPED: usize = 8;

/// So much need not come out of a trial.
const TRIAL: u64 = 64 * 1024;

const PIECE: usize = 32 * 1024;

/// More than a block with its head and checksum.
const LONGEST: usize = 160 * 1024;

/// The length of the magic number of a frame.
const MARK: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_only_said_to_be_deflated_is_told_apart() {
        for text in [
            "",
            "x",
            "{}",
            "<!DOCTYPE html><html><head><title>x</title></head></html>",
            "{\"a\": [1, 2, 3]}",
            "%PDF-1.4\n%some bytes\n1 0 obj",
            "Some words, and then some more of them.",
            "body { color: red }",
        ] {
            assert_eq!(Deflate::of(text.as_bytes(), true), Deflate::Not, "{text}");
            let long = text.repeat(100);
            if long.len() > 1024 {
                let beginning = &long.as_bytes()[..1024];
                assert_eq!(Deflate::of(beginning, false), Deflate::Not, "{text}");
            }
        }
    }
}
