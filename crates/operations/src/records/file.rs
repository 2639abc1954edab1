//! The file of a record, as the harvest stored it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use catalog::{RecordEntry, Repository};
use flows::Holdings;

use crate::Refusal;

/// Where the file of a record is.
#[derive(Debug, Clone)]
pub struct RecordFile {
    record: i64,
    directory: PathBuf,
    file: PathBuf,
}

/// The content of the file.
#[derive(Debug)]
pub enum RecordText {
    /// All of it.
    Whole(Vec<u8>),
    /// It is longer than a page shows; this many bytes.
    TooLong(u64),
    /// It was removed, or cannot be read; why.
    Unreadable(String),
}

impl RecordFile {
    /// The file of a record, if it has one. A name that leads out of its directory counts as none.
    pub(crate) fn of(
        holdings: &Holdings,
        repository: &Repository,
        record: &RecordEntry,
    ) -> Option<Self> {
        let file = PathBuf::from(record.file.as_deref()?);
        let mut parts = file.components();
        if !parts.all(|part| matches!(part, Component::Normal(_))) {
            return None;
        }
        Some(Self {
            record: record.id,
            directory: holdings.record_directory(repository, &record.metadata_prefix),
            file,
        })
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.directory.join(&self.file)
    }

    /// Reads the file, unless it is long; this blocks.
    pub fn read(&self) -> RecordText {
        match self.try_open().and_then(read) {
            Ok(text) => text,
            Err(error) => RecordText::Unreadable(error.to_string()),
        }
    }

    /// Opens the file; this blocks.
    pub fn open(&self) -> Result<File, Refusal> {
        self.try_open().map_err(|error| {
            Refusal::not_found(format!(
                "the file of record {} cannot be read: {error}; a full harvest brings it back",
                self.record
            ))
        })
    }

    /// Opens the file if it lies in the directory of its repository: a link that leads elsewhere is not followed.
    fn try_open(&self) -> io::Result<File> {
        let path = self.path().canonicalize()?;
        if !path.starts_with(self.directory.canonicalize()?) || !is_file(&path) {
            return Err(io::Error::other("it is not a file of this repository"));
        }
        File::open(path)
    }
}

fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file())
}

fn read(file: File) -> io::Result<RecordText> {
    let length = file.metadata()?.len();
    if length > LONGEST {
        return Ok(RecordText::TooLong(length));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(RecordText::Whole(bytes))
}

/// A page cannot show more.
const LONGEST: u64 = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn file(directory: &Path, file: &str) -> RecordFile {
        RecordFile {
            record: 1,
            directory: directory.to_owned(),
            file: file.into(),
        }
    }

    #[test]
    fn links_that_lead_elsewhere_are_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        let inside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "s").unwrap();
        std::fs::write(inside.path().join("a.xml"), "<a/>").unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret"), inside.path().join("b.xml"))
            .unwrap();

        let good = file(inside.path(), "a.xml").read();
        assert!(matches!(good, RecordText::Whole(bytes) if bytes == b"<a/>"));
        for bad in ["b.xml", "missing.xml", "."] {
            let read = file(inside.path(), bad).read();
            assert!(matches!(read, RecordText::Unreadable(_)), "{bad}: {read:?}");
        }
    }

    #[test]
    fn long_files_are_not_shown() {
        let inside = tempfile::tempdir().unwrap();
        let long = File::create(inside.path().join("a.xml")).unwrap();
        long.set_len(LONGEST + 1).unwrap();
        let read = file(inside.path(), "a.xml").read();
        assert!(matches!(read, RecordText::TooLong(length) if length == LONGEST + 1));
    }
}
