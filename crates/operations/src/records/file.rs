//! The XML of a record, as the harvest stored it.

use std::io::{self, Read};
use std::sync::Arc;

use catalog::{RecordEntry, Repository};
use flows::Holdings;
use store::Reader;

use crate::Refusal;

/// Where the XML of a record is.
#[derive(Debug, Clone)]
pub struct RecordFile {
    holdings: Arc<Holdings>,
    repository: Repository,
    record: i64,
    metadata_prefix: String,
    file: String,
}

/// The XML.
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
    /// The XML of a record, if it has any.
    pub(crate) fn of(
        holdings: &Arc<Holdings>,
        repository: Repository,
        record: &RecordEntry,
    ) -> Option<Self> {
        Some(Self {
            holdings: Arc::clone(holdings),
            repository,
            record: record.id,
            metadata_prefix: record.metadata_prefix.clone(),
            file: record.file.clone()?,
        })
    }

    /// Reads it, unless it is long; this blocks.
    pub fn read(&self) -> RecordText {
        match self.try_open().and_then(read) {
            Ok(text) => text,
            Err(error) => RecordText::Unreadable(error.to_string()),
        }
    }

    /// Opens it; this blocks.
    pub fn open(&self) -> Result<Reader, Refusal> {
        self.try_open().map_err(|error| {
            Refusal::not_found(format!(
                "the file of record {} cannot be read: {error}; a full harvest brings it back",
                self.record
            ))
        })
    }

    fn try_open(&self) -> io::Result<Reader> {
        let (holdings, prefix) = (&self.holdings, &self.metadata_prefix);
        let opened = holdings.open_record(&self.repository, prefix, &self.file);
        opened.map_err(|error| match error {
            // The path is no business of those who may only read records.
            store::Error::Io { source, .. } => source,
            other => io::Error::other(other),
        })
    }
}

fn read(reader: Reader) -> io::Result<RecordText> {
    let length = reader.length();
    if length > LONGEST {
        return Ok(RecordText::TooLong(length));
    }
    let mut bytes = Vec::new();
    reader.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(RecordText::Whole(bytes))
}

/// A page cannot show more.
const LONGEST: u64 = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_not_shown() {
        let long = |length| Reader::new(Box::new(io::repeat(b'a').take(length)), length);

        let read_long = read(long(LONGEST + 1)).unwrap();
        assert!(matches!(read_long, RecordText::TooLong(length) if length == LONGEST + 1));
        let read_short = read(long(3)).unwrap();
        assert!(matches!(read_short, RecordText::Whole(bytes) if bytes == b"aaa"));
    }
}
