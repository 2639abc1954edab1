//! The description of a result: facts that follow from the source alone, and the entry that says that it is complete.

use catalog::ImportCounters;
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::super::order::Parameters;
use super::place::{BYTES, DOCUMENTS, SOURCES};
use crate::Failure;

/// Facts about a result, which stand in the Parquet file too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::import) struct Facts {
    /// The version of the format.
    pub(in crate::import) format: u32,
    /// The program that wrote it.
    pub(in crate::import) program: String,
    /// The SHA-256 of the source.
    pub(in crate::import) source: String,
    pub(in crate::import) source_size: u64,
    /// The options that make another import.
    pub(in crate::import) options: Parameters,
    /// The version of the model that judged, if one did.
    pub(in crate::import) model: Option<String>,
    pub(in crate::import) rows: u64,
    /// The counters that rows do not tell.
    pub(in crate::import) read: ImportCounters,
    /// The counters of an import of this source alone.
    pub(in crate::import) counters: ImportCounters,
    /// The document bytes, if they were extracted.
    pub(in crate::import) bytes: Option<Segment>,
}

/// A WARC file with the bytes of documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::import) struct Segment {
    pub(in crate::import) sha256: String,
    pub(in crate::import) size: u64,
    pub(in crate::import) records: u64,
}

/// Says that the result of a source is complete. It is written last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::import) struct Entry {
    #[serde(flatten)]
    pub(in crate::import) facts: Facts,
    /// The SHA-256 of the Parquet file.
    pub(in crate::import) sha256: String,
    /// Its size.
    pub(in crate::import) size: u64,
    /// Where the source was read.
    pub(in crate::import) path: String,
    /// When the source was written: the date of captures that have none.
    pub(in crate::import) written: i64,
}

/// The version of the format: of columns, names and entries.
pub(in crate::import) const FORMAT: u32 = 1;

impl Facts {
    /// The digest of the options.
    pub(in crate::import) fn options_digest(&self) -> anyhow::Result<String> {
        Ok(sha256(&serde_json::to_vec(&self.options)?))
    }

    /// The key by which a source counts once: another program version or place makes no other source.
    pub(in crate::import) fn key(&self) -> anyhow::Result<String> {
        Ok(format!("{} {}", self.source, self.options_digest()?))
    }
}

impl Entry {
    /// Reads an entry; one of another format is refused.
    pub(in crate::import) fn parse(bytes: &[u8], name: &str) -> anyhow::Result<Self> {
        let refused = |reason: String| {
            let message = format!("`{name}` is no result that can be loaded: {reason}");
            anyhow::Error::from(Failure::new(Failure::NOT_A_RESULT, message))
        };
        let format = Format::of(bytes).map_err(|error| refused(error.to_string()))?;
        if format.format != FORMAT {
            let (is, program) = (format.format, format.program);
            return Err(refused(format!(
                "it has format {is}, by {program}, and this garner reads format {FORMAT}; extract it again, or load it with that program"
            )));
        }
        let entry: Self =
            serde_json::from_slice(bytes).map_err(|error| refused(error.to_string()))?;
        for digest in [&entry.facts.source, &entry.sha256] {
            if !is_sha256(digest) {
                return Err(refused("it names no digests".to_owned()));
            }
        }
        Ok(entry)
    }
}

/// The beginning of an entry of any format.
#[derive(Deserialize)]
struct Format {
    format: u32,
    #[serde(default)]
    program: String,
}

impl Format {
    fn of(bytes: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(bytes)
    }
}

/// The name that the files of a result share: it follows from the source, the options and the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::import) struct ResultName(String);

impl ResultName {
    pub(in crate::import) fn new(source: &str, options: &str) -> Self {
        Self(format!("{}-{}", &source[..32], &options[..16]))
    }

    /// The name that a file below `_sources` has, if it is one.
    pub(in crate::import) fn of_entry(file: &str) -> Option<Self> {
        let name = file.strip_suffix(".json")?;
        let (source, options) = name.split_once('-')?;
        let is_hex = |text: &str, length| {
            text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        (is_hex(source, 32) && is_hex(options, 16)).then(|| Self(name.to_owned()))
    }

    /// Whether it is that of results of a source.
    pub(in crate::import) fn is_of(&self, source: &str) -> bool {
        source.get(..32) == self.0.get(..32)
    }

    /// Whether it is that of results with options of this digest.
    pub(in crate::import) fn has(&self, options: &str) -> bool {
        options.get(..16) == self.0.get(33..)
    }

    pub(in crate::import) fn entry(&self) -> String {
        format!("{SOURCES}/{}.json", self.0)
    }

    pub(in crate::import) fn table(&self) -> String {
        format!("{DOCUMENTS}/source={}/{}.parquet", &self.0[..2], self.0)
    }

    /// The segment with the bytes. Its own digest is a part of its name, so that it is always the one that rows speak of.
    pub(in crate::import) fn bytes(&self, segment: &Segment) -> String {
        let digest = segment.sha256.get(..16).unwrap_or_default();
        format!(
            "{BYTES}/source={}/{}-{digest}.warc.gz",
            &self.0[..2],
            self.0
        )
    }
}

/// SHA-256 in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

pub(in crate::import) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
