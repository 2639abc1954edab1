//! The members of a ZIP file by their own heads, where its directory is missing or wrong.
//!
//! Bytes may have been cut out, put in or changed anywhere, so that no length is taken for granted. Members hold ZIP files
//! of their own: a head counts if it is where one is expected, or has a name that members of a WACZ have.

use std::collections::HashSet;
use std::io;
use std::ops::Range;

use memchr::memmem;

use super::{Entry, LOCAL, Listing, MEMBERS, Member, Taken, is_in_archive, u32_at};
use crate::archive::input::{Extent, Input, Part};
use crate::archive::open::names::Named;

/// Finds the members that begin before `end`. `known` is what is left of the directory.
pub(in crate::archive) fn by_heads(
    extent: &Extent,
    known: Vec<Entry>,
    end: u64,
    damage: &'static str,
) -> io::Result<Listing> {
    let mut heads = scan(extent, &known, end)?;
    let mut lost = Vec::new();
    for entry in known {
        let same = |head: &&mut Entry| match entry.is_verified {
            true => head.offset == entry.offset,
            false => head.name == entry.name,
        };
        match heads.iter_mut().find(same) {
            Some(head) => head.learn(&entry, extent)?,
            None => lost.push(entry),
        }
    }
    let (mut members, mut taken) = (Vec::new(), Taken::default());
    let mut gaps = Vec::new();
    let mut covered = 0;
    for at in 0..heads.len() {
        let bound = heads.get(at + 1).map_or(end, |next| next.offset);
        let head = &mut heads[at];
        gaps.push(covered..head.offset);
        // The head of another member may be lost between this one and the next.
        let end = head.start.saturating_add(head.compressed);
        let is_last = !lost.iter().any(|other| (end..bound).contains(&other.start));
        let is_archive = is_in_archive(&head.name) || Named::of(&head.name).is_archive;
        let has_sum = head.fit(extent, bound, is_last && is_archive)?;
        covered = head.start.saturating_add(head.compressed);
        if head.name.ends_with('/') {
            continue;
        }
        let mut member = head.to_member(extent);
        member.crc = member.crc.filter(|_| has_sum);
        members.extend(taken.checked(member));
    }
    gaps.push(covered..end);
    // Stored members are found between the others. Deflated ones have to be read from their first byte.
    lost.retain(|entry| {
        let is_between = gaps.iter().any(|gap| gap.contains(&entry.start));
        entry.method == 8 && is_between && !entry.name.ends_with('/')
    });
    for entry in lost {
        members.extend(taken.checked(entry.to_member(extent)));
    }
    for gap in gaps {
        members.extend(between(extent, gap)?);
    }
    Ok(Listing {
        members,
        damage: Some(damage),
    })
}

/// All heads that can be believed, in the order of the file.
fn scan(extent: &Extent, known: &[Entry], end: u64) -> io::Result<Vec<Entry>> {
    let names: HashSet<_> = known.iter().map(|entry| entry.name.as_str()).collect();
    let mut heads: Vec<Entry> = Vec::new();
    let mut buffer = vec![0; BUFFER];
    let (mut at, mut expected) = (0, 0);
    // A member that lost as many bytes as the next one has seems to end where that one does.
    let mut inside_until = 0;
    let is_known = |entry: &Entry| known.iter().any(|other| other.is_same(entry));
    while at < end && heads.len() < MEMBERS {
        let base = at;
        let count = extent.read_at(base, &mut buffer)?;
        let is_last = count < BUFFER;
        while at <= base + count as u64 && heads.len() < MEMBERS {
            let rest = &buffer[(at - base) as usize..count];
            let Some(found) = memmem::find(rest, b"PK\x03\x04") else {
                at = match is_last {
                    true => end,
                    false => base + count as u64 - 3,
                };
                break;
            };
            let (offset, rest) = (at + found as u64, &rest[found..]);
            if rest.len() < LOCAL && !is_last {
                at = offset;
                break;
            }
            at = offset + 1;
            let is_wanted = |entry: &Entry| match offset < inside_until {
                true => is_known(entry),
                false => {
                    let is_named = names.contains(entry.name.as_str());
                    offset == expected || is_named || is_usual(&entry.name)
                }
            };
            let Some(entry) = Entry::local(rest, offset).filter(is_wanted) else {
                continue;
            };
            at = entry.start;
            let behind = entry.start.saturating_add(entry.compressed);
            if !entry.is_open && is_mark(extent, behind)? {
                (inside_until, expected) = (behind, behind);
                // Without a directory nothing tells a member from a ZIP file inside of one.
                if known.is_empty() {
                    at = behind;
                }
            }
            heads.push(entry);
        }
    }
    heads.retain(|head| head.offset < end);
    Ok(heads)
}

/// The names that members of a WACZ have.
pub(in crate::archive) fn is_usual(name: &str) -> bool {
    let usual = ["archive/", "indexes/", "pages/", "logs/", "datapackage"];
    usual.iter().any(|usual| name.starts_with(usual)) || Named::of(name).is_archive
}

/// Whether something of a ZIP file begins at an offset, or the file ends there.
fn is_mark(extent: &Extent, offset: u64) -> io::Result<bool> {
    let mut mark = [0; 4];
    let count = extent.read_at(offset, &mut mark)?;
    let is_one = matches!(
        mark,
        [b'P', b'K', 3, 4] | [b'P', b'K', 1, 2] | [b'P', b'K', 5 | 6, 6] | [b'P', b'K', 7, 8]
    );
    Ok(is_one && count == 4 || offset == extent.part.length)
}

/// Bytes that belong to no member: what a head is lost of. Where a record begins right behind its name, they begin there.
fn between(extent: &Extent, gap: Range<u64>) -> io::Result<Option<Member>> {
    if gap.end <= gap.start.saturating_add(SMALL) {
        return Ok(None);
    }
    let mut bytes = vec![0; LOCAL];
    let count = extent.read_at(gap.start, &mut bytes)?;
    let marks: [&[u8]; 3] = [b"WARC/0", b"WARC/1", b"filedesc://"];
    let found = marks
        .iter()
        .filter_map(|mark| memmem::find(&bytes[..count], mark));
    let start = gap.start + found.min().unwrap_or(0) as u64;
    Ok(Some(Member {
        name: format!("(bytes {start} to {})", gap.end),
        extent: Ok(Extent {
            file: extent.file.clone(),
            part: Part {
                start: extent.part.start + start,
                length: gap.end.saturating_sub(start),
                deflated: None,
            },
        }),
        crc: None,
        is_gap: true,
    }))
}

impl Entry {
    /// Whether a head is that of the member that the directory describes.
    pub(in crate::archive) fn is_same(&self, head: &Self) -> bool {
        let way = |entry: &Self| (entry.method, entry.is_encrypted);
        self.name == head.name
            && way(self) == way(head)
            && (head.is_open || self.has_facts_of(head))
    }

    /// Whether a head tells the lengths and the checksum that the directory does.
    pub(in crate::archive) fn has_facts_of(&self, head: &Self) -> bool {
        let facts = |entry: &Self| (entry.crc, entry.compressed, entry.size);
        facts(self) == facts(head)
    }

    /// Whether a member whose bytes begin at `start` ends where the directory says: its lengths stand there, or something
    /// else of the ZIP file begins.
    pub(in crate::archive) fn ends(&self, extent: &Extent, start: u64) -> io::Result<bool> {
        let end = start.saturating_add(self.compressed);
        let mut bytes = [0; 24];
        let count = extent.read_at(end, &mut bytes)?;
        let bytes = &bytes[..count];
        let Some(told) = bytes.strip_prefix(b"PK\x07\x08") else {
            let is_told = self.is_told(bytes, 4) || self.is_told(bytes, 8);
            return Ok(is_told || is_mark(extent, end)?);
        };
        Ok(self.is_told(told, 4) || self.is_told(told, 8))
    }

    /// Whether bytes are its checksum and its two lengths, as numbers of `width` bytes.
    fn is_told(&self, bytes: &[u8], width: usize) -> bool {
        let mut wanted = self.crc.to_le_bytes().to_vec();
        for length in [self.compressed, self.size] {
            wanted.extend(&length.to_le_bytes()[..width]);
        }
        bytes.starts_with(&wanted)
    }

    /// Takes what the directory knows and the head does not.
    fn learn(&mut self, entry: &Self, extent: &Extent) -> io::Result<()> {
        let is_right = entry.is_verified || self.is_open && entry.ends(extent, self.start)?;
        if is_right {
            (self.compressed, self.size) = (entry.compressed, entry.size);
            (self.crc, self.is_open) = (entry.crc, false);
        }
        Ok(())
    }

    /// Finds out how long a member is that ends before `bound`, and whether its checksum is known. `may_grow` says that bytes
    /// may have been put into it.
    fn fit(&mut self, extent: &Extent, bound: u64, may_grow: bool) -> io::Result<bool> {
        let bound = bound.min(extent.part.length).max(self.start);
        let end = self.start.saturating_add(self.compressed);
        let is_right = end == bound || !may_grow || is_mark(extent, end)?;
        if !self.is_open && end <= bound && is_right {
            return Ok(true);
        }
        let (was_open, declared) = (self.is_open, self.size);
        self.compressed = bound - self.start;
        let mut has_sum = !was_open;
        if let Some(described) = self.described(extent)? {
            (self.compressed, self.crc) = described;
            has_sum = true;
        }
        if self.method == 8 {
            self.size = match was_open {
                true => inflated_size(extent, self)?,
                false => declared,
            };
        }
        Ok(has_sum)
    }

    /// The length and the checksum by the record behind the bytes, which some writers put there.
    fn described(&self, extent: &Extent) -> io::Result<Option<(u64, u32)>> {
        let mut bytes = [0; 24];
        let seen = self.compressed.min(24);
        let count = extent.read_at(
            self.start + self.compressed - seen,
            &mut bytes[..seen as usize],
        )?;
        let bytes = &bytes[..count];
        // With or without its mark, with numbers of 32 or 64 bits.
        for (length, mark) in [(24, true), (20, false), (16, true), (12, false)] {
            let Some(tail) = bytes.len().checked_sub(length).map(|at| &bytes[at..]) else {
                continue;
            };
            let fields = match mark {
                true => tail.strip_prefix(b"PK\x07\x08"),
                false => Some(tail),
            };
            let Some(fields) = fields else { continue };
            let (crc, told) = (u32_at(fields, 0), u32_at(fields, 4));
            let before = self.compressed - length as u64;
            if told.is_some_and(|told| u64::from(told) == before & 0xFFFF_FFFF) {
                return Ok(crc.map(|crc| (before, crc)));
            }
        }
        Ok(None)
    }
}

/// Computes the expanded size of a member that does not state it.
fn inflated_size(extent: &Extent, entry: &Entry) -> io::Result<u64> {
    let extent = Extent {
        file: extent.file.clone(),
        part: Part {
            start: extent.part.start + entry.start,
            length: entry.compressed,
            deflated: Some(u64::MAX),
        },
    };
    let (mut input, mut buffer) = (Input::new(&extent), vec![0; BUFFER]);
    let mut size = 0;
    loop {
        match input.read(&mut buffer)? {
            0 => return Ok(size),
            count => size += count as u64,
        }
    }
}

const BUFFER: usize = 256 * 1024;

/// As much may lie between two members: the lengths of the first.
const SMALL: u64 = 64;
