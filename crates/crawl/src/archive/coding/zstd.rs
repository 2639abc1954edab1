//! One frame of zstd (RFC 8878), decoded block by block, with the dictionary that a WARC file may begin with.

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ruzstd::decoding::{BlockDecodingStrategy, Dictionary, FrameDecoder};

use crate::archive::input::{Extent, Input};
use crate::archive::stream::{Progress, Step};

pub(in crate::archive) struct Zstd {
    decoder: FrameDecoder,
    dictionary: Option<u32>,
    window: u64,
    has_checksum: bool,
    part: Part,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Head,
    /// Bytes of a skippable frame that are still to be skipped.
    Skip(u64),
    Blocks,
    Rest,
}

impl Zstd {
    /// `window` is how much a frame may want remembered.
    pub(in crate::archive) fn new(dictionary: Option<&[u8]>, window: u64) -> Self {
        let mut decoder = FrameDecoder::new();
        let dictionary = dictionary.and_then(parse_dictionary);
        let id = dictionary.as_ref().map(|dictionary| dictionary.id);
        if let Some(dictionary) = dictionary {
            let _ = decoder.add_dict(dictionary);
        }
        Self {
            decoder,
            dictionary: id,
            window,
            has_checksum: false,
            part: Part::Head,
        }
    }

    pub(in crate::archive) fn reset(&mut self) {
        self.part = Part::Head;
    }

    pub(in crate::archive) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        match self.part {
            Part::Head => self.head(input),
            Part::Skip(left) => {
                let step = Step::consumed(left.min(input.len() as u64) as usize);
                self.part = Part::Skip(left - step.consumed as u64);
                match left == step.consumed as u64 {
                    true => step.with(Progress::Ended),
                    false => step.with(Progress::Starved),
                }
            }
            Part::Blocks => self.block(input, output),
            Part::Rest => self.rest(output),
        }
    }

    fn head(&mut self, input: &[u8]) -> Step {
        let none = Step::default();
        let Some(head) = FrameHead::parse(input) else {
            return match input.len() < FRAME_HEAD && is_beginning(input) {
                true => none.with(Progress::Starved),
                false => none.with(Progress::Broken("no zstd frame begins there")),
            };
        };
        let names_dictionary = match head {
            FrameHead::Skippable(length) => {
                self.part = Part::Skip(length);
                return Step::consumed(8).with(Progress::Going);
            }
            FrameHead::Frame {
                window,
                names_dictionary,
                has_checksum,
            } => {
                if window > self.window {
                    return none.with(Progress::Broken("its zstd frame wants too much memory"));
                }
                self.has_checksum = has_checksum;
                names_dictionary
            }
        };
        let mut rest = input;
        if self.decoder.reset(&mut rest).is_err() {
            return none.with(Progress::Broken(
                "its zstd frame cannot be read, or needs a dictionary that is not there",
            ));
        }
        if let (false, Some(id)) = (names_dictionary, self.dictionary) {
            // Quirk: frames need not name their dictionary. It does no harm to those that need none.
            let _ = self.decoder.force_dict(id);
        }
        self.part = Part::Blocks;
        Step::consumed(input.len() - rest.len()).with(Progress::Going)
    }

    fn block(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        let mut step = Step::default();
        if self.decoder.can_collect() > 0 {
            return self.collect(output);
        }
        let Some([a, b, c]) = input.first_chunk::<3>() else {
            return step.with(Progress::Starved);
        };
        let head = u32::from_le_bytes([*a, *b, *c, 0]);
        let content = match head >> 1 & 3 {
            1 => 1,
            _ => (head >> 3) as usize,
        };
        if content > BLOCK {
            return step.with(Progress::Broken("its zstd frame is damaged"));
        }
        // The decoder takes nothing back, so it only gets what is whole.
        let is_last = head & 1 == 1;
        let checksum = if is_last && self.has_checksum { 4 } else { 0 };
        if input.len() < 3 + content + checksum {
            return step.with(Progress::Starved);
        }
        let mut rest = input;
        let one = BlockDecodingStrategy::UptoBlocks(1);
        match self.decoder.decode_blocks(&mut rest, one) {
            Ok(true) => self.part = Part::Rest,
            Ok(false) => {}
            Err(_) => return step.with(Progress::Broken("its zstd frame is damaged")),
        }
        step.consumed = input.len() - rest.len();
        step.with(Progress::Going)
    }

    fn rest(&mut self, output: &mut [u8]) -> Step {
        if self.decoder.can_collect() > 0 {
            return self.collect(output);
        }
        let expected = self.decoder.get_checksum_from_data();
        let wrong = expected.is_some() && expected != self.decoder.get_calculated_checksum();
        Step::default().with(match wrong {
            true => Progress::Unproven("the checksum of its zstd frame is wrong"),
            false => Progress::Ended,
        })
    }

    fn collect(&mut self, output: &mut [u8]) -> Step {
        let mut step = Step::default();
        match self.decoder.read(output) {
            Ok(produced) => step.produced = produced,
            Err(_) => return step.with(Progress::Broken("its zstd frame is damaged")),
        }
        step.with(Progress::Going)
    }
}

enum FrameHead {
    Skippable(u64),
    Frame {
        window: u64,
        names_dictionary: bool,
        has_checksum: bool,
    },
}

impl FrameHead {
    /// `None` if it is not complete, or none.
    fn parse(input: &[u8]) -> Option<Self> {
        let mark = u32::from_le_bytes(*input.first_chunk()?);
        if mark & !0xF == SKIPPABLE & !0xF {
            let length = u32::from_le_bytes(*input.get(4..)?.first_chunk()?);
            return Some(Self::Skippable(u64::from(length)));
        }
        if mark.to_le_bytes() != MAGIC {
            return None;
        }
        let descriptor = *input.get(4)?;
        let single = descriptor & 0x20 != 0;
        let identifier = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let size = match descriptor >> 6 {
            0 => usize::from(single),
            flag => 1 << flag,
        };
        let fields = input.get(5..5 + usize::from(!single) + identifier + size)?;
        let window = match single {
            true => {
                let field = &fields[identifier..];
                let size = field
                    .iter()
                    .rev()
                    .fold(0, |sum, byte| sum << 8 | u64::from(*byte));
                size + if field.len() == 2 { 256 } else { 0 }
            }
            false => {
                let base = 1_u64 << (10 + (fields[0] >> 3));
                base + base / 8 * u64::from(fields[0] & 7)
            }
        };
        Some(Self::Frame {
            window,
            names_dictionary: identifier > 0,
            has_checksum: descriptor & 4 != 0,
        })
    }
}

/// Whether bytes are those of a frame, as far as they go.
fn is_beginning(input: &[u8]) -> bool {
    let count = input.len().min(4);
    let skippable = SKIPPABLE.to_le_bytes();
    let other = |(index, byte): (usize, &u8)| match index {
        0 => byte & 0xF0 == skippable[0] & 0xF0,
        _ => *byte == skippable[index],
    };
    input[..count] == MAGIC[..count] || input[..count].iter().enumerate().all(other)
}

/// Whether a file begins with a frame of zstd, or one that carries a dictionary for those to come.
pub(in crate::archive) fn begins(head: &[u8]) -> bool {
    head.len() >= 4 && is_beginning(head)
}

/// The dictionary that a file begins with, in a skippable frame: as it is, or itself a frame.
pub(in crate::archive) fn dictionary(
    input: &mut Input,
    window: u64,
) -> std::io::Result<Option<Vec<u8>>> {
    let head = input.fill(8)?;
    if head.first_chunk::<4>() != Some(&DICTIONARY_FRAME.to_le_bytes()) {
        return Ok(None);
    }
    let Some(FrameHead::Skippable(length)) = FrameHead::parse(head) else {
        return Ok(None);
    };
    if length > DICTIONARY {
        return Ok(None);
    }
    input.consume(8);
    let mut bytes = vec![0; length as usize];
    let mut filled = 0;
    while filled < bytes.len() {
        match input.read(&mut bytes[filled..])? {
            0 => return Ok(None),
            count => filled += count,
        }
    }
    if bytes.starts_with(&MAGIC) {
        bytes = whole_frame(&bytes, window).unwrap_or_default();
    }
    Ok(Some(bytes))
}

/// The dictionaries that a file may have begun with if the head of their frame is damaged; the last is none.
pub(in crate::archive) fn dictionaries(
    extent: &Extent,
    window: u64,
) -> std::io::Result<Vec<Option<Vec<u8>>>> {
    let mut input = Input::new(extent);
    let mut bytes = vec![0; extent.size().min(DICTIONARY) as usize];
    let mut filled = 0;
    while filled < bytes.len() {
        match input.read(&mut bytes[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    let (head, content) = bytes[..filled].split_at(filled.min(8));
    let mut found = Vec::new();
    if content.starts_with(&MAGIC) {
        found.extend(whole_frame(content, window).map(Some));
    } else if content.starts_with(&DICTIONARY_MAGIC) {
        let told = head.get(4..).and_then(|bytes| bytes.first_chunk());
        let told = told.map(|bytes| u32::from_le_bytes(*bytes) as usize);
        let is_end = |end: &usize| content.get(*end..).is_some_and(begins);
        let ends = memchr::memmem::find_iter(content, &MAGIC).take(ENDS);
        let ends = told.filter(is_end).into_iter().chain(ends);
        found.extend(ends.map(|end| Some(content[..end].to_vec())));
    }
    found.push(None);
    Ok(found)
}

/// Expands a frame in memory, unless the result is too large.
fn whole_frame(frame: &[u8], window: u64) -> Option<Vec<u8>> {
    let (mut zstd, mut rest) = (Zstd::new(None, window), frame);
    let (mut whole, mut block) = (Vec::new(), vec![0; BLOCK]);
    loop {
        let step = zstd.step(rest, &mut block);
        rest = &rest[step.consumed..];
        whole.extend_from_slice(&block[..step.produced]);
        match step.progress {
            Progress::Ended => return Some(whole),
            Progress::Going if whole.len() as u64 <= DICTIONARY => {}
            _ => return None,
        }
    }
}

fn parse_dictionary(bytes: &[u8]) -> Option<Dictionary> {
    if bytes.len() < 8 || !bytes.starts_with(&DICTIONARY_MAGIC) {
        return None;
    }
    // The parser takes it for granted that its tables are whole.
    catch_unwind(AssertUnwindSafe(|| Dictionary::decode_dict(bytes).ok())).ok()?
}

/// How a frame begins.
pub(in crate::archive) const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

const SKIPPABLE: u32 = 0x184D_2A50;
const DICTIONARY_FRAME: u32 = 0x184D_2A5D;
const DICTIONARY_MAGIC: [u8; 4] = [0x37, 0xA4, 0x30, 0xEC];

/// The longest head of a frame.
const FRAME_HEAD: usize = 18;

const BLOCK: usize = 128 * 1024;

/// How many places are tried at which a dictionary may end.
const ENDS: usize = 4;

/// The longest dictionary; those of the formats' authors have about 100 KiB.
const DICTIONARY: u64 = 16 * 1024 * 1024;
