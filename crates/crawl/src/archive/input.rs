//! The bytes of an archive as they lie in a file, before anything is decoded.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use flate2::{Decompress, FlushDecompress, Status};

/// A part of an open file.
#[derive(Debug, Clone)]
pub(super) struct Extent {
    pub(super) file: Arc<File>,
    pub(super) part: Part,
}

/// A part of a file: all of it, or a member of a WACZ.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) start: u64,
    pub(super) length: u64,
    /// The expanded size of a compressed member of a WACZ, which can only be read from its beginning.
    pub(super) deflated: Option<u64>,
}

impl Extent {
    /// A file as it is now.
    pub(super) fn of(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self {
            file: Arc::new(file),
            part: Part {
                start: 0,
                length,
                deflated: None,
            },
        })
    }

    /// How many bytes can be read.
    pub(super) fn size(&self) -> u64 {
        self.part.size()
    }

    /// Reads what there is at an offset, as far as it fits. Only for what is not deflated.
    pub(super) fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let left = self.part.length.saturating_sub(offset);
        let most = out.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let mut filled = 0;
        while filled < most {
            let at = self.part.start + offset + filled as u64;
            match self.file.read_at(&mut out[filled..most], at) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

impl Part {
    /// How many bytes can be read.
    pub(super) fn size(&self) -> u64 {
        self.deflated.unwrap_or(self.length)
    }
}

/// Reads an extent forwards through a buffer; going back a little costs nothing.
#[derive(Debug)]
pub(super) struct Input {
    extent: Extent,
    inflated: Option<Box<Inflated>>,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    /// The offset of the end of the buffer.
    offset: u64,
}

impl Input {
    pub(super) fn new(extent: &Extent) -> Self {
        let inflated = extent.part.deflated.map(|_| Box::new(Inflated::new()));
        Self {
            extent: extent.clone(),
            inflated,
            buffer: Vec::new(),
            begin: 0,
            end: 0,
            offset: 0,
        }
    }

    pub(super) fn position(&self) -> u64 {
        self.offset - (self.end - self.begin) as u64
    }

    pub(super) fn size(&self) -> u64 {
        self.extent.size()
    }

    pub(super) fn available(&self) -> &[u8] {
        &self.buffer[self.begin..self.end]
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.begin += count;
    }

    /// Adds to what is available; `false` is the end, or that the buffer is full.
    pub(super) fn more(&mut self) -> io::Result<bool> {
        if self.buffer.is_empty() {
            self.buffer.resize(BUFFER, 0);
        }
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
        } else if self.begin > BUFFER / 2 || self.end == self.buffer.len() {
            self.buffer.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
        }
        let out = &mut self.buffer[self.end..];
        let count = match &mut self.inflated {
            Some(inflated) => inflated.read_at(&self.extent, self.offset, out)?,
            None => self.extent.read_at(self.offset, out)?,
        };
        self.end += count;
        self.offset += count as u64;
        Ok(count > 0)
    }

    /// Makes at least `count` bytes available, or all that are left.
    pub(super) fn fill(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.end - self.begin < count && self.more()? {}
        Ok(self.available())
    }

    /// Reads into `out` without a copy where nothing is buffered.
    pub(super) fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.begin < self.end {
            let count = out.len().min(self.end - self.begin);
            out[..count].copy_from_slice(&self.buffer[self.begin..self.begin + count]);
            self.begin += count;
            return Ok(count);
        }
        let count = match &mut self.inflated {
            Some(inflated) => inflated.read_at(&self.extent, self.offset, out)?,
            None => self.extent.read_at(self.offset, out)?,
        };
        self.offset += count as u64;
        (self.begin, self.end) = (0, 0);
        Ok(count)
    }

    pub(super) fn seek(&mut self, to: u64) {
        let first = self.offset - self.end as u64;
        if (first..=self.offset).contains(&to) {
            self.begin = (to - first) as usize;
            return;
        }
        (self.begin, self.end) = (0, 0);
        self.offset = to;
    }
}

/// A deflated member of a WACZ while it is read.
struct Inflated {
    inflate: Decompress,
    compressed: Vec<u8>,
    begin: usize,
    end: usize,
    /// The compressed bytes that were read, and the bytes that came out.
    read: u64,
    offset: u64,
    restarts: u32,
}

impl fmt::Debug for Inflated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inflated")
            .field("offset", &self.offset)
            .finish_non_exhaustive()
    }
}

impl Inflated {
    fn new() -> Self {
        Self {
            inflate: Decompress::new(false),
            compressed: vec![0; INFLATED_BUFFER],
            begin: 0,
            end: 0,
            read: 0,
            offset: 0,
            restarts: 0,
        }
    }

    fn read_at(&mut self, extent: &Extent, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        if offset < self.offset {
            // Every step back reads all again: a file that is all damage must not make that endless.
            if self.restarts == RESTARTS {
                return Err(io::Error::other("too much of it is damaged"));
            }
            self.restarts += 1;
            self.inflate.reset(false);
            (self.begin, self.end, self.read, self.offset) = (0, 0, 0, 0);
        }
        while self.offset < offset {
            let most = usize::try_from(offset - self.offset).unwrap_or(usize::MAX);
            let most = most.min(out.len());
            if self.read(extent, &mut out[..most])? == 0 {
                return Ok(0);
            }
        }
        self.read(extent, out)
    }

    fn read(&mut self, extent: &Extent, out: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < out.len() {
            if self.begin == self.end {
                (self.begin, self.end) = (0, extent.read_at(self.read, &mut self.compressed)?);
                self.read += self.end as u64;
            }
            let (before_in, before_out) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self.inflate.decompress(
                &self.compressed[self.begin..self.end],
                &mut out[filled..],
                FlushDecompress::None,
            );
            let (consumed, produced) = (
                (self.inflate.total_in() - before_in) as usize,
                (self.inflate.total_out() - before_out) as usize,
            );
            self.begin += consumed;
            filled += produced;
            match status {
                Ok(Status::StreamEnd) => break,
                Ok(_) if consumed == 0 && produced == 0 => break,
                Ok(_) => {}
                // Damaged data ends here.
                Err(_) => break,
            }
        }
        self.offset += filled as u64;
        Ok(filled)
    }
}

/// More than the longest block of zstd, with its head and checksum.
const BUFFER: usize = 384 * 1024;

const INFLATED_BUFFER: usize = 64 * 1024;

const RESTARTS: u32 = 64;
