//! From files to rows: files that no row speaks of, judged number by number as they come.

use std::collections::{HashMap, HashSet};

use store::{CollectionFile, FileKind};

use super::Repair;
use super::adopt::{Adopted, Orphan};
use super::comparing::lacks_text;
use super::repair::Verifying;

/// The files of a number.
type Numbered = (i64, Vec<CollectionFile>);

/// Looks at all files. Those of a number lie together, so that few are held at a time.
pub(super) fn all(verifying: &mut Verifying<'_>) -> anyhow::Result<()> {
    let mut batch: Vec<Numbered> = Vec::new();
    let collection = verifying.collection;
    for file in collection.files() {
        let file = file?;
        verifying.result.files += 1;
        let Some(number) = number(&file.kind) else {
            verifying.stray(file.path);
            continue;
        };
        match batch.last_mut() {
            Some((last, files)) if *last == number => files.push(file),
            _ => {
                if batch.len() >= BATCH {
                    judge(verifying, std::mem::take(&mut batch))?;
                }
                batch.push((number, vec![file]));
            }
        }
    }
    judge(verifying, batch)
}

fn judge(verifying: &mut Verifying<'_>, batch: Vec<Numbered>) -> anyhow::Result<()> {
    let promised = promised(verifying)?;
    let numbers: Vec<_> = batch.iter().map(|(number, _)| *number).collect();
    let catalog = verifying.holdings.catalog();
    let known = verifying.holdings.wait(catalog.extensions_of(&numbers))?;
    // Files on their way to the trash, or from there.
    let trashed = verifying.holdings.wait(catalog.trashed_numbers(&numbers))?;
    let mut left = Vec::new();
    for (number, mut files) in batch {
        files.retain(|file| !is_known(file, known.get(&number)));
        if !files.is_empty() && !promised.contains(&number) && !trashed.contains(&number) {
            left.push((number, files));
        }
    }
    match (verifying.repairing, left.is_empty()) {
        (_, true) => Ok(()),
        (Some(_), _) => left
            .into_iter()
            .try_for_each(|(number, files)| settle(verifying, number, files)),
        (None, _) => report(verifying, left),
    }
}

/// Numbers whose files an import beside is going to speak of, or to remove. Nobody is beside a repair.
fn promised(verifying: &Verifying<'_>) -> anyhow::Result<HashSet<i64>> {
    match verifying.repairing {
        Some(_) => Ok(HashSet::new()),
        None => {
            let promised = verifying.holdings.catalog().promised_numbers();
            Ok(verifying.holdings.wait(promised)?)
        }
    }
}

fn is_known(file: &CollectionFile, known: Option<&String>) -> bool {
    let Some(known) = known else {
        return false;
    };
    match &file.kind {
        FileKind::Text { .. } => true,
        FileKind::Document { extension, .. } | FileKind::Metadata { extension, .. } => {
            extension == known
        }
        FileKind::Other => false,
    }
}

/// Tells of files without a row. An import beside may have replaced their contents since it was asked about them, and
/// removes them now or has done so.
fn report(verifying: &mut Verifying<'_>, left: Vec<Numbered>) -> anyhow::Result<()> {
    let promised = promised(verifying)?;
    let unfinished = verifying.holdings.catalog().unfinished_numbers();
    let unfinished = verifying.holdings.wait(unfinished)?;
    for (number, mut files) in left {
        if promised.contains(&number) {
            continue;
        }
        let there = verifying.collection.files_of(number)?;
        files.retain(|file| there.iter().any(|there| there.path == file.path));
        for file in files {
            match unfinished.get(&number) {
                Some(import) => verifying.note_unfinished(file.path, *import),
                None => verifying.note_orphan(file.path, Repair::None),
            }
        }
    }
    Ok(())
}

/// Takes documents into the catalog with the help of their `.met` files. What cannot be taken in is set aside.
fn settle(
    verifying: &mut Verifying<'_>,
    number: i64,
    files: Vec<CollectionFile>,
) -> anyhow::Result<()> {
    let (orphans, mut rest) = sorted(number, files);
    for orphan in orphans {
        let adopted = verifying.adopt(&orphan)?;
        match &adopted {
            // The text of a document lies beside it, and goes with the first.
            Adopted::Taken { number: to } => {
                if let Some(at) = rest.iter().position(is_text) {
                    let text = rest.swap_remove(at);
                    let repair = match *to == number {
                        true => Repair::Done(format!("belongs to document {to} now")),
                        false => verifying.follow(&text, *to)?,
                    };
                    verifying.note_orphan(text.path, repair);
                } else {
                    complete(verifying, *to)?;
                }
            }
            // Nothing is known of it, so what may belong to it stays as well.
            Adopted::Unreadable { .. } => {
                for file in std::mem::take(&mut rest) {
                    verifying.note_orphan(file.path, Repair::None);
                }
            }
            Adopted::Known { .. } | Adopted::SetAside { .. } => {}
        }
        verifying.note_adopted(orphan, &adopted);
    }
    for file in rest {
        let aside = verifying.set_aside(&file.path)?;
        verifying.note_orphan(file.path, aside);
    }
    Ok(())
}

/// Brings the text of a document back that was taken in without it.
fn complete(verifying: &mut Verifying<'_>, number: i64) -> anyhow::Result<()> {
    let catalog = verifying.holdings.catalog();
    let with_text = verifying
        .holdings
        .wait(catalog.with_text(&[number], false))?;
    if with_text.contains(&number) && lacks_text(verifying.collection, number) {
        let content = verifying.holdings.wait(catalog.content(number))?;
        return content.map_or(Ok(()), |content| verifying.missing_text(&content));
    }
    Ok(())
}

/// The documents among the files of a number, each with its `.met` file, and the rest.
fn sorted(number: i64, files: Vec<CollectionFile>) -> (Vec<Orphan>, Vec<CollectionFile>) {
    let mut metadata = HashMap::new();
    let (mut orphans, mut texts) = (Vec::new(), Vec::new());
    for file in files {
        match file.kind.clone() {
            FileKind::Metadata { extension, .. } => {
                metadata.insert(extension, file);
            }
            FileKind::Document { extension, .. } => orphans.push((extension, file)),
            FileKind::Text { .. } | FileKind::Other => texts.push(file),
        }
    }
    let is_document = metadata.contains_key(TEXT);
    if is_document && let Some(at) = texts.iter().position(is_text) {
        orphans.push((TEXT.to_owned(), texts.swap_remove(at)));
    }
    let orphans = orphans.into_iter().map(|(extension, file)| Orphan {
        number,
        metadata: metadata.remove(&extension).map(|file| file.path),
        path: file.path,
        extension,
    });
    let orphans: Vec<_> = orphans.collect();
    texts.extend(metadata.into_values());
    (orphans, texts)
}

fn is_text(file: &CollectionFile) -> bool {
    matches!(file.kind, FileKind::Text { .. })
}

pub(super) fn number(kind: &FileKind) -> Option<i64> {
    match kind {
        FileKind::Document { number, .. }
        | FileKind::Metadata { number, .. }
        | FileKind::Text { number } => Some(*number),
        FileKind::Other => None,
    }
}

const TEXT: &str = "txt";
const BATCH: usize = 500;
