//! Documents read and compared with their digests on a thread of their own, ahead of the writing.

use std::io::Read;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::Scope;

use catalog::DocumentEntry;
use data_encoding::HEXLOWER;
use flate2::Crc;
use sha1::{Digest, Sha1};

use super::{Format, Numbers, Retrieval};
use crate::{DocumentFiles, DocumentPart, Holdings};

/// The selected documents, in order, as they are read.
pub(super) struct Examination {
    steps: Receiver<anyhow::Result<Step>>,
    spare: Sender<Vec<u8>>,
}

pub(super) enum Step {
    Document(Box<Examined>),
    /// The end of some documents that were looked up together.
    Page {
        /// Documents that were removed from the collection meanwhile.
        removed: u64,
        /// How many documents are selected, once that is known.
        total: Option<u64>,
    },
}

pub(super) struct Examined {
    pub(super) entry: DocumentEntry,
    pub(super) text: Option<String>,
    /// Whether a text that it should have is missing.
    pub(super) lacks_text: bool,
    /// The file, unless lines alone are wanted.
    pub(super) file: Option<Result<Contents, Problem>>,
}

/// A file with the right bytes.
pub(super) struct Contents {
    /// None for a long file, which is read again.
    pub(super) bytes: Option<Vec<u8>>,
    /// For ZIP files alone.
    pub(super) crc: u32,
    pub(super) sha1: [u8; 20],
}

/// Why the file of a document cannot be retrieved.
pub(super) enum Problem {
    Missing,
    Damaged(String),
}

impl Examination {
    /// Begins to read. The thread ends with the last document, or when this is dropped.
    pub(super) fn begin<'scope>(
        scope: &'scope Scope<'scope, '_>,
        holdings: &'scope Holdings,
        files: Arc<DocumentFiles>,
        order: &'scope Retrieval,
    ) -> Self {
        let (sender, steps) = sync_channel(AHEAD);
        let (spare, buffers) = channel();
        scope.spawn(move || {
            let mut reading = Reading {
                files,
                order,
                steps: &sender,
                buffers,
            };
            if let Err(error) = reading.run(holdings) {
                // Nobody waits for it if the writing has failed as well.
                let _ = sender.send(Err(error));
            }
        });
        Self { steps, spare }
    }

    /// The next step; `None` after the last.
    pub(super) fn next(&self) -> anyhow::Result<Option<Step>> {
        self.steps.recv().ok().transpose()
    }

    /// Gives a buffer back: new memory costs more than the bytes that are read into it.
    pub(super) fn reuse(&self, buffer: Vec<u8>) {
        // The thread has ended if it takes none.
        let _ = self.spare.send(buffer);
    }
}

struct Reading<'a> {
    files: Arc<DocumentFiles>,
    order: &'a Retrieval,
    steps: &'a SyncSender<anyhow::Result<Step>>,
    buffers: Receiver<Vec<u8>>,
}

impl Reading<'_> {
    fn run(&mut self, holdings: &Holdings) -> anyhow::Result<()> {
        let has_files = !matches!(self.order.format, Format::Csv | Format::Jsonl);
        let mut numbers = Numbers::new(self.order);
        while let Some(chunk) = numbers.next(holdings)? {
            for page in chunk.chunks(PAGE) {
                let entries = holdings.wait(holdings.catalog().documents_of(page))?;
                let removed = (page.len() - entries.len()) as u64;
                for entry in entries {
                    let file = has_files.then(|| self.examine(&entry)).transpose()?;
                    let wants_text = self.order.with_text && !matches!(file, Some(Err(_)));
                    let text = match wants_text {
                        true => self.files.text(entry.content)?,
                        false => None,
                    };
                    let examined = Examined {
                        lacks_text: wants_text && text.is_none() && entry.has_text(),
                        entry,
                        text,
                        file,
                    };
                    if !self.send(Step::Document(Box::new(examined))) {
                        return Ok(());
                    }
                }
                let total = numbers.total();
                if !self.send(Step::Page { removed, total }) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Whether somebody still wants it.
    fn send(&self, step: Step) -> bool {
        self.steps.send(Ok(step)).is_ok()
    }

    /// Reads a document and compares it with its digest. One of a usual size stays in memory.
    fn examine(&self, entry: &DocumentEntry) -> anyhow::Result<Result<Contents, Problem>> {
        let Some(mut reader) = self.files.read(entry, DocumentPart::Document)? else {
            return Ok(Err(Problem::Missing));
        };
        let length = reader.length();
        if length != entry.size {
            let reason = format!("it has {length} bytes instead of {}", entry.size);
            return Ok(Err(Problem::Damaged(reason)));
        }
        let mut buffer = self.buffers.try_recv().unwrap_or_default();
        buffer.clear();
        let (mut sha1, mut crc) = (Sha1::new(), Crc::new());
        let mut unread = length;
        while unread > 0 {
            if length > KEPT {
                buffer.clear();
            }
            let read = buffer.len();
            match (&mut reader)
                .take(unread.min(PIECE))
                .read_to_end(&mut buffer)
            {
                Ok(0) => break,
                Ok(more) => unread -= more as u64,
                Err(error) => return Ok(Err(Problem::Damaged(error.to_string()))),
            }
            sha1.update(&buffer[read..]);
            if self.order.format == Format::Zip {
                crc.update(&buffer[read..]);
            }
        }
        let sha1: [u8; 20] = sha1.finalize().into();
        if HEXLOWER.encode(&sha1) != entry.content_sha1 {
            let reason = "its SHA-1 is another one".to_owned();
            return Ok(Err(Problem::Damaged(reason)));
        }
        let bytes = (length <= KEPT).then_some(buffer);
        let crc = crc.sum();
        Ok(Ok(Contents { bytes, crc, sha1 }))
    }
}

/// Documents that are looked up at once.
const PAGE: usize = 500;
/// Documents that wait to be written.
const AHEAD: usize = 2;
/// A document up to this size is read once and kept in memory.
const KEPT: u64 = 16 << 20;
/// Bytes that are read and digested while they are in the processor's cache.
const PIECE: u64 = 256 << 10;
