//! Retrieval: documents of the collection copied into a directory or an archive, or lines about them into a file.
//!
//! The same selection of the same collection gives the same bytes: documents come in the order of their numbers, files
//! have the time of their crawl, and nothing of the time of the retrieval is in it. It is whole or not there at all; one
//! that was killed is done again from its beginning.

mod archive;
mod examine;
mod kept;
mod part;
mod tar;
mod zip;

use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use catalog::{DocumentEntry, Selection};
use harvester::Stop;
use serde::{Deserialize, Serialize};

use self::archive::{Archive, Body, Text};
use self::examine::{Contents, Examination, Examined, Problem, Step};
pub use self::kept::{retrieval_file, sweep_retrievals};
use self::part::Part;
use crate::{DocumentFiles, DocumentPart, Holdings, counted};

/// Documents to be retrieved, and the form that they are written in.
#[derive(Debug, Clone)]
pub struct Retrieval {
    /// The conditions.
    pub selection: Selection,
    /// Which of the selected documents.
    pub pick: Pick,
    /// The form.
    pub format: Format,
    /// Whether texts are retrieved, too.
    pub with_text: bool,
    /// Whether a file of that name is replaced.
    pub replaces: bool,
}

/// Which of the selected documents are retrieved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pick {
    /// All.
    All,
    /// As many as this, in the order of their numbers.
    First(u64),
    /// A random sample of this size, which the seed repeats.
    Sample(u64, String),
}

/// The form of what is retrieved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A directory with files.
    Directory,
    /// A tar archive.
    Tar,
    /// A ZIP archive.
    Zip,
    /// A WARC file; compressed if its name ends in `.gz`.
    Warc,
    /// Metadata alone, as CSV.
    Csv,
    /// Metadata alone, as JSON Lines.
    Jsonl,
}

/// How documents are told of, in lines.
pub trait Lines {
    /// The line before all others, or nothing.
    fn head(&self) -> String;
    /// The line of a document, with its end.
    fn line(&self, entry: &DocumentEntry, copied: &Copied<'_>) -> String;
}

/// Where a document is in what was retrieved.
#[derive(Debug, Clone, Copy, Default)]
pub struct Copied<'a> {
    /// Its file in the archive.
    pub file: Option<&'a str>,
    /// The file of its text.
    pub text_file: Option<&'a str>,
    /// Its text itself.
    pub text: Option<&'a str>,
    /// Why its file is not there.
    pub problem: Option<&'a str>,
    /// Why its text is not there although it has one.
    pub text_problem: Option<&'a str>,
}

/// Something that happens during a retrieval.
#[derive(Debug, Clone, Copy)]
pub enum RetrievalEvent<'a> {
    /// So far.
    Progress(&'a Retrieved, Option<u64>),
    /// The file of a document, or its text, cannot be retrieved.
    Lost {
        /// The number of the document.
        id: i64,
        /// Its URL.
        url: &'a str,
        /// Why.
        problem: &'a str,
    },
}

/// Counts of a retrieval.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Retrieved {
    /// Documents that are in it.
    pub documents: u64,
    /// The bytes of their files.
    pub bytes: u64,
    /// Texts that are in it.
    pub texts: u64,
    /// Documents that are in it without their texts, whose files are not there.
    pub missing_texts: u64,
    /// Selected documents whose files are not there.
    pub missing: u64,
    /// Selected documents whose files have other bytes than they should.
    pub damaged: u64,
    /// Selected documents that were removed from the collection meanwhile.
    pub removed: u64,
    /// Whether it was stopped before its end; then nothing is left of it.
    pub stopped: bool,
}

/// Retrieves documents into `target`.
pub fn retrieve(
    holdings: &Holdings,
    order: &Retrieval,
    target: &Path,
    lines: &dyn Lines,
    stop: &Stop,
    tell: &mut dyn FnMut(RetrievalEvent<'_>),
) -> anyhow::Result<Retrieved> {
    let part = Part::begin(target, order.format == Format::Directory, order.replaces)?;
    let unwritten = || {
        let target = target.display();
        format!("{target} cannot be written, and nothing is left of it")
    };
    let mut copying = Copying {
        files: DocumentFiles::open(holdings, None)?,
        archive: Archive::begin(&part, order.format, lines).with_context(unwritten)?,
        retrieved: Retrieved::default(),
    };
    std::thread::scope(|scope| {
        let examination = Examination::begin(scope, holdings, copying.files.clone(), order);
        while let Some(step) = examination.next()? {
            if stop.is_set() {
                copying.retrieved.stopped = true;
                break;
            }
            match step {
                Step::Document(examined) => {
                    let buffer = copying.copy(*examined, tell).with_context(unwritten)?;
                    buffer.into_iter().for_each(|it| examination.reuse(it));
                }
                Step::Page { removed, total } => {
                    copying.retrieved.removed += removed;
                    tell(RetrievalEvent::Progress(&copying.retrieved, total));
                }
            }
        }
        anyhow::Ok(())
    })?;
    let Copying {
        archive, retrieved, ..
    } = copying;
    if retrieved.stopped {
        return Ok(retrieved);
    }
    archive.finish().with_context(unwritten)?;
    part.finish()?;
    Ok(retrieved)
}

/// The numbers of the documents that are wanted, some at a time.
struct Numbers<'a> {
    order: &'a Retrieval,
    after: i64,
    given: u64,
    is_over: bool,
}

impl<'a> Numbers<'a> {
    fn new(order: &'a Retrieval) -> Self {
        Self {
            order,
            after: 0,
            given: 0,
            is_over: false,
        }
    }

    fn next(&mut self, holdings: &Holdings) -> anyhow::Result<Option<Vec<i64>>> {
        if self.is_over {
            return Ok(None);
        }
        let (catalog, selection) = (holdings.catalog(), &self.order.selection);
        let left = match &self.order.pick {
            Pick::Sample(size, seed) => {
                self.is_over = true;
                let sample = holdings.wait(catalog.sample(selection, seed, *size))?;
                self.given = sample.len() as u64;
                return Ok(Some(sample));
            }
            Pick::First(number) => number - self.given,
            Pick::All => u64::MAX,
        };
        let limit = left.min(CHUNK);
        let numbers = holdings.wait(catalog.selected(selection, self.after, limit))?;
        self.given += numbers.len() as u64;
        self.after = numbers.last().copied().unwrap_or(self.after);
        self.is_over = (numbers.len() as u64) < CHUNK;
        Ok(Some(numbers))
    }

    /// How many there are, once that is known.
    fn total(&self) -> Option<u64> {
        self.is_over.then_some(self.given)
    }
}

/// A retrieval at work.
struct Copying<'a> {
    files: Arc<DocumentFiles>,
    archive: Archive<'a>,
    retrieved: Retrieved,
}

impl Copying<'_> {
    /// Writes a document and gives back its buffer.
    fn copy(
        &mut self,
        examined: Examined,
        tell: &mut dyn FnMut(RetrievalEvent<'_>),
    ) -> anyhow::Result<Option<Vec<u8>>> {
        let Examined {
            entry,
            text,
            lacks_text,
            file,
        } = examined;
        let text = match (&text, lacks_text) {
            (Some(text), _) => Text::There(text),
            (None, true) => Text::Missing(TEXT_MISSING),
            (None, false) => Text::None,
        };
        let problem = match file {
            None => {
                self.archive.add(&entry, None, text)?;
                self.count(&entry, 0, text, tell);
                return Ok(None);
            }
            Some(Ok(contents)) => {
                let buffer = self.add(&entry, contents, text)?;
                self.count(&entry, entry.size, text, tell);
                return Ok(buffer);
            }
            Some(Err(Problem::Missing)) => {
                self.retrieved.missing += 1;
                "its file is missing".to_owned()
            }
            Some(Err(Problem::Damaged(reason))) => {
                self.retrieved.damaged += 1;
                format!("its file is damaged: {reason}")
            }
        };
        self.archive.lose(&entry, &problem)?;
        tell(RetrievalEvent::Lost {
            id: entry.id,
            url: &entry.url,
            problem: &problem,
        });
        Ok(None)
    }

    fn add(
        &mut self,
        entry: &DocumentEntry,
        contents: Contents,
        text: Text<'_>,
    ) -> anyhow::Result<Option<Vec<u8>>> {
        let Contents { bytes, crc, sha1 } = contents;
        let mut again = match bytes {
            Some(_) => None,
            None => self.files.read(entry, DocumentPart::Document)?,
        };
        let mut again = again
            .as_mut()
            .map(|it| BufReader::with_capacity(BUFFER, it));
        let mut kept = bytes.as_deref().unwrap_or_default();
        let body = Body {
            bytes: match &mut again {
                Some(reader) => reader,
                None => &mut kept,
            },
            length: entry.size,
            crc,
            sha1,
        };
        self.archive.add(entry, Some(body), text)?;
        Ok(bytes)
    }

    fn count(
        &mut self,
        entry: &DocumentEntry,
        bytes: u64,
        text: Text<'_>,
        tell: &mut dyn FnMut(RetrievalEvent<'_>),
    ) {
        self.retrieved.documents += 1;
        self.retrieved.bytes += bytes;
        match text {
            Text::None => {}
            Text::There(_) => self.retrieved.texts += 1,
            Text::Missing(problem) => {
                self.retrieved.missing_texts += 1;
                tell(RetrievalEvent::Lost {
                    id: entry.id,
                    url: &entry.url,
                    problem,
                });
            }
        }
    }
}

impl Retrieved {
    /// Selected documents that are not in it.
    pub fn lost(&self) -> u64 {
        self.missing + self.damaged + self.removed
    }

    /// Documents, files and texts that were selected and are not in it.
    pub fn problems(&self) -> u64 {
        self.lost() + self.missing_texts
    }

    /// In words.
    pub fn said(&self) -> String {
        let mut said = counted(self.documents, "document");
        for (number, what) in [
            (self.bytes, "byte"),
            (self.texts, "text"),
            (self.missing_texts, "missing text"),
            (self.missing, "missing file"),
            (self.damaged, "damaged file"),
        ] {
            // Lines about documents have no bytes of theirs.
            if number > 0 {
                said.push_str(&format!(", {}", counted(number, what)));
            }
        }
        if self.removed > 0 {
            let removed = counted(self.removed, "document");
            said.push_str(&format!(", {removed} removed meanwhile"));
        }
        said
    }
}

impl Format {
    /// All there are.
    pub const ALL: [Self; 6] = [
        Self::Directory,
        Self::Tar,
        Self::Zip,
        Self::Warc,
        Self::Csv,
        Self::Jsonl,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::Tar => "tar",
            Self::Zip => "zip",
            Self::Warc => "warc",
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
        }
    }

    /// The format with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The media type of a file of this format.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Directory => "application/octet-stream",
            Self::Tar => "application/x-tar",
            Self::Zip => "application/zip",
            Self::Warc => "application/warc",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Jsonl => "application/x-ndjson",
        }
    }
}

const TEXT_MISSING: &str = "its text is missing";
/// Numbers that are asked for at once.
const CHUNK: u64 = 100_000;
/// Bytes of a long document that are read at once.
const BUFFER: usize = 256 << 10;
