//! Looks for the next record that can be believed, where the way to it is lost or was never known.

use std::io;

use memchr::memmem;

use super::coding::{gzip, zstd};
use super::heads::arc;
use super::heads::arc::ArcLine;
use super::heads::fields;
use super::heads::warc::{self, HeadEnd, WarcHead};
use super::input::{Extent, Input};
use super::open::layout::{Codec, Format, Layout, is_line_end};
use super::stream::{Decoder, Progress};
use crate::{Limits, ReadOptions};

/// The extent of a record: where its block begins and how long it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) head: usize,
    pub(super) length: u64,
    pub(super) is_lf: bool,
}

/// Parses the head at the beginning of bytes. `None` if there is none, or it is not complete.
pub(super) fn head(format: Format, bytes: &[u8]) -> Option<Span> {
    match format {
        Format::Warc if !warc::begins(bytes) => None,
        Format::Warc => {
            let HeadEnd::At(end) = warc::head_end(bytes) else {
                return None;
            };
            let parsed = WarcHead::parse(&bytes[..end]).ok()?;
            Some(Span {
                head: end,
                length: parsed.length,
                is_lf: parsed.is_lf,
            })
        }
        Format::Arc => {
            let end = memchr::memchr(b'\n', bytes)? + 1;
            let line = ArcLine::parse(fields::first_line(&bytes[..end]).0).ok()?;
            Some(Span {
                head: end,
                length: line.length,
                is_lf: true,
            })
        }
    }
}

/// Whether a record may end before these bytes. `is_end` says that nothing is behind them.
pub(super) fn is_ending(format: Format, is_lf: bool, bytes: &[u8], is_end: bool) -> bool {
    // Two line ends are enough: what is behind them may be damaged itself.
    if format == Format::Warc
        && (bytes.starts_with(b"\r\n\r\n") || is_lf && bytes.starts_with(b"\n\n"))
    {
        return true;
    }
    if bytes.iter().all(|byte| is_line_end(*byte)) {
        return is_end;
    }
    let at_line = bytes.first().is_some_and(|byte| is_line_end(*byte));
    format.begins(bytes) && (at_line || begins_surely(format, bytes))
}

/// Whether a record begins here even if nothing is known of what is before. Half of a line of an ARC file looks like a
/// whole one: `p://host/`.
pub(super) fn begins_surely(format: Format, bytes: &[u8]) -> bool {
    let schemes: [&[u8]; 5] = [b"http:", b"https:", b"ftp:", b"dns:", b"filedesc:"];
    format == Format::Warc || schemes.iter().any(|scheme| bytes.starts_with(scheme))
}

/// Returns the offset at which a record may begin. With `at_line`, one may begin at offset 0.
pub(super) fn next_start(format: Format, bytes: &[u8], at_line: bool) -> Option<usize> {
    match format {
        Format::Warc => {
            if at_line && warc::has_mark(bytes) {
                return Some(0);
            }
            // The bytes before a record may be cut off, so it need not begin a line.
            let from = usize::from(!at_line);
            let large = memmem::find(bytes.get(from..)?, b"WARC/").map(|at| at + from);
            let before = &bytes[..large.unwrap_or(bytes.len())];
            let small = memmem::find(before, b"\nwarc/").map(|at| at + 1);
            small.or(large)
        }
        Format::Arc => {
            let is_start = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphabetic);
            if at_line && is_start(0) {
                return Some(0);
            }
            let mut at = 0;
            for end in memchr::memchr_iter(b'\n', bytes) {
                if let Some(found) = arc::start_within(&bytes[at..end]) {
                    return Some(at + found);
                }
                at = end + 1;
                if is_start(at) {
                    return Some(at);
                }
            }
            None
        }
    }
}

/// Looks for a record in a file that is not compressed, from one offset to before another. It is believed if it ends
/// where it says, or behind the end of the file. Whoever is stopped finds nothing.
pub(super) fn next_record(
    extent: &Extent,
    format: Format,
    from: u64,
    until: u64,
    options: &ReadOptions,
) -> io::Result<Option<u64>> {
    let limits = &options.limits;
    let mut buffer = vec![0; BUFFER];
    let mut base = from.saturating_sub(1);
    loop {
        let count = extent.read_at(base, &mut buffer)?;
        let bytes = &buffer[..count];
        let mut at = (from.max(base) - base) as usize;
        if options.stopped() {
            return Ok(None);
        }
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            let at_line = base + at as u64 == 0 || is_line(bytes, at);
            let Some(found) = next_start(format, rest, at_line) else {
                break;
            };
            let offset = base + (at + found) as u64;
            if offset >= until {
                return Ok(None);
            }
            if may_be(format, &rest[found..]) && is_record(extent, format, offset, limits)? {
                return Ok(Some(offset));
            }
            at += found + 1;
        }
        if count < buffer.len() || base + count as u64 >= until + OVERLAP as u64 {
            return Ok(None);
        }
        base += (count - OVERLAP) as u64;
    }
}

/// Saves a look at the file for each line of a text.
fn may_be(format: Format, bytes: &[u8]) -> bool {
    match format {
        Format::Warc => {
            bytes.len() < OVERLAP || warc::begins(bytes) && warc::head_end(bytes) != HeadEnd::Cut
        }
        Format::Arc => !bytes.contains(&b'\n') || format.begins(bytes),
    }
}

fn is_line(bytes: &[u8], at: usize) -> bool {
    at > 0 && bytes.get(at - 1) == Some(&b'\n')
}

fn is_record(extent: &Extent, format: Format, offset: u64, limits: &Limits) -> io::Result<bool> {
    let mut size = HEAD;
    let span = loop {
        let mut bytes = vec![0; size];
        let count = extent.read_at(offset, &mut bytes)?;
        if let Some(span) = head(format, &bytes[..count]) {
            break span;
        }
        let is_whole = match format {
            Format::Warc => warc::head_end(&bytes[..count]) != HeadEnd::Unseen,
            Format::Arc => bytes[..count].contains(&b'\n'),
        };
        if is_whole || count < size || size >= limits.head {
            return Ok(false);
        }
        size *= 4;
    };
    let end = (offset + span.head as u64).saturating_add(span.length);
    Ok(end > extent.part.length || ends_well(extent, format, span.is_lf, end, limits)?)
}

/// Whether a record may end at an offset.
pub(super) fn ends_well(
    extent: &Extent,
    format: Format,
    is_lf: bool,
    end: u64,
    limits: &Limits,
) -> io::Result<bool> {
    let mut size = match format {
        Format::Warc => 32,
        Format::Arc => 512,
    };
    loop {
        let mut bytes = vec![0; size];
        let count = extent.read_at(end, &mut bytes)?;
        let bytes = &bytes[..count];
        if is_ending(format, is_lf, bytes, count < size) {
            return Ok(true);
        }
        let trimmed = bytes.trim_ascii_start();
        let is_cut = format == Format::Arc && !trimmed.contains(&b'\n');
        if !is_cut || count < size || size >= limits.line {
            return Ok(false);
        }
        size *= 4;
    }
}

/// Looks for a member of a compressed file, from where the input is to before an offset. It is believed if it can be
/// decoded; unless `any` will do, a record has to begin in it as well. Whoever is stopped finds nothing.
pub(super) fn next_member(
    input: &mut Input,
    layout: &Layout,
    until: u64,
    any: bool,
    options: &ReadOptions,
) -> io::Result<Option<u64>> {
    let magic: &[u8] = match layout.codec {
        Codec::Gzip => &gzip::MAGIC,
        Codec::Zstd => &zstd::MAGIC,
        Codec::Plain => return Ok(None),
    };
    let mut decoder = Decoder::new(layout, &options.limits);
    let mut probe = vec![0; HEAD];
    loop {
        if options.stopped() {
            return Ok(None);
        }
        let is_end = input.fill(PROBE)?.len() < PROBE;
        let bytes = input.available();
        match memmem::find(bytes, magic) {
            Some(at) => {
                input.consume(at);
                if input.position() >= until {
                    return Ok(None);
                }
                decoder.reset();
                let bytes = input.fill(PROBE)?;
                if is_member(&mut decoder, bytes, &mut probe, layout.format, any) {
                    return Ok(Some(input.position()));
                }
                input.consume(1);
            }
            None if is_end => return Ok(None),
            None => {
                let passed = bytes.len() - (magic.len() - 1);
                input.consume(passed);
                if input.position() >= until {
                    return Ok(None);
                }
            }
        }
    }
}

/// Looks for members that damage has swallowed: those that end where the damaged one seems to. Members of an archive in a
/// body end before.
pub(super) fn swallowed(
    input: &mut Input,
    layout: &Layout,
    from: u64,
    reached: u64,
    options: &ReadOptions,
) -> io::Result<Option<u64>> {
    let mut decoder = Decoder::new(layout, &options.limits);
    let (mut at, mut budget) = (from, SWALLOWED);
    loop {
        input.seek(at);
        let found = next_member(input, layout, reached, layout.whole, options)?;
        let Some(first) = found else { return Ok(None) };
        let mut end = first;
        while end < reached {
            input.seek(end);
            match member_end(input, &mut decoder, &mut budget)? {
                Some(next) => end = next,
                None => break,
            }
        }
        if end == reached {
            return Ok(Some(first));
        }
        if options.stopped() || budget == 0 {
            return Ok(None);
        }
        at = end.max(first) + 1;
    }
}

/// Returns the end of the member at the input's position, if it decodes without error.
fn member_end(
    input: &mut Input,
    decoder: &mut Decoder,
    budget: &mut usize,
) -> io::Result<Option<u64>> {
    let mut out = vec![0; PROBE];
    decoder.reset();
    while *budget > 0 {
        let step = decoder.step(input.available(), &mut out);
        input.consume(step.consumed);
        *budget = budget.saturating_sub(step.produced.max(1));
        match step.progress {
            Progress::Going => {}
            Progress::Starved if input.more()? => {}
            Progress::Ended => return Ok(Some(input.position())),
            Progress::Starved | Progress::Broken(_) | Progress::Unproven(_) => return Ok(None),
        }
    }
    Ok(None)
}

/// Decodes the beginning of a member. What does not fit is not looked at.
fn is_member(
    decoder: &mut Decoder,
    bytes: &[u8],
    probe: &mut Vec<u8>,
    format: Format,
    any: bool,
) -> bool {
    let (mut at, mut filled) = (0, 0);
    loop {
        let step = decoder.step(&bytes[at..], &mut probe[filled..]);
        at += step.consumed;
        filled += step.produced;
        let seen = &probe[..filled];
        let is_over = match step.progress {
            Progress::Broken(_) | Progress::Unproven(_) => return false,
            Progress::Going => filled == probe.len(),
            Progress::Starved | Progress::Ended => true,
        };
        let start = seen.iter().position(|byte| !is_line_end(*byte));
        let record = &seen[start.unwrap_or(filled)..];
        if (any && filled > 0) || head(format, record).is_some() {
            return true;
        }
        if is_over && (filled < probe.len() || probe.len() >= LONG_HEAD || !format.begins(record)) {
            return false;
        }
        if is_over {
            probe.resize(probe.len() * 4, 0);
        }
    }
}

const BUFFER: usize = 256 * 1024;

/// A line or the beginning of a head that is cut by the end of the buffer is seen whole in the next.
const OVERLAP: usize = 16;

const HEAD: usize = 4096;

/// How many bytes are decoded to find out what damage has swallowed.
const SWALLOWED: usize = 64 * 1024 * 1024;

const LONG_HEAD: usize = 64 * 1024;

/// How much of a compressed member is enough to believe it. More than a block of zstd.
const PROBE: usize = 160 * 1024;
