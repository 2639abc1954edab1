//! The list of a backup: lines of JSON in gzip. The first tells about the backup, the last that nothing is missing.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};
use data_encoding::HEXLOWER;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use super::walk::Found;

/// The first line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Header {
    /// The version of the form of backups.
    pub(super) format: u32,
    /// The version of the program that made it.
    pub(super) garner: String,
    /// When it began.
    pub(super) name: String,
    /// The catalog.
    pub(super) catalog: CatalogFile,
}

/// The catalog as a SQLite file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct CatalogFile {
    pub(super) sha256: String,
    pub(super) size: u64,
    /// The version of its tables.
    pub(super) schema: i64,
    /// Where it was.
    pub(super) location: String,
}

/// A file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Its path in the data directory; in hexadecimal digits if it is no UTF-8.
    path: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_hex: bool,
    pub(super) size: u64,
    /// When its bytes changed, in nanoseconds.
    pub(super) modified: i64,
    /// When anything of it changed.
    changed: i64,
    pub(super) mode: u32,
    pub(super) sha256: String,
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
struct End {
    end: bool,
    files: u64,
}

/// A line behind the first.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    End(End),
    Entry(Entry),
}

impl Header {
    pub(super) fn new(name: &str, catalog: CatalogFile) -> Self {
        Self {
            format: FORMAT,
            garner: env!("CARGO_PKG_VERSION").to_owned(),
            name: name.to_owned(),
            catalog,
        }
    }
}

impl Entry {
    pub(super) fn new(found: &Found, sha256: String, size: u64) -> Self {
        let (path, is_hex) = match found.path.to_str() {
            Some(path) => (path.to_owned(), false),
            None => (HEXLOWER.encode(found.path.as_os_str().as_bytes()), true),
        };
        Self {
            path,
            is_hex,
            size,
            modified: found.modified,
            changed: found.changed,
            mode: found.mode,
            sha256,
        }
    }

    /// Whether the file has not been touched since.
    pub(super) fn is_of(&self, found: &Found) -> bool {
        (self.size, self.modified, self.changed) == (found.size, found.modified, found.changed)
    }

    /// Its path, which stays below any directory that it is joined to.
    pub(super) fn relative_path(&self) -> anyhow::Result<PathBuf> {
        let path = match self.is_hex {
            false => PathBuf::from(&self.path),
            true => {
                let bytes = HEXLOWER.decode(self.path.as_bytes());
                OsString::from_vec(bytes.context("a path of the backup's list is damaged")?).into()
            }
        };
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if path.as_os_str().is_empty() || !path.components().all(is_plain) {
            bail!(
                "the backup's list has a path that leaves the directory: `{}`",
                self.path
            );
        }
        Ok(path)
    }
}

/// Writes a list into a file without a name.
pub(super) struct ListWriter {
    out: GzEncoder<BufWriter<File>>,
}

impl ListWriter {
    pub(super) fn create(scratch: &Path, header: &Header) -> anyhow::Result<Self> {
        let file = tempfile::tempfile_in(scratch).context("the list cannot be written")?;
        let out = GzEncoder::new(BufWriter::new(file), Compression::default());
        let mut list = Self { out };
        list.line(header)?;
        Ok(list)
    }

    pub(super) fn add(&mut self, entry: &Entry) -> anyhow::Result<()> {
        self.line(entry)
    }

    pub(super) fn finish(mut self, files: u64) -> anyhow::Result<File> {
        self.line(&End { end: true, files })?;
        let mut file = self
            .out
            .finish()?
            .into_inner()
            .map_err(|error| error.into_error())?;
        file.sync_all()?;
        file.rewind()?;
        Ok(file)
    }

    fn line(&mut self, line: &impl Serialize) -> anyhow::Result<()> {
        serde_json::to_writer(&mut self.out, line)?;
        self.out
            .write_all(b"\n")
            .context("the list cannot be written")
    }
}

/// Reads a list.
pub(super) struct ListReader {
    lines: BufReader<GzDecoder<Box<dyn Read + Send>>>,
    name: String,
    pub(super) header: Header,
    read: u64,
    is_over: bool,
}

impl ListReader {
    pub(super) fn new(name: &str, bytes: Box<dyn Read + Send>) -> anyhow::Result<Self> {
        let mut lines = BufReader::new(GzDecoder::new(bytes));
        let first = line_of(&mut lines, name)?;
        // The form of a newer one may be another; its version stands in each.
        #[derive(Deserialize)]
        struct Version {
            format: u32,
            garner: String,
        }
        let damaged = || format!("the list of the backup {name} is damaged");
        let version: Version = serde_json::from_str(&first).with_context(damaged)?;
        if version.format > FORMAT {
            bail!(
                "the backup {name} was made by a newer garner ({}, format {}; this one knows {FORMAT}); use that garner to read it",
                version.garner,
                version.format
            );
        }
        Ok(Self {
            header: serde_json::from_str(&first).with_context(damaged)?,
            lines,
            name: name.to_owned(),
            read: 0,
            is_over: false,
        })
    }

    /// The next file. A list without its last line is an error.
    pub(super) fn next_entry(&mut self) -> anyhow::Result<Option<Entry>> {
        if self.is_over {
            return Ok(None);
        }
        let line = line_of(&mut self.lines, &self.name)?;
        let damaged = || format!("the list of the backup {} is damaged", self.name);
        match serde_json::from_str(&line).with_context(damaged)? {
            Line::Entry(entry) => {
                self.read += 1;
                Ok(Some(entry))
            }
            Line::End(end) if end.end && end.files == self.read => {
                self.is_over = true;
                Ok(None)
            }
            Line::End(_) => bail!("the list of the backup {} lacks files", self.name),
        }
    }
}

fn line_of(lines: &mut impl BufRead, name: &str) -> anyhow::Result<String> {
    let mut line = String::new();
    let read = lines.take(LONGEST_LINE).read_line(&mut line);
    read.with_context(|| format!("the list of the backup {name} is damaged"))?;
    match line.ends_with('\n') {
        true => Ok(line),
        false => bail!("the list of the backup {name} is cut short"),
    }
}

/// Older forms can be read; newer ones are refused.
pub(super) const FORMAT: u32 = 1;
const LONGEST_LINE: u64 = 64 * 1024;
