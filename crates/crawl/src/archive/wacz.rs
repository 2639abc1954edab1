//! The members of a WACZ, which is a ZIP file (APPNOTE 6.3), as parts of the file.

use std::collections::{BTreeMap, HashSet};
use std::io;

use super::input::{Extent, Part};

/// A member: its name, and where its bytes are, or why they cannot be had.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) extent: Result<Extent, &'static str>,
}

/// Whether a file begins like a ZIP file.
pub(super) fn begins(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04")
}

/// All members that are files. `None` if there is no directory that can be read.
pub(super) fn members(extent: &Extent) -> io::Result<Option<Vec<Member>>> {
    let Some((offset, length)) = directory(extent)? else {
        return Ok(None);
    };
    if length > DIRECTORY
        || offset
            .checked_add(length)
            .is_none_or(|end| end > extent.part.length)
    {
        return Ok(None);
    }
    let mut bytes = vec![0; length as usize];
    let count = extent.read_at(offset, &mut bytes)?;
    let mut rest = &bytes[..count];
    let mut members = Vec::new();
    let mut taken = Taken::default();
    while let Some((entry, behind)) = Entry::parse(rest) {
        rest = behind;
        if entry.name.ends_with('/') {
            continue;
        }
        if members.len() < MEMBERS {
            let member = entry.member(extent)?;
            members.extend(taken.checked(member));
        } else if is_in_archive(&entry.name) && taken.names.insert(entry.name.clone()) {
            members.push(Member {
                name: entry.name,
                extent: Err("the ZIP file has more members than are read"),
            });
            break;
        }
    }
    Ok(Some(members))
}

/// Where a WACZ has its WARC files.
pub(super) fn is_in_archive(name: &str) -> bool {
    name.starts_with("archive/")
}

/// The names and bytes that members have: no two have the same.
#[derive(Default)]
struct Taken {
    names: HashSet<String>,
    /// The beginnings of parts, with their ends.
    parts: BTreeMap<u64, u64>,
}

impl Taken {
    fn checked(&mut self, mut member: Member) -> Option<Member> {
        if !self.names.insert(member.name.clone()) {
            // Sources are told apart by their names, so the second needs one of its own to be told at all.
            member.name = format!("{}#{}", member.name, self.names.len());
            member.extent = Err("another member has the same name");
            return self.names.insert(member.name.clone()).then_some(member);
        }
        if let Ok(extent) = &member.extent {
            let (start, end) = (extent.part.start, extent.part.start + extent.part.length);
            let before = self.parts.range(..end).next_back();
            if start < end && before.is_some_and(|(_, before)| *before > start) {
                member.extent = Err("it lies where another member does");
            } else {
                self.parts.insert(start, end);
            }
        }
        Some(member)
    }
}

/// The offset and length of the directory, from the record at the end of the file.
fn directory(extent: &Extent) -> io::Result<Option<(u64, u64)>> {
    let tail = extent.part.length.min(TAIL);
    let mut bytes = vec![0; tail as usize];
    let start = extent.part.length - tail;
    let count = extent.read_at(start, &mut bytes)?;
    let bytes = &bytes[..count];
    let Some(at) = memchr::memmem::rfind(bytes, b"PK\x05\x06") else {
        return Ok(None);
    };
    let end = &bytes[at..];
    let (Some(length), Some(offset)) = (u32_at(end, 12), u32_at(end, 16)) else {
        return Ok(None);
    };
    // A file of more than 4 GiB has another record before it, and one that says where that is.
    let locator = at.checked_sub(20).map(|at| &bytes[at..]);
    let Some(locator) = locator.filter(|locator| locator.starts_with(b"PK\x06\x07")) else {
        return Ok(Some((offset.into(), length.into())));
    };
    let Some(large) = u64_at(locator, 8) else {
        return Ok(None);
    };
    let mut record = [0; 56];
    let count = extent.read_at(large, &mut record)?;
    let record = &record[..count];
    if !record.starts_with(b"PK\x06\x06") {
        return Ok(None);
    }
    Ok(u64_at(record, 48).zip(u64_at(record, 40)))
}

/// One entry of the directory.
struct Entry {
    name: String,
    method: u16,
    is_encrypted: bool,
    compressed: u64,
    size: u64,
    offset: u64,
}

impl Entry {
    fn parse(bytes: &[u8]) -> Option<(Self, &[u8])> {
        if !bytes.starts_with(b"PK\x01\x02") {
            return None;
        }
        let name = usize::from(u16_at(bytes, 28)?);
        let extra = usize::from(u16_at(bytes, 30)?);
        let comment = usize::from(u16_at(bytes, 32)?);
        let name_end = 46 + name;
        let mut entry = Self {
            name: String::from_utf8_lossy(bytes.get(46..name_end)?).into_owned(),
            method: u16_at(bytes, 10)?,
            is_encrypted: u16_at(bytes, 8)? & 1 != 0,
            compressed: u32_at(bytes, 20)?.into(),
            size: u32_at(bytes, 24)?.into(),
            offset: u32_at(bytes, 42)?.into(),
        };
        entry.enlarge(bytes.get(name_end..name_end + extra)?);
        Some((entry, bytes.get(name_end + extra + comment..)?))
    }

    /// Takes numbers that need more than 32 bits from the extra field.
    fn enlarge(&mut self, mut extra: &[u8]) {
        while let (Some(id), Some(length)) = (u16_at(extra, 0), u16_at(extra, 2)) {
            let Some(mut field) = extra.get(4..4 + usize::from(length)) else {
                return;
            };
            extra = &extra[4 + usize::from(length)..];
            if id != 1 {
                continue;
            }
            for number in [&mut self.size, &mut self.compressed, &mut self.offset] {
                if *number == u64::from(u32::MAX)
                    && let Some(large) = u64_at(field, 0)
                {
                    *number = large;
                    field = &field[8..];
                }
            }
        }
    }

    fn member(self, extent: &Extent) -> io::Result<Member> {
        let name = self.name.clone();
        let extent = self.extent(extent)?;
        Ok(Member { name, extent })
    }

    fn extent(&self, extent: &Extent) -> io::Result<Result<Extent, &'static str>> {
        let mut head = [0; 30];
        let count = extent.read_at(self.offset, &mut head)?;
        let head = &head[..count];
        let lengths = u16_at(head, 26).zip(u16_at(head, 28));
        let Some((name, extra)) = lengths.filter(|_| begins(head)) else {
            return Ok(Err("it is not where the directory of the ZIP file says"));
        };
        let start = self.offset + 30 + u64::from(name) + u64::from(extra);
        if start
            .checked_add(self.compressed)
            .is_none_or(|end| end > extent.part.length)
        {
            return Ok(Err("it reaches behind the end of the ZIP file"));
        }
        if self.is_encrypted {
            return Ok(Err("it is encrypted"));
        }
        let deflated = match self.method {
            0 => None,
            8 => Some(self.size),
            _ => return Ok(Err("it is compressed in a way that is not known here")),
        };
        Ok(Ok(Extent {
            file: extent.file.clone(),
            part: Part {
                start,
                length: self.compressed,
                deflated,
            },
        }))
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The record at the end, with the longest comment, and the one before it.
const TAIL: u64 = 22 + 65_535 + 20;

/// The most members that are looked at.
const MEMBERS: usize = 10_000;

/// The longest directory that is believed.
const DIRECTORY: u64 = 64 * 1024 * 1024;
