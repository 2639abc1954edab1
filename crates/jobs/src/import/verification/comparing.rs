//! The two ways to compare: from rows to files, and from files to rows.

use std::collections::HashMap;
use std::io::Read;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use catalog::ContentEntry;
use document::digest::Digester;
use store::{Collection, CollectionFile, FileKind};

use super::super::met::Met;
use super::{MISSING, OTHER_BYTES, OTHER_SIZE, PAGE};
use crate::Holdings;

/// How a content was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Looked {
    /// What is wrong with its file.
    pub(super) problem: Option<&'static str>,
    /// What its `.met` file says, if that can be read and is about it.
    pub(super) met: Option<Met>,
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
        for (content, looked) in page.iter().zip(look_at_all(collection, &page, threads)) {
            take(content, looked?)?;
        }
    }
}

fn look_at_all(
    collection: &Collection,
    page: &[ContentEntry],
    threads: usize,
) -> Vec<anyhow::Result<Looked>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(HashMap::new());
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, page.len()) {
            scope.spawn(|| {
                while let Some(content) = page.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let looked = look_at(collection, content);
                    if let Ok(mut done) = done.lock() {
                        done.insert(content.number, looked);
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    let lost = || anyhow::anyhow!("a thread was lost");
    let each = page.iter();
    each.map(|content| done.remove(&content.number).unwrap_or_else(|| Err(lost())))
        .collect()
}

fn look_at(collection: &Collection, content: &ContentEntry) -> anyhow::Result<Looked> {
    let path = Collection::relative_path(content.number, &content.extension);
    let met = match collection.read(&format!("{path}.met")) {
        Ok(mut file) => {
            let mut xml = Vec::new();
            let limited = file.by_ref().take(LONGEST_MET).read_to_end(&mut xml);
            limited.ok().and_then(|_| Met::parse(&xml))
        }
        Err(_) => None,
    };
    Ok(Looked {
        problem: problem(collection, content, &path)?,
        met: met.filter(|met| met.sha1 == content.sha1),
    })
}

fn problem(
    collection: &Collection,
    content: &ContentEntry,
    path: &str,
) -> anyhow::Result<Option<&'static str>> {
    let mut file = match collection.read(path) {
        Ok(file) => file,
        Err(error) if is_missing(&error) => return Ok(Some(MISSING)),
        Err(error) => return Err(error.into()),
    };
    if file.metadata()?.len() != content.size {
        return Ok(Some(OTHER_SIZE));
    }
    let digests = digests(&mut file)?;
    let is_same = digests.sha1_hex() == content.sha1 && digests.sha256_hex() == content.sha256;
    Ok((!is_same).then_some(OTHER_BYTES))
}

pub(super) fn digests(file: &mut impl Read) -> anyhow::Result<document::digest::Digests> {
    let mut digester = Digester::default();
    let mut block = vec![0; BLOCK];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(digester.finish()),
            length => digester.update(&block[..length]),
        }
    }
}

/// Looks at all files, and hands over those that no row speaks of.
pub(super) fn orphans(
    holdings: &Holdings,
    collection: &Collection,
    take: &mut dyn FnMut(Option<CollectionFile>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut batch = Vec::new();
    for file in collection.files() {
        batch.push(file?);
        if batch.len() >= BATCH {
            judge(holdings, std::mem::take(&mut batch), take)?;
        }
    }
    judge(holdings, batch, take)
}

fn judge(
    holdings: &Holdings,
    batch: Vec<CollectionFile>,
    take: &mut dyn FnMut(Option<CollectionFile>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let numbers = || batch.iter().filter_map(|file| number(&file.kind));
    let (Some(first), Some(last)) = (numbers().min(), numbers().max()) else {
        return batch.into_iter().try_for_each(|file| take(Some(file)));
    };
    let mut known = HashMap::new();
    let mut after = first - 1;
    while after < last {
        let page = holdings.wait(holdings.catalog().contents_from(after, PAGE))?;
        let Some(end) = page.last() else { break };
        after = end.number;
        known.extend(
            page.into_iter()
                .map(|content| (content.number, content.extension)),
        );
    }
    for file in batch {
        let extension = number(&file.kind).and_then(|number| known.get(&number));
        let is_known = match (&file.kind, extension) {
            (_, None) | (FileKind::Other, _) => false,
            (FileKind::Text { .. }, Some(_)) => true,
            (FileKind::Document { extension, .. }, Some(known))
            | (FileKind::Metadata { extension, .. }, Some(known)) => extension == known,
        };
        take((!is_known).then_some(file))?;
    }
    Ok(())
}

pub(super) fn number(kind: &FileKind) -> Option<i64> {
    match kind {
        FileKind::Document { number, .. }
        | FileKind::Metadata { number, .. }
        | FileKind::Text { number } => Some(*number),
        FileKind::Other => None,
    }
}

pub(super) fn is_missing(error: &store::Error) -> bool {
    match error {
        store::Error::Io { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
        store::Error::InTheWay { .. } => true,
        _ => false,
    }
}

const LONGEST_MET: u64 = 16 << 20;
const BLOCK: usize = 256 << 10;
const BATCH: usize = 1000;
