//! Makes CDXJ indexes of archives.

use std::ffi::OsString;
use std::io::{BufRead, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Context;
use crawl::{HttpMessage, Limits, RawEvent, RawRecord, ReadOptions, Skipped};
use data_encoding::BASE32;
use document::url::surt;
use sha1::{Digest, Sha1};

use super::CdxjLine;

/// The index of an archive, and what could not be read of it.
#[derive(Debug, Default)]
pub struct IndexedWarc {
    /// Lines, in the order of the archive.
    pub lines: Vec<CdxjLine>,
    /// Bytes that are no readable record.
    pub skipped: Vec<Skipped>,
}

/// Indexes the records of an archive that replay asks for: responses, resources and revisits.
pub fn index_archive(path: &Path) -> anyhow::Result<IndexedWarc> {
    let mut indexed = IndexedWarc::default();
    for source in super::open(path)? {
        let mut index = Index {
            indexed: &mut indexed,
            open: 0,
            error: None,
        };
        source.records(0, &ReadOptions::default(), &mut |event| index.take(event))?;
        if let Some(error) = index.error {
            return Err(error);
        }
    }
    Ok(indexed)
}

/// Writes the sorted index of an archive beside it, as `FILE.cdxj`; it takes its place when it is whole.
pub fn index_beside(path: &Path) -> anyhow::Result<(PathBuf, IndexedWarc)> {
    let mut indexed = index_archive(path)?;
    indexed.lines.sort_unstable();
    let mut place = OsString::from(path);
    place.push(".cdxj");
    let place = PathBuf::from(place);
    let unwritten = || format!("the index `{}` cannot be written", place.display());
    let directory = path.parent().filter(|parent| *parent != Path::new(""));
    let mut file = tempfile::Builder::new()
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .tempfile_in(directory.unwrap_or(Path::new(".")))
        .with_context(unwritten)?;
    for line in &indexed.lines {
        file.write_all(line.to_line().as_bytes())
            .with_context(unwritten)?;
    }
    file.persist(&place).with_context(unwritten)?;
    Ok((place, indexed))
}

/// An index that is being made.
struct Index<'a> {
    indexed: &'a mut IndexedWarc,
    /// The first line whose end is not known yet.
    open: usize,
    error: Option<anyhow::Error>,
}

impl Index<'_> {
    fn take(&mut self, event: RawEvent<'_>) -> ControlFlow<()> {
        match event {
            RawEvent::Record(record, block) => {
                if is_indexed(record) {
                    match line(record, block) {
                        Ok(line) => self.indexed.lines.push(line),
                        // The reader tells of it as well, and its end is not known.
                        Err(_) => return ControlFlow::Continue(()),
                    }
                }
            }
            RawEvent::Position(at) => {
                let lines = &mut self.indexed.lines[self.open..];
                for line in lines.iter_mut().filter(|line| line.length == 0) {
                    line.length = at.saturating_sub(line.offset);
                }
                self.open = self.indexed.lines.len();
            }
            RawEvent::Skipped(skipped) => {
                // A record that turned out to be damaged is not offered to readers.
                let offset = skipped.place.offset;
                let mut at = 0;
                self.indexed.lines.retain(|line| {
                    at += 1;
                    at <= self.open || line.offset != offset
                });
                self.indexed.skipped.push(skipped);
            }
        }
        ControlFlow::Continue(())
    }
}

fn line(record: &RawRecord, block: &mut dyn BufRead) -> std::io::Result<CdxjLine> {
    let mut message = HttpMessage::default();
    if ["response", "revisit"].contains(&record.kind.as_str()) {
        message = HttpMessage::read(block, Limits::default().head)?;
    }
    let digest = match &record.payload_digest {
        Some(digest) => digest.clone(),
        None => {
            let mut sha1 = Sha1::new_with_prefix(&message.behind);
            let mut buffer = vec![0; 64 * 1024];
            loop {
                match block.read(&mut buffer)? {
                    0 => break,
                    length => sha1.update(&buffer[..length]),
                }
            }
            format!("sha1:{}", BASE32.encode(&sha1.finalize()))
        }
    };
    let mime = match record.kind.as_str() {
        "revisit" => Some("warc/revisit".to_owned()),
        "resource" | "metadata" => Some(record.content_type.clone()),
        _ => message.field("Content-Type"),
    };
    let mime = mime.map(|mime| mime.split(';').next().unwrap_or_default().trim().to_owned());
    let place = &record.place;
    let file = place.file.file_name().unwrap_or_default().to_string_lossy();
    let filename = match &place.member {
        Some(member) => member.rsplit('/').next().unwrap_or(member).to_owned(),
        None => file.into_owned(),
    };
    Ok(CdxjLine {
        key: surt(&record.url),
        timestamp: record.timestamp.clone(),
        url: record.url.replace(' ', "%20"),
        mime: mime.filter(|mime| !mime.is_empty()),
        status: message.status(),
        digest,
        length: record.stored.unwrap_or_default(),
        offset: place.offset,
        filename,
    })
}

/// Whether an index has a record: one that replay asks for, or metadata that are a file of their own and no fields.
fn is_indexed(record: &RawRecord) -> bool {
    let is_indexed = match record.kind.as_str() {
        "response" | "resource" | "revisit" => true,
        "metadata" => !record.content_type.starts_with("application/warc-fields"),
        _ => false,
    };
    is_indexed && !record.url.is_empty()
}
