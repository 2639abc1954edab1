//! ZIP and what is built on it: OOXML by the names of its members, OpenDocument and EPUB by their first one.

use super::sniff::{Family, Sniffed};
use super::text;

pub(super) fn is_zip(head: &[u8]) -> bool {
    [b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"]
        .iter()
        .any(|mark| head.starts_with(*mark))
}

pub(super) fn sniff(head: &[u8]) -> Sniffed {
    if let Some(found) = declared_inside(head) {
        return found;
    }
    let mut family = Sniffed::of("application/zip", Family::Zip);
    for name in names(head) {
        match name {
            _ if name.starts_with(b"word/") => return office(WORD),
            _ if name.starts_with(b"ppt/") => return office(PRESENTATION),
            _ if name.starts_with(b"xl/") => return office(SHEET),
            b"AndroidManifest.xml" => {
                return Sniffed::certain("application/vnd.android.package-archive");
            }
            b"META-INF/MANIFEST.MF" => family = Sniffed::certain("application/java-archive"),
            b"FixedDocumentSequence.fdseq" => {
                return Sniffed::certain("application/vnd.ms-xpsdocument");
            }
            _ => {}
        }
    }
    family
}

/// Whether a type is one of those that are ZIP archives.
pub(super) fn is_in_zip(media_type: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "application/vnd.openxmlformats-officedocument.",
        "application/vnd.oasis.opendocument.",
        "application/vnd.sun.xml.",
    ];
    media_type.ends_with("+zip")
        || media_type.contains("macroenabled")
        || media_type == "application/java-archive"
        || PREFIXES.iter().any(|prefix| media_type.starts_with(prefix))
}

/// OpenDocument, part 3, 3.3, and EPUB's OCF: the first member is called `mimetype`, is not compressed, and holds it.
fn declared_inside(head: &[u8]) -> Option<Sniffed> {
    let name = names(head).next()?;
    if name != b"mimetype" || !head.starts_with(b"PK\x03\x04") {
        return None;
    }
    let extra = usize::from(u16::from_le_bytes([*head.get(28)?, *head.get(29)?]));
    let content = head.get(30 + name.len() + extra..)?;
    let mut known = INSIDE
        .iter()
        .filter(|known| content.starts_with(known.as_bytes()));
    // "text" begins "text-master" too: the longest is meant.
    let first = known.next()?;
    let longest = known.fold(
        first,
        |one, other| if other.len() > one.len() { other } else { one },
    );
    Some(Sniffed::certain(longest))
}

/// The names of members whose local headers are in sight.
fn names(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    text::find_all(head, b"PK\x03\x04").filter_map(|at| {
        let length = usize::from(u16::from_le_bytes([
            *head.get(at + 26)?,
            *head.get(at + 27)?,
        ]));
        head.get(at + 30..at + 30 + length)
    })
}

const fn office(media_type: &'static str) -> Sniffed {
    Sniffed::of(media_type, Family::OfficeOpenXml)
}

const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const PRESENTATION: &str =
    "application/vnd.openxmlformats-officedocument.presentationml.presentation";
const SHEET: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

const INSIDE: &[&str] = &[
    "application/epub+zip",
    "application/vnd.oasis.opendocument.text",
    "application/vnd.oasis.opendocument.text-template",
    "application/vnd.oasis.opendocument.text-master",
    "application/vnd.oasis.opendocument.text-web",
    "application/vnd.oasis.opendocument.presentation",
    "application/vnd.oasis.opendocument.presentation-template",
    "application/vnd.oasis.opendocument.spreadsheet",
    "application/vnd.oasis.opendocument.spreadsheet-template",
    "application/vnd.oasis.opendocument.graphics",
    "application/vnd.oasis.opendocument.chart",
    "application/vnd.oasis.opendocument.formula",
    "application/vnd.oasis.opendocument.image",
    "application/vnd.sun.xml.writer",
    "application/vnd.sun.xml.impress",
    "application/vnd.sun.xml.calc",
];
