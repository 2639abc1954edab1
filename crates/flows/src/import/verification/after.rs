//! The check after an import: what it brought is there, with the right bytes, and it left nothing else behind.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use catalog::{ContentEntry, DocumentEntry, DocumentQuery};
use harvester::{Pace, RealPace, Stop};
use store::Collection;

use super::super::keeping::Keeping;
use super::comparing::{self, Looked, Metadata, Problem};
use super::{NO_METADATA, ORPHAN, PAGE, Repair, Verification, path_of};

/// Compares the documents that an import brought with their files. `None` if it was stopped meanwhile.
pub(in super::super) fn of_import(
    keeping: &Keeping<'_>,
    threads: usize,
    stop: &Stop,
) -> anyhow::Result<Option<Verification>> {
    let (ended, over) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while over.recv_timeout(A_MOMENT) == Err(RecvTimeoutError::Timeout) {
                keeping.beat(stop);
            }
        });
        let looked = look(keeping, threads, stop);
        drop(ended);
        looked
    })
}

fn look(
    keeping: &Keeping<'_>,
    threads: usize,
    stop: &Stop,
) -> anyhow::Result<Option<Verification>> {
    let (holdings, collection) = (keeping.holdings, keeping.collection);
    let mut found = Verification {
        digested: true,
        ..Verification::default()
    };
    let mut query = DocumentQuery {
        import: Some(keeping.lock().id()),
        limit: PAGE,
        ..DocumentQuery::default()
    };
    loop {
        let documents = holdings.wait(holdings.catalog().documents(&query))?;
        let Some(last) = documents.last() else { break };
        query.after = last.id;
        let contents: BTreeMap<_, _> = documents.iter().map(|d| (d.content, content(d))).collect();
        let contents: Vec<_> = contents.into_values().collect();
        let all = comparing::all(collection, &contents, threads, &|| stop.is_set());
        for (content, looked) in contents.iter().zip(all) {
            let Some(mut looked) = looked else {
                return Ok(None);
            };
            if looked.is_unreadable() {
                match look_again(collection, content, stop)? {
                    Some(again) => looked = again,
                    None => return Ok(None),
                }
            }
            judge(&mut found, content, &looked);
        }
    }
    let reserved: Vec<_> = keeping.lock().reserved().collect();
    for number in reserved {
        let files = match collection.files_of(number) {
            // The files that kept the document from being saved are none of its own.
            Err(store::Error::InTheWay { .. }) => continue,
            Err(error) => {
                found.unreadable += 1;
                found.note(number.to_string(), error.to_string(), Repair::None);
                continue;
            }
            Ok(files) => files,
        };
        for file in files {
            found.orphans += 1;
            found.note(file.path, ORPHAN, Repair::None);
        }
    }
    Ok(Some(found).filter(|_| !stop.is_set()))
}

/// Looks at a content that could not be read once more, when its store answers. `None` if it was stopped meanwhile, an
/// error if the store stays away: the import is resumed later.
fn look_again(
    collection: &Collection,
    content: &ContentEntry,
    stop: &Stop,
) -> anyhow::Result<Option<Looked>> {
    let mut wait = FIRST_WAIT;
    loop {
        match collection.read(&path_of(content)) {
            Err(error) if error.is_away() && wait > LONGEST_WAIT => return Err(error.into()),
            Err(error) if error.is_away() => {}
            _ => return Ok(Some(comparing::look_at(collection, content))),
        }
        RealPace.sleep(wait, stop);
        if stop.is_set() {
            return Ok(None);
        }
        wait *= 2;
    }
}

fn judge(found: &mut Verification, content: &ContentEntry, looked: &Looked) {
    found.contents += 1;
    let path = path_of(content);
    match &looked.problem {
        None => found.files += 1,
        Some(problem) => {
            match problem {
                Problem::Missing => found.missing += 1,
                Problem::OtherSize | Problem::OtherBytes => found.damaged += 1,
                Problem::Unreadable(_) => found.unreadable += 1,
            }
            return found.note(path, problem.said(), Repair::None);
        }
    }
    match &looked.metadata {
        Metadata::Fits => {}
        Metadata::Missing | Metadata::Wrong => {
            found.without_metadata += 1;
            found.note(format!("{path}.met"), NO_METADATA, Repair::None);
        }
        Metadata::Unreadable(reason) => {
            found.unreadable += 1;
            found.note(format!("{path}.met"), reason, Repair::None);
        }
    }
}

fn content(document: &DocumentEntry) -> ContentEntry {
    ContentEntry {
        number: document.content,
        sha1: document.content_sha1.clone(),
        sha256: document.content_sha256.clone(),
        size: document.size,
        media_type: document.media_type.clone(),
        extension: document.extension.clone(),
        is_stored: true,
        documents: 1,
    }
}

/// How long a store that is away is waited for: 15 seconds in all, and 3 more for each time that it is asked.
const FIRST_WAIT: Duration = match cfg!(test) {
    true => Duration::from_millis(1),
    false => Duration::from_secs(1),
};
const LONGEST_WAIT: Duration = FIRST_WAIT.saturating_mul(8);
const A_MOMENT: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io;
    use std::sync::atomic::{AtomicU32, Ordering};

    use document::digest::Digests;
    use store::{Objects, Reader};

    use super::super::comparing::{Metadata, Problem};
    use super::*;

    /// A store that does not answer as often as it is told, and then has every document.
    #[derive(Debug)]
    struct Away(AtomicU32);

    const BYTES: &[u8] = b"%PDF-1.4";

    impl Objects for Away {
        fn location(&self) -> &str {
            "s3://papers"
        }

        fn get(&self, _: &str) -> io::Result<Reader> {
            let left = self.0.load(Ordering::Relaxed);
            if left > 0 {
                self.0.store(left - 1, Ordering::Relaxed);
                return Err(io::ErrorKind::TimedOut.into());
            }
            Ok(Reader::new(Box::new(BYTES), BYTES.len() as u64))
        }

        fn put(&self, _: &str, _: &File, _: bool) -> io::Result<bool> {
            unreachable!()
        }
        fn size(&self, _: &str) -> io::Result<Option<u64>> {
            unreachable!()
        }
        fn copy(&self, _: &str, _: &str) -> io::Result<()> {
            unreachable!()
        }
        fn remove(&self, _: &str) -> io::Result<()> {
            unreachable!()
        }
        fn names(&self, _: &str, _: &mut dyn FnMut(&str, Option<u64>)) -> io::Result<()> {
            unreachable!()
        }
    }

    fn content() -> ContentEntry {
        let digests = Digests::of(BYTES);
        ContentEntry {
            number: 1,
            sha1: digests.sha1_hex(),
            sha256: digests.sha256_hex(),
            size: BYTES.len() as u64,
            media_type: "application/pdf".to_owned(),
            extension: "pdf".to_owned(),
            is_stored: true,
            documents: 1,
        }
    }

    /// Issue 18: a store that was away during the check left the import incomplete for ever.
    #[test]
    fn a_store_that_is_away_is_waited_for_and_then_ends_the_attempt() {
        let spool = tempfile::tempdir().unwrap();
        let collection = |times| {
            let objects = Box::new(Away(AtomicU32::new(times)));
            Collection::of_objects(objects, spool.path()).unwrap()
        };
        let stop = Stop::default();

        let back = collection(3);
        let looked = comparing::look_at(&back, &content());
        assert!(looked.is_unreadable());
        let looked = look_again(&back, &content(), &stop).unwrap().unwrap();
        assert_eq!(looked.problem, None::<Problem>);
        assert_eq!(looked.metadata, Metadata::Wrong);

        let error = look_again(&collection(u32::MAX), &content(), &stop).unwrap_err();
        assert!(crate::failure::is_store_away(&error), "{error}");

        stop.set();
        let stopped = look_again(&collection(u32::MAX), &content(), &stop).unwrap();
        assert_eq!(stopped, None);
    }
}
