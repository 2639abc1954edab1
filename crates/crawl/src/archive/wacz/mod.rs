//! The members of a WACZ, which is a ZIP file (APPNOTE 6.3), as parts of the file.

pub(super) mod zip_heads;

use std::collections::{BTreeMap, HashSet};
use std::io;

use self::zip_heads::{by_heads, is_usual};
use super::input::{Extent, Part};

/// The members of a ZIP file.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) members: Vec<Member>,
    /// Its directory, or the head of a member, is damaged.
    pub(super) damage: Option<&'static str>,
}

/// A member: its name, and where its bytes are, or why they cannot be had.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) extent: Result<Extent, &'static str>,
    /// The checksum that the ZIP file has of it.
    pub(super) crc: Option<u32>,
    /// It is no member, but bytes between members whose head is lost.
    pub(super) is_gap: bool,
}

/// Whether a file begins like a ZIP file.
pub(super) fn begins(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04")
}

/// All members that are files, by the directory. Where that is missing or wrong, they are found by their own heads.
pub(super) fn members(extent: &Extent) -> io::Result<Listing> {
    let Some(directory) = Directory::read(extent)? else {
        return by_heads(extent, Vec::new(), extent.part.length, NO_DIRECTORY);
    };
    let mut entries = directory.entries;
    let mut is_good = directory.is_whole && directory.shift == 0;
    for entry in entries.iter_mut().take(MEMBERS) {
        entry.is_verified = entry.verify(extent)?;
        is_good &= entry.is_verified;
    }
    if !is_good {
        let reason = match directory.is_whole && directory.shift == 0 {
            true => WRONG_HEAD,
            false => WRONG_DIRECTORY,
        };
        return by_heads(extent, entries, directory.start, reason);
    }
    let mut members = Vec::new();
    let mut taken = Taken::default();
    for entry in entries {
        if entry.name.ends_with('/') {
            continue;
        }
        if members.len() < MEMBERS {
            let member = entry.to_member(extent);
            members.extend(taken.checked(member));
        } else if is_in_archive(&entry.name) && taken.names.insert(entry.name.clone()) {
            members.push(Member {
                name: entry.name,
                extent: Err("the ZIP file has more members than are read"),
                crc: None,
                is_gap: false,
            });
            break;
        }
    }
    Ok(Listing {
        members,
        damage: None,
    })
}

/// Whether a member of a WACZ lies in the folder of its WARC files.
pub(super) fn is_in_archive(name: &str) -> bool {
    name.starts_with("archive/")
}

/// The names and bytes that members have: no two have the same.
#[derive(Default)]
pub(super) struct Taken {
    names: HashSet<String>,
    /// The beginnings of parts, with their ends.
    parts: BTreeMap<u64, u64>,
}

impl Taken {
    pub(super) fn checked(&mut self, mut member: Member) -> Option<Member> {
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

/// The directory at the end of the file.
struct Directory {
    entries: Vec<Entry>,
    /// The offset of the directory, and its distance from the stated offset.
    start: u64,
    shift: i64,
    /// It has as many entries as it says.
    is_whole: bool,
}

/// The directory's extent, as the record at the end of the file states it.
struct DirectoryEnd {
    offset: u64,
    length: u64,
    count: u64,
    /// The end of the directory.
    at: u64,
    /// Nothing is behind it.
    is_last: bool,
}

impl Directory {
    /// Reads the directory, also where it is not at the offset that it should have. `None` if there is none.
    fn read(extent: &Extent) -> io::Result<Option<Self>> {
        let Some(end) = DirectoryEnd::find(extent)? else {
            return Ok(None);
        };
        let behind = end.at.checked_sub(end.length);
        let mut found = None;
        for start in [Some(end.offset), behind].into_iter().flatten() {
            let mut mark = [0; 4];
            let count = extent.read_at(start, &mut mark)?;
            let is_empty = end.length == 0 && start == end.at;
            if is_empty || mark[..count] == *b"PK\x01\x02" {
                found = Some(start);
                break;
            }
        }
        let Some(start) = found.filter(|_| end.length <= DIRECTORY) else {
            return Ok(None);
        };
        let mut bytes = vec![0; end.length as usize];
        let count = extent.read_at(start, &mut bytes)?;
        let (mut rest, mut entries) = (&bytes[..count], Vec::new());
        let shift = start.wrapping_sub(end.offset) as i64;
        while let Some((mut entry, behind)) = Entry::parse(rest) {
            rest = behind;
            entry.offset = entry.offset.wrapping_add_signed(shift);
            entry.start = entry.start.wrapping_add_signed(shift);
            entries.push(entry);
        }
        // A ZIP file in the last record that is left of a truncated WACZ has a directory too.
        if !end.is_last && !entries.iter().any(|entry| is_usual(&entry.name)) {
            return Ok(None);
        }
        // There may be more than can be counted.
        let is_whole = (entries.len() as u64 & 0xFFFF) == (end.count & 0xFFFF) && rest.is_empty();
        Ok(Some(Self {
            entries,
            start,
            shift,
            is_whole,
        }))
    }
}

impl DirectoryEnd {
    fn find(extent: &Extent) -> io::Result<Option<Self>> {
        let tail = extent.part.length.min(TAIL);
        let mut bytes = vec![0; tail as usize];
        let start = extent.part.length - tail;
        let count = extent.read_at(start, &mut bytes)?;
        let bytes = &bytes[..count];
        let Some(at) = memchr::memmem::rfind(bytes, b"PK\x05\x06") else {
            return Ok(None);
        };
        let end = &bytes[at..];
        let fields = (u16_at(end, 10), u32_at(end, 12), u32_at(end, 16));
        let (Some(count), Some(length), Some(offset)) = fields else {
            return Ok(None);
        };
        let short = Self {
            offset: offset.into(),
            length: length.into(),
            count: count.into(),
            at: start + at as u64,
            is_last: u16_at(end, 20).is_some_and(|comment| end.len() == 22 + usize::from(comment)),
        };
        // A file of more than 4 GiB has another record before it, and one that says where that is.
        let locator = at.checked_sub(20).map(|at| &bytes[at..]);
        let Some(locator) = locator.filter(|locator| locator.starts_with(b"PK\x06\x07")) else {
            return Ok(Some(short));
        };
        let before = short.at.checked_sub(20 + LARGE);
        for at in [u64_at(locator, 8), before].into_iter().flatten() {
            let mut record = [0; LARGE as usize];
            let count = extent.read_at(at, &mut record)?;
            let record = &record[..count];
            let fields = (u64_at(record, 32), u64_at(record, 40), u64_at(record, 48));
            if let ((Some(count), Some(length), Some(offset)), b"PK\x06\x06") =
                (fields, record.first_chunk().unwrap_or(&[0; 4]))
            {
                return Ok(Some(Self {
                    offset,
                    length,
                    count,
                    at,
                    is_last: short.is_last,
                }));
            }
        }
        Ok(None)
    }
}

/// A member, as the directory or its own head describes it.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) method: u16,
    pub(super) is_encrypted: bool,
    pub(super) crc: u32,
    pub(super) compressed: u64,
    pub(super) size: u64,
    /// The offset of its head, and that of its bytes.
    pub(super) offset: u64,
    pub(super) start: u64,
    /// Its lengths stand behind its bytes, and are not known from its head.
    pub(super) is_open: bool,
    /// Its head is where the directory says.
    pub(super) is_verified: bool,
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
            crc: u32_at(bytes, 16)?,
            compressed: u32_at(bytes, 20)?.into(),
            size: u32_at(bytes, 24)?.into(),
            offset: u32_at(bytes, 42)?.into(),
            start: 0,
            is_open: false,
            is_verified: false,
        };
        entry.enlarge(bytes.get(name_end..name_end + extra)?);
        // As long as its head is not seen: most have no extra field there.
        entry.start = entry.offset.saturating_add(HEAD + name as u64);
        Some((entry, bytes.get(name_end + extra + comment..)?))
    }

    /// Reads the head that a member has of its own, if it can be one.
    fn at(extent: &Extent, offset: u64) -> io::Result<Option<Self>> {
        let mut bytes = vec![0; LOCAL];
        let count = extent.read_at(offset, &mut bytes)?;
        Ok(Self::local(&bytes[..count], offset))
    }

    pub(super) fn local(bytes: &[u8], offset: u64) -> Option<Self> {
        if !begins(bytes) {
            return None;
        }
        let (version, flags) = (u16_at(bytes, 4)?, u16_at(bytes, 6)?);
        let name = usize::from(u16_at(bytes, 26)?);
        let extra = usize::from(u16_at(bytes, 28)?);
        let written = bytes.get(HEAD as usize..HEAD as usize + name)?;
        let is_name = |byte: &u8| *byte >= b' ' && *byte != 0x7F;
        if version & 0xFF > 63 || written.is_empty() || !written.iter().all(is_name) {
            return None;
        }
        let mut entry = Self {
            name: String::from_utf8_lossy(written).into_owned(),
            method: u16_at(bytes, 8)?,
            is_encrypted: flags & 1 != 0,
            crc: u32_at(bytes, 14)?,
            compressed: u32_at(bytes, 18)?.into(),
            size: u32_at(bytes, 22)?.into(),
            offset,
            start: offset + HEAD + (name + extra) as u64,
            is_open: flags & 8 != 0,
            is_verified: true,
        };
        let extra = bytes.get(HEAD as usize + name..HEAD as usize + name + extra);
        entry.enlarge(extra.unwrap_or_default());
        entry.offset = offset;
        Some(entry)
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

    /// Whether its own head is where the directory says, and says the same.
    fn verify(&mut self, extent: &Extent) -> io::Result<bool> {
        let Some(head) = Self::at(extent, self.offset)? else {
            return Ok(false);
        };
        self.start = head.start;
        if !self.is_same(&head) {
            return Ok(false);
        }
        // The head of a member that was written as a stream tells no lengths; what is behind its bytes does.
        Ok(!head.is_open || self.has_facts_of(&head) || self.ends(extent, self.start)?)
    }

    pub(super) fn to_member(&self, extent: &Extent) -> Member {
        let is_known = self.method == 0 || self.method == 8;
        Member {
            extent: self.extent(extent),
            crc: Some(self.crc).filter(|_| is_known),
            name: self.name.clone(),
            is_gap: false,
        }
    }

    fn extent(&self, extent: &Extent) -> Result<Extent, &'static str> {
        let end = self.start.checked_add(self.compressed);
        if end.is_none_or(|end| end > extent.part.length) {
            return Err("it reaches behind the end of the ZIP file");
        }
        if self.is_encrypted {
            return Err("it is encrypted");
        }
        let deflated = match self.method {
            0 => None,
            8 => Some(self.size),
            _ => return Err("it is compressed in a way that is not known here"),
        };
        Ok(Extent {
            file: extent.file.clone(),
            part: Part {
                start: extent.part.start + self.start,
                length: self.compressed,
                deflated,
            },
        })
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The record at the end, with the longest comment, and the ones before it.
const TAIL: u64 = 22 + 65_535 + 20 + LARGE;

/// The record at the end of a large file.
const LARGE: u64 = 56;

/// The head of a member, without its name.
const HEAD: u64 = 30;

/// The longest head of a member that is believed.
pub(super) const LOCAL: usize = 4 * 1024;

const NO_DIRECTORY: &str =
    "the directory of the ZIP file is missing; its members are read by their own heads";
const WRONG_DIRECTORY: &str =
    "the directory of the ZIP file is damaged; its members are read by their own heads";
const WRONG_HEAD: &str = "a member of the ZIP file is not where its directory says; its members are read by their own heads";

/// The most members that are looked at.
pub(super) const MEMBERS: usize = 10_000;

/// The longest directory that is believed.
const DIRECTORY: u64 = 64 * 1024 * 1024;
