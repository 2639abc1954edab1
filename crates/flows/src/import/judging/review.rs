//! Documents that the content filter rejected: kept for a while, so that a person can look at them and accept them.
//!
//! Their bytes and texts lie in DIR/review, under the numbers of the queue. What lies there without a row is removed when
//! it is pruned, and a kill leaves nothing worse.

use std::io::{Read, Write};

use anyhow::{Context, bail};
use catalog::{
    CaptureRow, ContentRow, Correction, FinishImport, ImportState, NewImport, NewReview,
    ReviewEntry,
};
use crawl::Place;
use document::digest::Digester;
use document::digest::Digests;
use serde::{Deserialize, Serialize};
use store::{Collection, Durability, NewFile, Reader};

use crate::Holdings;
use crate::import::group::{Content, Group};
use crate::import::keeping::Keeping;
use crate::import::met::Met;
use crate::import::spool::Spooled;
use crate::import::{met, place, searchable};
use harvester::Stop;

/// How long rejected documents are kept, and how much of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewLimits {
    /// Days since they were rejected; 0 keeps none.
    pub days: u32,
    /// Bytes of all of them; the oldest go first.
    pub bytes: u64,
}

/// A document that was rejected.
#[derive(Debug)]
pub(crate) struct RejectedDocument {
    pub(crate) row: CaptureRow,
    pub(crate) content: Content,
}

/// The data with which an import keeps a rejected document.
#[derive(Debug, Serialize, Deserialize)]
struct KeptCapture {
    row: CaptureRow,
    crawler: Option<String>,
    last_modified: Option<String>,
}

/// The outcome of accepting documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AcceptedReviews {
    /// The import that brought those that were not in the collection.
    pub import: Option<i64>,
    /// The numbers of the queue that were accepted.
    pub accepted: Vec<i64>,
    /// Those that could not be, and why.
    pub failed: Vec<(i64, String)>,
}

/// The bytes of a document of the queue.
pub enum ReviewPart {
    /// The document itself.
    Document,
    /// Its text.
    Text,
}

impl Default for ReviewLimits {
    fn default() -> Self {
        Self {
            days: 30,
            bytes: 10 << 30,
        }
    }
}

impl ReviewLimits {
    /// Removes what was decided on, and what is too much.
    pub fn decided() -> Self {
        Self {
            days: u32::MAX,
            ..Self::default()
        }
    }
}

fn open(holdings: &Holdings) -> anyhow::Result<Collection> {
    let directory = holdings.directory().join("review");
    Ok(Collection::open(&directory, Durability::Page)?)
}

/// Stores what was rejected in a group. It is put into the queue before the group is committed: a group that comes again
/// finds it there.
pub(crate) fn keep(keeping: &Keeping<'_>, group: &mut Group) -> anyhow::Result<()> {
    if group.rejected.is_empty() {
        return Ok(());
    }
    let rejected = std::mem::take(&mut group.rejected);
    let mut new = Vec::with_capacity(rejected.len());
    for RejectedDocument { row, content } in &rejected {
        let ContentRow::Bytes {
            sha1,
            size,
            extension,
            ..
        } = &row.content
        else {
            bail!("a document without bytes was rejected");
        };
        let capture = KeptCapture {
            row: row.clone(),
            crawler: content.met.crawler.clone(),
            last_modified: content.met.last_modified.clone(),
        };
        new.push(NewReview {
            sha1: sha1.clone(),
            url: row.url.clone(),
            host: row.host.clone(),
            media_type: row.media_type.clone(),
            extension: extension.clone(),
            size: *size,
            capture: serde_json::to_string(&capture)?,
        });
    }
    let catalog = keeping.holdings.catalog();
    let numbers = keeping.holdings.wait(catalog.reserve_reviews(&new))?;
    let reviews = open(keeping.holdings)?;
    let mut stored = Vec::new();
    for ((number, new), rejected) in numbers.into_iter().zip(&new).zip(rejected) {
        let Some(number) = number else { continue };
        keeping.hold()?;
        let place = || -> anyhow::Result<()> {
            reviews.remove(number, &new.extension)?;
            let mut file = reviews.create()?;
            copy(rejected.content.held, &mut file)?;
            reviews.place(number, &new.extension, file)?;
            if let Some(text) = rejected.content.text.filter(|_| new.extension != "txt") {
                let mut file = reviews.create()?;
                copy(text, &mut file)?;
                reviews.place_text(number, file)?;
            }
            Ok(())
        };
        match place() {
            Ok(()) => stored.push(number),
            // The import goes on: the document is rejected all the same.
            Err(error) => {
                let reason = format!("{}: not kept for review: {error:#}", new.url);
                let place = Place::default();
                group.warn(&place, reason);
            }
        }
    }
    reviews.sync()?;
    keeping.holdings.wait(catalog.reviews_stored(&stored))?;
    Ok(())
}

fn copy(held: Spooled, to: &mut NewFile) -> anyhow::Result<()> {
    match held {
        Spooled::Memory(bytes, _share) => to.write_all(&bytes)?,
        Spooled::File(file) => {
            use std::io::Seek;
            let mut from = file.file().try_clone()?;
            from.rewind()?;
            std::io::copy(&mut from, to)?;
        }
        Spooled::Nothing => {}
    }
    Ok(())
}

/// Removes what waits for longer than it may, or is more than may wait, and what was decided on. Returns how many.
pub fn prune_reviews(holdings: &Holdings, limits: ReviewLimits) -> anyhow::Result<u64> {
    let catalog = holdings.catalog();
    let seconds = i64::from(limits.days) * 86_400;
    let mut removed = 0;
    loop {
        let gone = holdings.wait(catalog.reviews_to_remove(seconds, limits.bytes))?;
        if gone.is_empty() {
            return Ok(removed);
        }
        let reviews = open(holdings)?;
        for content in &gone {
            reviews.remove(content.number, &content.extension)?;
        }
        let ids: Vec<_> = gone.iter().map(|content| content.number).collect();
        holdings.wait(catalog.forget_reviews(&ids))?;
        removed += ids.len() as u64;
    }
}

/// The same at the end of an import, where no manager may be running. How many days they wait is the manager's to know.
pub(crate) fn prune(keeping: &Keeping<'_>) -> anyhow::Result<()> {
    prune_reviews(keeping.holdings, ReviewLimits::decided())?;
    Ok(())
}

/// Opens the bytes or the text of a document of the queue; `None` if they are not there.
pub fn review_file(
    holdings: &Holdings,
    entry: &ReviewEntry,
    part: &ReviewPart,
) -> anyhow::Result<Option<Reader>> {
    let (collection, number) = match entry.content {
        Some(content) => (place::of_holdings(holdings)?, content),
        None => (open(holdings)?, entry.id),
    };
    let path = match part {
        ReviewPart::Document => Collection::relative_path(number, &entry.extension),
        ReviewPart::Text => Collection::text_path(number),
    };
    match collection.read(&path) {
        Ok(reader) => Ok(Some(reader)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Brings documents of the queue into the collection as an import would, with the correction that accepts them.
pub fn accept_reviews(
    holdings: &Holdings,
    entries: &[ReviewEntry],
    correction: &Correction,
) -> anyhow::Result<AcceptedReviews> {
    let catalog = holdings.catalog();
    let mut accepted = AcceptedReviews::default();
    let (inside, outside): (Vec<_>, Vec<_>) =
        entries.iter().partition(|entry| entry.content.is_some());
    for entry in inside {
        holdings.wait(catalog.correct_bytes(&entry.sha1, correction))?;
        accepted.accepted.push(entry.id);
    }
    if !outside.is_empty() {
        bring(holdings, &outside, correction, &mut accepted)?;
    }
    holdings.wait(catalog.end_reviews(&accepted.accepted))?;
    Ok(accepted)
}

fn bring(
    holdings: &Holdings,
    entries: &[&ReviewEntry],
    correction: &Correction,
    accepted: &mut AcceptedReviews,
) -> anyhow::Result<()> {
    let catalog = holdings.catalog();
    let collection = place::for_import(holdings, None, Durability::Page)?;
    let reviews = open(holdings)?;
    let numbers: Vec<_> = entries.iter().map(|entry| entry.id).collect();
    // Documents that are accepted at once are one import, and the same documents are the same import if it is killed.
    let parameters = serde_json::json!({ "accepted_from_review": numbers }).to_string();
    let new = NewImport::new(parameters, vec!["the review queue".to_owned()]);
    let import = holdings.wait(catalog.begin_import(&new))?;
    accepted.import = Some(import.id());
    let stop = Stop::default();
    let keeping = Keeping::new(holdings, &collection, import, None);
    let worked = (|| -> anyhow::Result<()> {
        for part in entries.chunks(AT_ONCE) {
            let mut group = Group::new(0, 0);
            let mut ids = Vec::new();
            for entry in part {
                match content(&collection, &reviews, entry) {
                    Ok((row, content)) => {
                        holdings.wait(catalog.correct_bytes(&entry.sha1, correction))?;
                        group.counters.all += 1;
                        group.push(row, Some(content));
                        ids.push(entry.id);
                    }
                    Err(error) => accepted.failed.push((entry.id, format!("{error:#}"))),
                }
            }
            keeping.keep(group)?;
            // Only now is there a `.met` file that is to tell of it.
            for entry in part.iter().filter(|entry| ids.contains(&entry.id)) {
                holdings.wait(catalog.correct_bytes(&entry.sha1, correction))?;
            }
            accepted.accepted.extend(ids);
            keeping.beat(&stop);
        }
        met::update::update(holdings, &collection, u64::MAX, &|| Ok(()))?;
        searchable::index(holdings, &collection, &stop)?;
        Ok(())
    })();
    let finish = match &worked {
        Ok(()) => FinishImport {
            reason: Some(format!(
                "{} documents were accepted from the review queue",
                accepted.accepted.len()
            )),
            ..FinishImport::new(ImportState::Ok)
        },
        Err(error) => FinishImport {
            reason: Some(crate::message(error)),
            ..FinishImport::new(ImportState::Failed)
        },
    };
    holdings.wait(catalog.finish_import(keeping.into_import(), &finish))?;
    worked
}

/// The row and the bytes of a document of the queue, compared with their digests.
fn content(
    collection: &Collection,
    reviews: &Collection,
    entry: &ReviewEntry,
) -> anyhow::Result<(CaptureRow, Content)> {
    let capture = entry.capture.as_deref().context("it is not kept")?;
    let KeptCapture {
        row,
        crawler,
        last_modified,
    } = serde_json::from_str(capture).context("what is known of it cannot be read")?;
    let path = Collection::relative_path(entry.id, &entry.extension);
    let mut file = collection.create()?;
    let digests = match reviews.read(&path) {
        Ok(bytes) => digested(bytes, &mut file)?,
        Err(error) if error.is_missing() => {
            bail!("its bytes are not kept any more; import its crawl again")
        }
        Err(error) => return Err(error.into()),
    };
    if digests.sha1_hex() != entry.sha1 {
        bail!("its bytes are damaged; import its crawl again");
    }
    let text = match reviews.read(&Collection::text_path(entry.id)) {
        Ok(bytes) if entry.extension != "txt" => {
            let mut file = collection.create()?;
            digested(bytes, &mut file)?;
            Some(Spooled::File(file))
        }
        Ok(_) => None,
        Err(error) if error.is_missing() => None,
        Err(error) => return Err(error.into()),
    };
    let met = Met {
        crawler,
        crawl_date: row.crawled,
        last_modified,
        url: row.url.clone(),
        parent_url: row.parent.as_ref().map(|parent| parent.url.clone()),
        depth: row.depth,
        seed: row.is_seed,
        declared: row.declared_type.clone(),
        sniffed: row.sniffed_type.clone(),
        media_type: row.media_type.clone(),
        member: row.member.clone(),
        source: row.source.clone(),
        digest_mismatch: row.digest_mismatch.clone(),
        ..Met::default()
    };
    let met = met.with_digests(&digests);
    let content = Content {
        held: Spooled::File(file),
        text,
        met,
        place: Place::default(),
        ticket: None,
    };
    Ok((row, content))
}

fn digested(mut bytes: Reader, to: &mut NewFile) -> anyhow::Result<Digests> {
    let mut digester = Digester::default();
    let mut block = vec![0; 64 << 10];
    loop {
        let length = bytes.read(&mut block)?;
        if length == 0 {
            return Ok(digester.finish());
        }
        digester.update(&block[..length]);
        to.write_all(&block[..length])?;
    }
}

/// Documents that are committed at once.
const AT_ONCE: usize = 100;
