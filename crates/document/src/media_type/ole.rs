//! OLE2, the compound files of Microsoft's older programs: what they are is told by the names of their streams.
//!
//! The directory of streams may lie anywhere in the file. Where it is not in sight, the first sector often tells, which
//! most programs begin their main stream with.

use super::sniff::{Family, Sniffed};
use super::text;

pub(super) fn is_ole(head: &[u8]) -> bool {
    head.starts_with(&[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1])
}

pub(super) fn sniff(head: &[u8]) -> Sniffed {
    let in_directory = directory(head).and_then(|entries| {
        let mut streams = entries.chunks_exact(ENTRY).map(|entry| &entry[..NAME]);
        streams.find_map(|name| {
            STREAMS
                .iter()
                .find(|(known, _)| name.starts_with(&utf16(known)))
        })
    });
    let anywhere = || {
        STREAMS
            .iter()
            .find(|(known, _)| text::find(head, &utf16(known)).is_some())
    };
    let by_name = in_directory
        .or_else(anywhere)
        .map(|(_, media_type)| *media_type);
    match by_name.or_else(|| first_sector(head)) {
        Some(media_type) => Sniffed::certain(media_type),
        None => Sniffed::of("application/x-ole-storage", Family::Ole),
    }
}

/// Whether a type is one of those that are OLE2 files.
pub(super) fn is_in_ole(media_type: &str) -> bool {
    STREAMS.iter().any(|(_, known)| *known == media_type)
        || media_type.starts_with("application/vnd.ms-")
}

/// The part of the directory that is in sight (MS-CFB, 2.2 and 2.6).
fn directory(head: &[u8]) -> Option<&[u8]> {
    let shift = u16::from_le_bytes(head.get(30..32)?.try_into().ok()?);
    let sector = u32::from_le_bytes(head.get(48..52)?.try_into().ok()?);
    if !matches!(shift, 9 | 12) {
        return None;
    }
    let start = usize::try_from((u64::from(sector) + 1) << shift).ok()?;
    let end = start.checked_add(1 << shift)?.min(head.len());
    head.get(start..end)
}

fn first_sector(head: &[u8]) -> Option<&'static str> {
    let start = head.get(512..520)?;
    match start {
        [0xEC, 0xA5, ..] => Some(WORD),
        [0x09, 0x08, 0x10 | 0x08, 0x00, 0x00, 0x05 | 0x06, ..] => Some(EXCEL),
        [0x00, 0x6E, 0x1E, 0xF0, ..]
        | [0x0F, 0x00, 0xE8, 0x03, ..]
        | [0xA0, 0x46, 0x1D, 0xF0, ..] => Some(POWERPOINT),
        _ => None,
    }
}

fn utf16(name: &str) -> Vec<u8> {
    name.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

const WORD: &str = "application/msword";
const EXCEL: &str = "application/vnd.ms-excel";
const POWERPOINT: &str = "application/vnd.ms-powerpoint";

const STREAMS: &[(&str, &str)] = &[
    ("WordDocument", WORD),
    ("PowerPoint Document", POWERPOINT),
    ("Workbook", EXCEL),
    ("Book\0", EXCEL),
    ("VisioDocument", "application/vnd.visio"),
    ("__substg1.0_", "application/vnd.ms-outlook"),
    ("Quill\0", "application/x-mspublisher"),
];

/// A directory entry is so long (MS-CFB, 2.6.1), and its name at most so.
const ENTRY: usize = 128;
const NAME: usize = 64;
