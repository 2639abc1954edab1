//! Reads tar archives as a stream: v7, ustar, GNU's long names and pax headers.

use std::io::{self, BufRead, Read};

use super::opening::truncated;

/// The unit that everything in a tar archive is filled up to.
pub(crate) const BLOCK: usize = 512;

/// A tar archive.
pub(super) struct Tar<'r> {
    reader: &'r mut dyn BufRead,
    /// How much of the current entry was not read yet, and what fills up its last block.
    left: u64,
    padding: u64,
}

pub(super) struct Entry {
    pub(super) name: Vec<u8>,
    pub(super) kind: EntryKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Directory,
    Other(&'static str),
}

impl<'r> Tar<'r> {
    pub(super) fn new(reader: &'r mut dyn BufRead) -> Self {
        Self {
            reader,
            left: 0,
            padding: 0,
        }
    }

    /// Goes to the next entry; `None` at the end of the archive.
    pub(super) fn next(&mut self) -> io::Result<Option<Entry>> {
        // Values that headers of the entry itself cannot hold stand in entries before it.
        let mut announced = Announced::default();
        loop {
            self.skip_rest()?;
            let Some(header) = self.header()? else {
                return Ok(None);
            };
            let size = match announced.size {
                Some(size) if !matches!(header[156], b'x' | b'g' | b'L' | b'K') => size,
                _ => number(&header[124..136])
                    .ok_or_else(|| bad("a size in a header is no number"))?,
            };
            self.left = size;
            self.padding = size.wrapping_neg() % BLOCK as u64;
            match header[156] {
                b'L' => announced.name = Some(terminated(&self.small_content()?).to_vec()),
                b'x' => announced.read_pax(&self.small_content()?),
                b'g' | b'K' => {}
                flag => {
                    let name = announced.name.unwrap_or_else(|| name(&header));
                    let kind = kind(flag, &name);
                    return Ok(Some(Entry { name, kind }));
                }
            }
        }
    }

    /// The bytes of the current entry.
    pub(super) fn content(&mut self) -> impl Read + '_ {
        Content { tar: self }
    }

    fn header(&mut self) -> io::Result<Option<[u8; BLOCK]>> {
        let mut header = [0; BLOCK];
        // Quirk: many archives lack the two empty blocks at their end.
        if self.reader.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let read = self.reader.read_exact(&mut header);
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => truncated("a header"),
            _ => error,
        })?;
        if header.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        match is_header(&header) {
            true => Ok(Some(header)),
            false => Err(bad("the checksum of a header differs")),
        }
    }

    /// The description of the next entry. It is short, or somebody wants to fill the memory.
    fn small_content(&mut self) -> io::Result<Vec<u8>> {
        if self.left > LONGEST_DESCRIPTION {
            return Err(bad("the description of a member is too long"));
        }
        let mut content = Vec::new();
        self.content().read_to_end(&mut content)?;
        Ok(content)
    }

    fn skip_rest(&mut self) -> io::Result<()> {
        io::copy(&mut self.content(), &mut io::sink())?;
        let padding = std::mem::take(&mut self.padding);
        // Quirk: the last block is not always filled up.
        io::copy(&mut (&mut *self.reader).take(padding), &mut io::sink())?;
        Ok(())
    }
}

struct Content<'t, 'r> {
    tar: &'t mut Tar<'r>,
}

impl Read for Content<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = (&mut *self.tar.reader).take(self.tar.left).read(buffer)?;
        if read == 0 && self.tar.left > 0 && !buffer.is_empty() {
            return Err(truncated("a member"));
        }
        self.tar.left -= read as u64;
        Ok(read)
    }
}

/// The statements of entries on the one behind them.
#[derive(Default)]
struct Announced {
    name: Option<Vec<u8>>,
    size: Option<u64>,
}

impl Announced {
    /// Lines of the form `LENGTH KEY=VALUE`.
    fn read_pax(&mut self, mut records: &[u8]) {
        while let Some(blank) = records.iter().position(|byte| *byte == b' ') {
            let length = std::str::from_utf8(&records[..blank]).ok();
            let length = length.and_then(|length| length.parse::<usize>().ok());
            let record = length.and_then(|length| records.get(blank + 1..length));
            let Some((length, record)) = length.zip(record) else {
                return;
            };
            let record = record.strip_suffix(b"\n").unwrap_or(record);
            if let Some(path) = record.strip_prefix(b"path=") {
                self.name = Some(path.to_vec());
            } else if let Some(size) = record.strip_prefix(b"size=") {
                let size = std::str::from_utf8(size).ok();
                self.size = size.and_then(|size| size.parse().ok());
            }
            records = &records[length..];
        }
    }
}

/// Whether a block is a header: its bytes add up to the sum that stands in it. Old programs added signed bytes.
pub(crate) fn is_header(block: &[u8]) -> bool {
    if block.len() < BLOCK || block[0] == 0 {
        return false;
    }
    let written = number(&block[148..156]);
    let counted = block[..BLOCK]
        .iter()
        .enumerate()
        .map(|(at, byte)| match at {
            148..156 => b' ',
            _ => *byte,
        });
    let unsigned: u64 = counted.clone().map(u64::from).sum();
    let signed: i64 = counted.map(|byte| i64::from(byte.cast_signed())).sum();
    written.is_some_and(|sum| sum == unsigned || i64::try_from(sum) == Ok(signed))
}

/// Octal digits, or GNU's binary form for large numbers.
fn number(field: &[u8]) -> Option<u64> {
    if let [0x80, binary @ ..] = field {
        return binary.iter().try_fold(0u64, |number, byte| {
            let shifted = number.checked_mul(256)?;
            Some(shifted | u64::from(*byte))
        });
    }
    let text = std::str::from_utf8(terminated(field)).ok()?.trim();
    u64::from_str_radix(text, 8).ok()
}

fn name(header: &[u8; BLOCK]) -> Vec<u8> {
    let name = terminated(&header[..100]);
    let prefix = terminated(&header[345..500]);
    // Only POSIX has a prefix; GNU's own format has other things there.
    match header[257..].starts_with(b"ustar\0") && !prefix.is_empty() {
        true => [prefix, b"/", name].concat(),
        false => name.to_vec(),
    }
}

fn kind(flag: u8, name: &[u8]) -> EntryKind {
    match flag {
        b'0' | b'\0' | b'7' if name.ends_with(b"/") => EntryKind::Directory,
        b'0' | b'\0' | b'7' => EntryKind::File,
        b'5' => EntryKind::Directory,
        b'1' | b'2' => EntryKind::Other("it is a link"),
        b'3' | b'4' | b'6' => EntryKind::Other("it is a device or a pipe"),
        b'S' => EntryKind::Other("it is a sparse file"),
        _ => EntryKind::Other("it is no file"),
    }
}

fn terminated(field: &[u8]) -> &[u8] {
    let end = field.iter().position(|byte| *byte == 0);
    &field[..end.unwrap_or(field.len())]
}

fn bad(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

const LONGEST_DESCRIPTION: u64 = 64 * 1024;
