//! One member of a gzip file (RFC 1952), decoded step by step.
//!
//! The state of the decoder is kept from member to member: there are millions of them.

use flate2::{Crc, Decompress, FlushDecompress, Status};

use crate::archive::stream::{Progress, Step};

pub(in crate::archive) struct Gzip {
    inflate: Decompress,
    crc: Crc,
    part: Part,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Head,
    Data,
    Trailer,
}

impl Gzip {
    pub(in crate::archive) fn new() -> Self {
        Self {
            inflate: Decompress::new(false),
            crc: Crc::new(),
            part: Part::Head,
        }
    }

    pub(in crate::archive) fn reset(&mut self) {
        self.inflate.reset(false);
        self.crc.reset();
        self.part = Part::Head;
    }

    /// Begins behind the head, which is damaged.
    pub(in crate::archive) fn reset_behind_head(&mut self) {
        self.reset();
        self.part = Part::Data;
    }

    pub(in crate::archive) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        let mut step = Step::default();
        if self.part == Part::Head {
            match head(input) {
                Head::Length(length) => step.consumed = length,
                Head::Incomplete => return step.with(Progress::Starved),
                Head::None => return step.with(Progress::Broken("no gzip member begins there")),
            }
            self.part = Part::Data;
        }
        if self.part == Part::Data {
            let (before_in, before_out) = (self.inflate.total_in(), self.inflate.total_out());
            // `Finish` saves the copy of the last 32 KiB, which nothing will refer to.
            let status =
                self.inflate
                    .decompress(&input[step.consumed..], output, FlushDecompress::Finish);
            step.consumed += (self.inflate.total_in() - before_in) as usize;
            step.produced = (self.inflate.total_out() - before_out) as usize;
            self.crc.update(&output[..step.produced]);
            match status {
                Ok(Status::StreamEnd) => self.part = Part::Trailer,
                Ok(_) if step.produced == output.len() => return step.with(Progress::Going),
                Ok(_) => return step.with(Progress::Starved),
                Err(_) => return step.with(Progress::Broken("its gzip member is damaged")),
            }
        }
        let Some(trailer) = input[step.consumed..].first_chunk::<8>() else {
            return step.with(Progress::Starved);
        };
        step.consumed += trailer.len();
        let [a, b, c, d, e, f, g, h] = *trailer;
        let sum = u32::from_le_bytes([a, b, c, d]);
        let length = u32::from_le_bytes([e, f, g, h]);
        if sum != self.crc.sum() || length != self.crc.amount() {
            return step.with(Progress::Unproven(
                "the checksum of its gzip member is wrong",
            ));
        }
        step.with(Progress::Ended)
    }
}

enum Head {
    Length(usize),
    Incomplete,
    None,
}

/// Looks over the head of a member: fixed fields, then extra field, name, comment and checksum, as its flags say.
fn head(input: &[u8]) -> Head {
    let fixed = input.len().min(MAGIC.len());
    if input[..fixed] != MAGIC[..fixed] {
        return Head::None;
    }
    let Some([_, _, _, flags, _, _, _, _, _, _]) = input.first_chunk::<10>() else {
        return Head::Incomplete;
    };
    if flags & 0xE0 != 0 {
        return Head::None;
    }
    let mut length = 10;
    if flags & 4 != 0 {
        let Some([low, high]) = input[length..].first_chunk::<2>() else {
            return Head::Incomplete;
        };
        length += 2 + usize::from(u16::from_le_bytes([*low, *high]));
    }
    for text in [8, 16] {
        if flags & text == 0 {
            continue;
        }
        let Some(rest) = input.get(length..) else {
            return Head::Incomplete;
        };
        match memchr::memchr(0, rest) {
            Some(end) if end < TEXT => length += end + 1,
            None if rest.len() < TEXT => return Head::Incomplete,
            _ => return Head::None,
        }
    }
    if flags & 2 != 0 {
        length += 2;
    }
    match input.len() >= length {
        true => Head::Length(length),
        false => Head::Incomplete,
    }
}

/// How a member begins: its mark, and the only method there is.
pub(in crate::archive) const MAGIC: [u8; 3] = [0x1F, 0x8B, 8];

/// The longest name or comment that is believed.
const TEXT: usize = 4096;
