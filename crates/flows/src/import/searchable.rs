//! Makes the texts of documents searchable, and finds those that say nearly the same, after an import and beside
//! everything else.
//!
//! The catalog notes which texts are to be read in the transaction that brings them. A kill leaves them noted.

use std::time::{Duration, Instant};

use catalog::{IndexedText, UnreadText};
use harvester::Stop;
use store::Collection;
use text::{Facts, Sketch};

use super::place;
use crate::Holdings;
use crate::collection::document_files::decoded;

/// Makes texts searchable until all are, or it is asked to stop. Returns how many were read.
///
/// A text that cannot be read stays noted and is tried again later; one that is not there at all is forgotten.
pub fn index_texts(holdings: &Holdings, stop: &Stop) -> anyhow::Result<u64> {
    if holdings
        .wait(holdings.catalog().unread_texts(1))?
        .is_empty()
    {
        return Ok(0);
    }
    index(holdings, &place::of_holdings(holdings)?, stop)
}

/// The same for somebody who waits: no further text is begun after `most`, and the rest stays noted.
pub fn index_texts_within(holdings: &Holdings, most: Duration) -> anyhow::Result<u64> {
    let end = Instant::now() + most;
    let is_over = || Instant::now() > end;
    index_until(holdings, &place::of_holdings(holdings)?, &is_over)
}

/// The same for those who have the collection open.
pub(super) fn index(
    holdings: &Holdings,
    collection: &Collection,
    stop: &Stop,
) -> anyhow::Result<u64> {
    index_until(holdings, collection, &|| stop.is_set())
}

fn index_until(
    holdings: &Holdings,
    collection: &Collection,
    is_over: &dyn Fn() -> bool,
) -> anyhow::Result<u64> {
    let catalog = holdings.catalog();
    let mut read = 0;
    while !is_over() {
        let unread = holdings.wait(catalog.unread_texts(BATCH))?;
        if unread.is_empty() {
            break;
        }
        let (mut texts, mut failed, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        let mut bytes = 0;
        for content in &unread {
            if is_over() || bytes > MOST_BYTES {
                break;
            }
            match text_of(collection, content) {
                Ok(Some(text)) => {
                    bytes += text.len();
                    texts.push(indexed(content, text));
                }
                Ok(None) => gone.push(content.content),
                Err(error) => {
                    let number = content.content;
                    tracing::warn!("the text of document {number} cannot be indexed: {error}");
                    failed.push(number);
                }
            }
        }
        holdings.wait(catalog.index_texts(&texts, &is_near))?;
        if !(failed.is_empty() && gone.is_empty()) {
            holdings.wait(catalog.note_unread_texts(&failed, &gone))?;
        }
        read += texts.len() as u64;
    }
    Ok(read)
}

/// The text that is stored of a content. That of a document which is text is the document.
fn text_of(collection: &Collection, content: &UnreadText) -> anyhow::Result<Option<String>> {
    let path = Collection::text_path(content.content);
    match collection.read(&path) {
        Ok(file) => Ok(Some(decoded(file, LONGEST)?)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn indexed(content: &UnreadText, text: String) -> IndexedText {
    let mut facts = Facts::default();
    let mut sketch = content.sketch.as_deref().and_then(Sketch::parse);
    if !content.has_facts {
        facts = Facts::of(&text, None);
    }
    sketch = sketch.or(facts.sketch).or_else(|| Sketch::of(&text));
    IndexedText {
        content: content.content,
        title: facts.title.or_else(|| content.title.clone()),
        language: facts.language.map(str::to_owned),
        bands: sketch.iter().flat_map(Sketch::bands).collect(),
        sketch: sketch.map(|sketch| sketch.to_hex()),
        // Words are found whole, whatever the lines do with them.
        text: text::join_hyphenated(&text).into_owned(),
    }
}

/// Whether two sketches are those of texts that say nearly the same.
fn is_near(one: &str, other: &str) -> bool {
    match (Sketch::parse(one), Sketch::parse(other)) {
        (Some(one), Some(other)) => one.similarity(&other) >= Sketch::NEAR,
        _ => false,
    }
}

const BATCH: u64 = 200;
/// Bytes of texts that are in memory at once, beside the last one.
const MOST_BYTES: usize = 16 << 20;
/// Bytes of a text that are read: far more words than the search keeps.
const LONGEST: u64 = 4 << 20;
