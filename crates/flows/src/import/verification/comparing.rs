//! From rows to files: whether each content has its file with the right bytes, and its `.met` file.

use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use catalog::ContentEntry;
use document::digest::{Digester, Digests};
use store::Collection;

use super::super::met::{LONGEST, Met};
use super::{PAGE, path_of};
use crate::Holdings;

/// How a content was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Looked {
    /// The fault of its file.
    pub(super) problem: Option<Problem>,
    /// Its `.met` file.
    pub(super) metadata: Metadata,
    /// Whether its text is known and not beside it. A store that is away has lost nothing.
    pub(super) lacks_text: bool,
}

/// The faults of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Problem {
    Missing,
    OtherSize,
    OtherBytes,
    /// Nothing is known of it, so nothing is done about it.
    Unreadable(String),
}

/// How a `.met` file was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Metadata {
    /// It tells of its document.
    Fits,
    Missing,
    /// It tells of something else, or nothing that can be understood.
    Wrong,
    Unreadable(String),
}

impl Looked {
    /// Whether nothing is known of one of the files.
    pub(super) fn is_unreadable(&self) -> bool {
        matches!(self.problem, Some(Problem::Unreadable(_)))
            || matches!(self.metadata, Metadata::Unreadable(_))
    }
}

impl Problem {
    pub(super) fn said(&self) -> String {
        match self {
            Self::Missing => "the file is missing".to_owned(),
            Self::OtherSize => "the file has another size".to_owned(),
            Self::OtherBytes => "the file has other bytes".to_owned(),
            Self::Unreadable(reason) => reason.clone(),
        }
    }
}

/// Looks at all contents, a page at a time and on several threads, and hands them over in the order of their numbers.
pub(super) fn contents(
    holdings: &Holdings,
    collection: &Collection,
    threads: usize,
    take: &mut dyn FnMut(&ContentEntry, Looked) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut after = 0;
    loop {
        let page = holdings.wait(holdings.catalog().contents_from(after, PAGE))?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.number;
        let numbers: Vec<_> = page.iter().map(|content| content.number).collect();
        let with_text = holdings.wait(holdings.catalog().with_text(&numbers, true))?;
        for (content, looked) in page.iter().zip(all(collection, &page, threads, &|| false)) {
            let lost = || anyhow::anyhow!("a thread was lost");
            let mut looked = looked.ok_or_else(lost)?;
            looked.lacks_text =
                with_text.contains(&content.number) && lacks_text(collection, content.number);
            take(content, looked)?;
        }
    }
}

/// Looks at contents on several threads, until it is time to stop.
pub(super) fn all(
    collection: &Collection,
    contents: &[ContentEntry],
    threads: usize,
    is_over: &(dyn Fn() -> bool + Sync),
) -> Vec<Option<Looked>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(HashMap::new());
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, contents.len().max(1)) {
            scope.spawn(|| {
                while let Some(content) = contents.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if is_over() {
                        return;
                    }
                    let looked = look_at(collection, content);
                    if let Ok(mut done) = done.lock() {
                        done.insert(content.number, looked);
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    let each = contents.iter();
    each.map(|content| done.remove(&content.number)).collect()
}

/// Looks at one content.
pub(super) fn look_at(collection: &Collection, content: &ContentEntry) -> Looked {
    let metadata = match read_met(collection, &format!("{}.met", path_of(content))) {
        Ok(None) => Metadata::Missing,
        Ok(Some(xml)) => match Met::parse(&xml) {
            Some(met) if met.sha1 == content.sha1 => Metadata::Fits,
            _ => Metadata::Wrong,
        },
        Err(reason) => Metadata::Unreadable(reason),
    };
    Looked {
        problem: problem(collection, content),
        metadata,
        lacks_text: false,
    }
}

/// Whether no text lies under a number.
pub(super) fn lacks_text(collection: &Collection, number: i64) -> bool {
    matches!(collection.size(&Collection::text_path(number)), Ok(None))
}

/// The content of a `.met` file, if there is one. That it cannot be read does not mean that there is none.
pub(super) fn read_met(collection: &Collection, path: &str) -> Result<Option<Vec<u8>>, String> {
    let file = match collection.read(path) {
        Ok(file) => file,
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mut xml = Vec::new();
    let read = file.take(LONGEST).read_to_end(&mut xml);
    read.map_err(|error| unreadable(path, &error))?;
    Ok(Some(xml))
}

/// The fault of the file of a content.
pub(super) fn problem(collection: &Collection, content: &ContentEntry) -> Option<Problem> {
    let path = path_of(content);
    let mut file = match collection.read(&path) {
        Ok(file) => file,
        Err(error) if error.is_missing() => return Some(Problem::Missing),
        Err(error) => return Some(Problem::Unreadable(error.to_string())),
    };
    if file.length() != content.size {
        return Some(Problem::OtherSize);
    }
    match digests(&mut file) {
        Ok(digests) => {
            let is_same =
                digests.sha1_hex() == content.sha1 && digests.sha256_hex() == content.sha256;
            (!is_same).then_some(Problem::OtherBytes)
        }
        Err(error) => Some(Problem::Unreadable(unreadable(&path, &error))),
    }
}

pub(super) fn digests(file: &mut impl Read) -> io::Result<Digests> {
    let mut digester = Digester::default();
    let mut block = vec![0; BLOCK];
    loop {
        match file.read(&mut block) {
            Ok(0) => return Ok(digester.finish()),
            Ok(length) => digester.update(&block[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

pub(super) fn unreadable(path: &str, error: &io::Error) -> String {
    format!("`{path}` cannot be read: {error}")
}

const BLOCK: usize = 256 << 10;
