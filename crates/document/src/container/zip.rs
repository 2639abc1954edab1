//! Reads zip archives as a stream, from their local headers (APPNOTE 6.3.10, 4.3).
//!
//! The central directory at the end is not looked at. It allows to reach any member without reading what is before it,
//! which a stream must do anyway, and it is where bombs are hidden: many entries that name the same bytes.

use std::io::{self, BufRead, Read};

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::opening::truncated;

/// A zip archive.
pub(super) struct Zip<'r> {
    reader: &'r mut dyn BufRead,
    current: Option<Current>,
}

/// The fields of a local header.
pub(super) struct Entry {
    pub(super) name: Vec<u8>,
    pub(super) method: Method,
    /// How many bytes it takes up here; unknown if that is told behind them only.
    pub(super) compressed: Option<u64>,
    encrypted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Stored,
    Deflated,
    Other,
}

/// How far the reading of a member is.
struct Current {
    method: Method,
    left: Option<u64>,
    inflate: Decompress,
    crc: Crc,
    size: u64,
    /// The checksum, if it was told before.
    expected: Option<u32>,
    described_behind: bool,
    ended: bool,
}

impl Entry {
    pub(super) fn is_directory(&self) -> bool {
        self.name.ends_with(b"/")
    }

    /// Why its bytes cannot be had, if so.
    pub(super) fn unreadable(&self) -> Option<&'static str> {
        match self.method {
            _ if self.encrypted => Some("it is encrypted"),
            Method::Other => Some("it is compressed by a method that is not known here"),
            Method::Stored if self.compressed.is_none() => Some("its length is not told before it"),
            _ => None,
        }
    }
}

impl<'r> Zip<'r> {
    pub(super) fn new(reader: &'r mut dyn BufRead) -> Self {
        Self {
            reader,
            current: None,
        }
    }

    /// Goes to the next member; `None` behind the last.
    pub(super) fn next(&mut self) -> io::Result<Option<Entry>> {
        self.skip_rest()?;
        loop {
            let mut mark = [0; 4];
            match self.reader.read_exact(&mut mark) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                read => read?,
            }
            match &mark {
                b"PK\x03\x04" => return self.header().map(Some),
                // The mark that split archives begin with, also if they were put together again.
                b"PK\x07\x08" | b"PK00" => {}
                // The directory, or what encryption puts before it.
                b"PK\x01\x02" | b"PK\x05\x06" | b"PK\x06\x06" | b"PK\x06\x08" => return Ok(None),
                _ => return Err(bad("something that is no header follows a member")),
            }
        }
    }

    /// The bytes of the current member.
    pub(super) fn content(&mut self) -> impl Read + '_ {
        Content { zip: self }
    }

    fn header(&mut self) -> io::Result<Entry> {
        let mut fixed = [0; 26];
        self.exact(&mut fixed)?;
        let short = |at: usize| u16::from_le_bytes([fixed[at], fixed[at + 1]]);
        let long = |at: usize| {
            u32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]])
        };
        let mut name = vec![0; usize::from(short(22))];
        self.exact(&mut name)?;
        let mut extra = vec![0; usize::from(short(24))];
        self.exact(&mut extra)?;

        let flags = short(2);
        let described_behind = flags & 8 != 0;
        let method = match short(4) {
            0 => Method::Stored,
            8 => Method::Deflated,
            _ => Method::Other,
        };
        let compressed = match long(14) {
            u32::MAX => zip64_size(&extra, long(18) == u32::MAX),
            size => Some(u64::from(size)),
        };
        // Zero means that it is not known yet, or that there is nothing.
        let compressed = compressed.filter(|size| !described_behind || *size > 0);
        self.current = Some(Current {
            method,
            left: compressed,
            inflate: Decompress::new(false),
            crc: Crc::new(),
            size: 0,
            expected: (!described_behind).then(|| long(10)),
            described_behind,
            ended: false,
        });
        Ok(Entry {
            name,
            method,
            compressed,
            encrypted: flags & 1 != 0,
        })
    }

    /// Goes behind the current member. One whose length is known need not be inflated.
    fn skip_rest(&mut self) -> io::Result<()> {
        let Some(current) = self.current.take() else {
            return Ok(());
        };
        match current.left {
            Some(left) => {
                let skipped = io::copy(&mut (&mut *self.reader).take(left), &mut io::sink())?;
                if skipped < left {
                    return Err(truncated("a member"));
                }
                if current.described_behind && !current.ended {
                    self.description(None)?;
                }
                Ok(())
            }
            None if current.ended => Ok(()),
            None => Err(bad("the end of a member cannot be found")),
        }
    }

    /// Reads what stands behind a member, and returns the checksum in it. The sizes have four or eight bytes each; which,
    /// is seen by the one that is known.
    fn description(&mut self, size: Option<u64>) -> io::Result<u32> {
        let mut crc = [0; 4];
        self.exact(&mut crc)?;
        if &crc == b"PK\x07\x08" {
            self.exact(&mut crc)?;
        }
        let mut sizes = [0; 8];
        self.exact(&mut sizes)?;
        let second = u32::from_le_bytes([sizes[4], sizes[5], sizes[6], sizes[7]]);
        if size.is_some_and(|size| size != u64::from(second)) {
            self.exact(&mut sizes)?;
        }
        Ok(u32::from_le_bytes(crc))
    }

    fn read_content(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(current) = &mut self.current else {
            return Ok(0);
        };
        if current.ended || buffer.is_empty() {
            return Ok(0);
        }
        let read = match current.method {
            Method::Deflated => current.inflate_from(self.reader, buffer)?,
            _ => current.copy_from(self.reader, buffer)?,
        };
        current.crc.update(&buffer[..read]);
        current.size += read as u64;
        if read == 0 {
            self.check_end()?;
        }
        Ok(read)
    }

    fn check_end(&mut self) -> io::Result<()> {
        let Some(current) = &mut self.current else {
            return Ok(());
        };
        current.ended = true;
        let (size, counted) = (current.size, current.crc.sum());
        // The rest of what it takes up is nothing; its description is behind that.
        let padding = current.left.take().unwrap_or_default();
        let (expected, described_behind) = (current.expected, current.described_behind);
        io::copy(&mut (&mut *self.reader).take(padding), &mut io::sink())?;
        let expected = match expected {
            None if described_behind => self.description(Some(size))?,
            expected => expected.unwrap_or(counted),
        };
        match expected == counted {
            true => Ok(()),
            false => Err(bad("its checksum differs")),
        }
    }

    fn exact(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        self.reader
            .read_exact(buffer)
            .map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => truncated("a header"),
                _ => error,
            })
    }
}

impl Current {
    fn copy_from(&mut self, reader: &mut dyn BufRead, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.unwrap_or_default();
        let read = reader.take(left).read(buffer)?;
        if read == 0 && left > 0 {
            return Err(truncated("a member"));
        }
        self.left = Some(left - read as u64);
        Ok(read)
    }

    fn inflate_from(&mut self, reader: &mut dyn BufRead, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let available = reader.fill_buf()?;
            let limit = self.left.map_or(usize::MAX, |left| {
                usize::try_from(left).unwrap_or(usize::MAX)
            });
            let input = &available[..available.len().min(limit)];
            let is_last = input.is_empty();
            let before = (self.inflate.total_in(), self.inflate.total_out());
            let status = self
                .inflate
                .decompress(input, buffer, FlushDecompress::None);
            let status =
                status.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            let consumed = self.inflate.total_in() - before.0;
            let written = self.inflate.total_out() - before.1;
            reader.consume(usize::try_from(consumed).unwrap_or(usize::MAX));
            self.left = self.left.map(|left| left - consumed);
            match status {
                _ if written > 0 => return Ok(usize::try_from(written).unwrap_or(usize::MAX)),
                Status::StreamEnd => return Ok(0),
                _ if is_last => return Err(truncated("a member")),
                _ if consumed == 0 => return Err(bad("it cannot be inflated")),
                _ => {}
            }
        }
    }
}

struct Content<'z, 'r> {
    zip: &'z mut Zip<'r>,
}

impl Read for Content<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.zip.read_content(buffer)
    }
}

/// The compressed size from the extra field of zip64, where it stands behind the other one if that is there (4.5.3).
fn zip64_size(mut extra: &[u8], after_size: bool) -> Option<u64> {
    while let [id_low, id_high, length_low, length_high, rest @ ..] = extra {
        let length = usize::from(u16::from_le_bytes([*length_low, *length_high]));
        let field = rest.get(..length)?;
        if (*id_low, *id_high) == (1, 0) {
            let start = if after_size { 8 } else { 0 };
            let size = field.get(start..start + 8)?;
            return size.try_into().ok().map(u64::from_le_bytes);
        }
        extra = &rest[length..];
    }
    None
}

fn bad(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}
