//! Writes `.met` files anew whose documents have changed in the catalog: another URL, a state, a correction.
//!
//! The catalog notes which these are together with the change. They are written when an import ends, by the command that
//! made the change, by the manager, and by a repair; a kill in between leaves them noted.

use std::io::Read;

use anyhow::Context;
use catalog::{ContentEntry, OutdatedMet};
use store::Collection;

use super::{LONGEST, Met, MetDocument, MetText};
use crate::Holdings;
use crate::import::place;

/// Writes the `.met` files that do not tell yet what the catalog knows, at most so many. Returns how many there were.
pub fn update_metadata(holdings: &Holdings, most: u64) -> anyhow::Result<u64> {
    let outdated = holdings.wait(holdings.catalog().outdated_mets(0, 1))?;
    if outdated.is_empty() {
        return Ok(0);
    }
    let collection = place::of_holdings(holdings)?;
    update(holdings, &collection, most, &|| Ok(()))
}

/// The same for those who have the collection open. `hold` is asked before each file is written.
pub(in crate::import) fn update(
    holdings: &Holdings,
    collection: &Collection,
    most: u64,
    hold: &dyn Fn() -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    let catalog = holdings.catalog();
    let (mut after, mut count) = (0, 0);
    while count < most {
        let outdated = holdings.wait(catalog.outdated_mets(after, PAGE.min(most - count)))?;
        let Some(last) = outdated.last() else { break };
        after = last.content;
        for met in &outdated {
            hold()?;
            write(holdings, collection, met)
                .with_context(|| format!("the .met file of document {}", met.content))?;
        }
        collection.sync()?;
        holdings.wait(catalog.mets_written(&outdated))?;
        count += outdated.len() as u64;
    }
    Ok(count)
}

fn write(
    holdings: &Holdings,
    collection: &Collection,
    outdated: &OutdatedMet,
) -> anyhow::Result<()> {
    let content = holdings.wait(holdings.catalog().content(outdated.content))?;
    let Some(content) = content else {
        return Ok(());
    };
    let path = Collection::relative_path(content.number, &content.extension);
    let old = read(collection, &format!("{path}.met"))?;
    // Beside a document that is lost nothing is written.
    if old.is_none() && collection.size(&path)?.is_none() {
        return Ok(());
    }
    let Some(mut met) = described(holdings, &content)? else {
        return Ok(());
    };
    // The catalog does not know these.
    if let Some(before) = old.as_deref().and_then(Met::parse) {
        met.crawler = before.crawler;
        met.last_modified = before.last_modified;
    }
    let xml = met.to_xml();
    if old.as_deref() != Some(&xml) {
        collection.write_metadata(content.number, &content.extension, &xml)?;
    }
    Ok(())
}

fn read(collection: &Collection, path: &str) -> anyhow::Result<Option<Vec<u8>>> {
    let mut xml = Vec::new();
    match collection.read(path) {
        Ok(file) => file.take(LONGEST).read_to_end(&mut xml)?,
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    Ok(Some(xml))
}

/// The catalog's entries of a content; `None` if no document has it, or ever had.
pub(in crate::import) fn described(
    holdings: &Holdings,
    content: &ContentEntry,
) -> anyhow::Result<Option<Met>> {
    let catalog = holdings.catalog();
    let with = holdings.wait(catalog.documents_with(content.number, MOST))?;
    let documents: Vec<_> = with
        .iter()
        .map(|(document, former)| MetDocument::of(document, *former))
        .collect();
    let Some(first) = documents.first().cloned() else {
        return Ok(None);
    };
    let known = holdings.wait(catalog.known_content(&content.sha1))?;
    Ok(Some(Met {
        crawler: None,
        crawl_date: first.crawl_date,
        last_modified: None,
        url: first.url,
        parent_url: first.parent_url,
        depth: first.depth,
        seed: first.seed,
        declared: first.declared,
        sniffed: first.sniffed,
        media_type: match first.is_former {
            true => content.media_type.clone(),
            false => first.media_type,
        },
        sha1: content.sha1.clone(),
        sha256: content.sha256.clone(),
        size: content.size,
        member: first.member,
        source: first.source,
        digest_mismatch: first.digest_mismatch,
        text: known.map(|known| MetText::from(known.judgement)),
        documents,
    }))
}

const PAGE: u64 = 200;
/// The documents that a `.met` file tells of at most.
const MOST: u64 = 50_000;
