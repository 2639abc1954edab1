//! The contents of a document: one gzip layer, and the members of tar and zip archives when asked for.
//!
//! Everything is read as a stream, so that no copy is needed and a member that nobody wants costs little. A zip archive
//! is read from its local headers; its central directory, which can name the same bytes a million times, is not looked
//! at. No member is ever written anywhere by its path.

mod error;
mod gzip;
mod meter;
mod names;
mod opening;
mod tar;
mod zip;

use std::io::{BufReader, Read};
use std::ops::ControlFlow;

pub use error::Error;
pub(crate) use tar::is_header as is_tar_header;

use meter::{Counted, Meter};
use opening::Opening;

/// Which containers are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Containers {
    /// A gzip layer around one document.
    pub gzip: bool,
    /// tar archives, also within a gzip layer.
    pub tar: bool,
    /// zip archives. Office documents and books are zip archives, too: ask their media type first.
    pub zip: bool,
}

/// How far a container may unfold. What goes beyond it is a bomb or might as well be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How many times larger the contents may be than the container.
    pub ratio: u64,
    /// Maximum number of bytes that may come out of any container, whatever the ratio.
    pub free: u64,
    /// How many bytes may come out in all.
    pub size: u64,
    /// How many containers may lie one in another; a tar archive and the gzip layer around it are one. What lies deeper is
    /// handed over as it is.
    pub depth: u32,
    /// How many members there may be in all.
    pub members: u64,
}

/// The findings in a container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opened {
    /// How many members were handed over.
    pub members: u64,
    /// The parts left out.
    pub skipped: Vec<Skipped>,
    /// Whether the receiver wanted no more.
    pub stopped: bool,
}

/// A member that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its path in the container.
    pub path: String,
    /// Why.
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Gzip,
    Tar,
    Zip,
}

impl Default for Containers {
    fn default() -> Self {
        Self {
            gzip: true,
            tar: false,
            zip: false,
        }
    }
}

impl Containers {
    /// All kinds of containers that can be opened.
    pub const ALL: Self = Self {
        gzip: true,
        tar: true,
        zip: true,
    };

    /// Whether [`open`] opens what begins like this; 512 bytes are enough.
    pub fn opens(self, head: &[u8]) -> bool {
        self.kind(head).is_some()
    }

    pub(crate) fn kind(self, head: &[u8]) -> Option<Kind> {
        if self.gzip && head.starts_with(&[0x1F, 0x8B, 0x08]) {
            return Some(Kind::Gzip);
        }
        if self.zip
            && (head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x07\x08PK\x03\x04"))
        {
            return Some(Kind::Zip);
        }
        let is_tar = self.tar && head.get(..tar::BLOCK).is_some_and(tar::is_header);
        is_tar.then_some(Kind::Tar)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            ratio: 200,
            free: 16 * 1024 * 1024,
            size: 4 * 1024 * 1024 * 1024,
            depth: 2,
            members: 10_000,
        }
    }
}

/// Opens a container of which `head` has been read already and `rest` is what follows, and calls `member` with each
/// member's path and bytes.
///
/// The path is empty for what lies in a gzip layer alone. It is a label: clean of `..`, of slashes at its beginning and of
/// control characters, and no two members have the same. The bytes need not be read to their end. Reading them may fail
/// where the container is damaged or goes beyond a limit; then an error is returned here as well, or the member is among
/// the skipped ones if the rest can be read.
///
/// ```
/// use std::io::{Read, Write};
/// use std::ops::ControlFlow;
/// use document::container::{Containers, Limits, open};
///
/// let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
/// gzip.write_all(b"%!PS-Adobe-3.0")?;
/// let mut texts = Vec::new();
///
/// open(&gzip.finish()?, &mut std::io::empty(), Containers::default(), &Limits::default(), &mut |path, bytes| {
///     let mut text = String::new();
///     if bytes.read_to_string(&mut text).is_ok() {
///         texts.push((path.to_owned(), text));
///     }
///     ControlFlow::Continue(())
/// })?;
///
/// assert_eq!(texts, [(String::new(), "%!PS-Adobe-3.0".to_owned())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open(
    head: &[u8],
    rest: &mut dyn Read,
    which: Containers,
    limits: &Limits,
    member: &mut dyn FnMut(&str, &mut dyn Read) -> ControlFlow<()>,
) -> Result<Opened, Error> {
    let mut start = Vec::with_capacity(tar::BLOCK);
    let mut input = head.chain(rest);
    (&mut input)
        .take(tar::BLOCK as u64)
        .read_to_end(&mut start)
        .map_err(Error::Damaged)?;
    let kind = which.kind(&start).ok_or(Error::NoContainer)?;

    let meter = Meter::new(limits);
    let mut input = BufReader::new(Counted::new(start.chain(input), &meter));
    let mut opening = Opening::new(which, &meter, member);
    let flow = opening.layer(kind, &mut input, "", 1)?;
    Ok(opening.finish(flow.is_break()))
}
