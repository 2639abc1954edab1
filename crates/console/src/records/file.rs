//! The file of a record, as the harvest stored it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use axum::body::Body;
use catalog::{RecordEntry, Repository};
use jobs::Holdings;
use tokio::sync::OwnedSemaphorePermit;

use crate::stream;

/// Where the file of a record lies.
#[derive(Debug, Clone)]
pub(crate) struct RecordFile {
    directory: PathBuf,
    file: PathBuf,
}

/// What is in the file.
#[derive(Debug)]
pub(crate) enum RecordText {
    /// All of it.
    Whole(Vec<u8>),
    /// It is longer than is shown.
    TooLong(u64),
    /// Somebody removed it, or it cannot be read.
    Unreadable(String),
}

impl RecordFile {
    /// The file of a record, if it has one.
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
            directory: holdings.record_directory(repository, &record.metadata_prefix),
            file,
        })
    }

    /// Where it is, for people.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.join(&self.file)
    }

    /// Reads the file, unless it is long; this blocks.
    pub(crate) fn read(&self) -> RecordText {
        match self.open().and_then(read) {
            Ok(text) => text,
            Err(error) => RecordText::Unreadable(error.to_string()),
        }
    }

    /// The file as the body of an answer, however long it is; this blocks until it is opened. The turn is over when all
    /// of it is sent, or when the one who reads it has stopped.
    pub(crate) fn body(&self, turn: OwnedSemaphorePermit) -> io::Result<Body> {
        Ok(stream::of(self.open()?, turn))
    }

    /// Opens it, if it lies where the files of its repository do: a link that leads elsewhere is not followed.
    fn open(&self) -> io::Result<File> {
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

/// A page with more than that is of no use to anybody.
const LONGEST: u64 = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn file(directory: &Path, file: &str) -> RecordFile {
        RecordFile {
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
