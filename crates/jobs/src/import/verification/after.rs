//! The check after an import: what it brought is there, with the right bytes, and it left nothing else behind.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use catalog::{ContentEntry, DocumentEntry, DocumentQuery};
use harvester::Stop;

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
            let Some(looked) = looked else {
                return Ok(None);
            };
            judge(&mut found, content, &looked);
        }
    }
    let reserved: Vec<_> = keeping.lock().reserved().collect();
    for number in reserved {
        let files = match collection.files_of(number) {
            // What kept the document from being saved is none of its files.
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

const A_MOMENT: Duration = Duration::from_millis(100);
