//! A log in portions that threads can work on.

use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::ops::Range;

use super::lines::{Line, Lines};
use crate::ReadOptions;

/// Some lines of a log.
pub(super) struct Block {
    /// The number of the first.
    pub(super) number: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) lines: Vec<(Line, Range<usize>)>,
    /// The offset behind them.
    pub(super) end: u64,
}

/// Cuts a log into blocks.
pub(super) struct Blocks<'f> {
    file: &'f File,
    lines: Lines<BufReader<&'f File>>,
    number: u64,
    end: u64,
    /// How long the log was when reading began.
    length: u64,
    stop: &'f ReadOptions,
    /// Somebody is writing the last line.
    pub(super) still_written: bool,
}

impl<'f> Blocks<'f> {
    pub(super) fn new(
        file: &'f File,
        from: u64,
        number: u64,
        options: &'f ReadOptions,
    ) -> io::Result<Self> {
        let mut reader = file;
        reader.seek(SeekFrom::Start(from))?;
        let reader = BufReader::with_capacity(BUFFER, file);
        Ok(Self {
            file,
            lines: Lines::new(reader, from, options.limits.line),
            number,
            end: from,
            length: file.metadata()?.len(),
            stop: options,
            still_written: false,
        })
    }

    /// The next lines; `None` at the end, or when somebody wants the reading to end.
    pub(super) fn next(&mut self) -> io::Result<Option<Block>> {
        let mut block = Block {
            number: self.number,
            bytes: Vec::new(),
            lines: Vec::new(),
            end: self.end,
        };
        while block.lines.len() < LINES && block.bytes.len() < BYTES && !self.stop.stopped() {
            let start = block.bytes.len();
            let Some(line) = self.lines.next(&mut block.bytes)? else {
                break;
            };
            let end = line.offset + line.length;
            if !line.ended && (end > self.length || self.file.metadata()?.len() > end) {
                self.still_written = true;
                break;
            }
            block.end = end;
            let is_marked = line.offset == 0 && block.bytes.starts_with(BYTE_ORDER_MARK);
            let start = if is_marked {
                BYTE_ORDER_MARK.len()
            } else {
                start
            };
            block.lines.push((line, start..block.bytes.len()));
        }
        self.number += block.lines.len() as u64;
        self.end = block.end;
        Ok((!block.lines.is_empty()).then_some(block))
    }
}

/// Small, so that a stop is soon and little is done ahead of time; each line may stand for a large file.
const LINES: usize = 32;
const BYTES: usize = 256 * 1024;
const BUFFER: usize = 256 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
