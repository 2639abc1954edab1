//! Whether the catalog and the collection agree: each row has its file with the right digest, each file its row.
//!
//! Nothing that may be the only copy of something is ever removed: what cannot be taken into the catalog is set aside.

mod adopt;
mod after;
mod comparing;
mod orphans;
mod repair;
mod repairing;
mod texts;

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{anyhow, bail};
use harvester::Stop;
use process::Confiner;
use serde::Serialize;
use store::Collection;

pub(super) use self::after::of_import;
use self::repair::Verifying;
use self::repairing::Repairing;
use super::{met, place, searchable};
use crate::Holdings;
use crate::curation::trash::tidy_trash;
use crate::harvest::panic_message;

/// The findings of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Contents that were looked at.
    pub contents: u64,
    /// Files that were looked at.
    pub files: u64,
    /// Whether the bytes were read and digested.
    pub digested: bool,
    /// Contents without a file.
    pub missing: u64,
    /// Files with other bytes than their row says.
    pub damaged: u64,
    /// Files that cannot be read, so that nothing is known of them.
    pub unreadable: u64,
    /// Documents without their `.met` file.
    pub without_metadata: u64,
    /// Documents whose text is not beside them any more.
    pub without_text: u64,
    /// Files without a row.
    pub orphans: u64,
    /// Of these, those that an import placed which did not come to its end.
    #[serde(skip_serializing_if = "is_zero")]
    pub unfinished: u64,
    /// Rows that no document has.
    pub unused: u64,
    /// How many of these are in order now.
    pub repaired: u64,
    /// The findings, as far as there is room for them.
    pub findings: Vec<Finding>,
}

/// Something that is not in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The path in the collection.
    pub file: String,
    /// The fault.
    pub problem: String,
    /// The repair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<String>,
}

/// How a collection is verified.
#[derive(Debug, Clone, Default)]
pub struct VerifyOptions {
    /// Whether what can be repaired is.
    pub repair: bool,
    /// How many threads read.
    pub threads: usize,
    /// How this program executes itself so that texts which are missing can be read again; without, they are not.
    pub confiner: Option<Confiner>,
}

/// The repair of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Repair {
    /// Nothing.
    None,
    /// The possible repair is done, and it is not in order yet.
    Partly(String),
    /// It is in order now.
    Done(String),
}

impl Verification {
    /// Whether all is in order, or is by now.
    pub fn is_well(&self) -> bool {
        self.problems() == self.repaired
    }

    fn problems(&self) -> u64 {
        let files = self.missing + self.damaged + self.unreadable + self.without_metadata;
        files + self.without_text + self.orphans + self.unused
    }

    /// In one line.
    pub fn said(&self) -> String {
        let problems = self.problems();
        if problems == 0 {
            let contents = self.contents;
            return format!("verified: {contents} contents have their files, by their digests");
        }
        let mut said = Vec::new();
        for (count, what) in [
            (self.missing, "files are missing"),
            (self.damaged, "files have other bytes"),
            (self.unreadable, "files cannot be read"),
            (self.without_metadata, "documents have no .met file"),
            (self.without_text, "documents have lost their text"),
            (self.orphans, "files belong to nothing"),
            (self.unused, "contents belong to no document"),
        ] {
            if count > 0 {
                said.push(format!("{count} {what}"));
            }
        }
        if self.unfinished > 0 && self.repaired == 0 {
            let count = self.unfinished;
            said.push(format!(
                "{count} of these files belong to an interrupted import: run the same import again to resume it"
            ));
        }
        let said = said.join(", ");
        match self.repaired {
            0 => format!("verified: {said}; see garner verify --repair"),
            repaired if repaired == problems => format!("verified: {said}; all are in order now"),
            repaired => format!("verified: {said}; {repaired} of them are in order now"),
        }
    }

    fn note(&mut self, file: impl Into<String>, problem: impl Into<String>, repair: Repair) {
        self.repaired += u64::from(matches!(repair, Repair::Done(_)));
        if self.findings.len() >= MOST_FINDINGS {
            return;
        }
        self.findings.push(Finding {
            file: file.into(),
            problem: problem.into(),
            repair: match repair {
                Repair::None => None,
                Repair::Partly(said) | Repair::Done(said) => Some(said),
            },
        });
    }
}

/// Compares the whole collection with the catalog, byte for byte, and repairs what can be repaired. No import runs while
/// something is repaired.
///
/// `told` hears how many contents were looked at.
pub fn verify(
    holdings: &Holdings,
    options: VerifyOptions,
    told: &(dyn Fn(u64) + Sync),
) -> anyhow::Result<Verification> {
    let collection = place::of_holdings(holdings)?;
    if !options.repair {
        let verifying = Verifying::new(holdings, &collection, None, None);
        return look_through(verifying, options.threads, told);
    }
    let contents = holdings.wait(holdings.catalog().contents_from(0, 1))?;
    if !contents.is_empty() && collection.files().next().is_none() {
        bail!(
            "the collection `{}` is empty, and the catalog is not; is a disk not mounted?",
            collection.absolute("").display()
        );
    }
    let (repairing, left) = Repairing::begin(holdings, place::is_ahead(holdings, &collection)?)?;
    let worked = repairing.alive(|| {
        let mut verifying =
            Verifying::new(holdings, &collection, Some(&repairing), options.confiner);
        verifying.remove_left(left)?;
        // Removals that were interrupted: their files belong to the trash.
        tidy_trash(holdings)?;
        look_through(verifying, options.threads, told)
    });
    repairing.finish(worked)
}

fn look_through(
    mut verifying: Verifying<'_>,
    threads: usize,
    told: &(dyn Fn(u64) + Sync),
) -> anyhow::Result<Verification> {
    let (holdings, collection) = (verifying.holdings, verifying.collection);
    // A bug that one file brings to light must not leave a repair without an end.
    let looked = catch_unwind(AssertUnwindSafe(|| {
        comparing::contents(holdings, collection, threads, &mut |content, looked| {
            verifying.content(content, looked)?;
            told(verifying.result.contents);
            Ok(())
        })?;
        verifying.unused()?;
        verifying.raise_numbers()?;
        orphans::all(&mut verifying)?;
        if let Some(repairing) = verifying.repairing {
            met::update::update(holdings, collection, u64::MAX, &|| repairing.check())?;
            searchable::index(holdings, collection, &Stop::default())?;
        }
        Ok(collection.sync()?)
    }));
    looked.unwrap_or_else(|panic| Err(anyhow!("a bug in garner: {}", panic_message(&*panic))))?;
    Ok(verifying.result)
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Where a content lies.
fn path_of(content: &catalog::ContentEntry) -> String {
    Collection::relative_path(content.number, &content.extension)
}

const NO_METADATA: &str = "the .met file is missing or tells of something else";
const ORPHAN: &str = "no row speaks of the file";
const NO_TEXT: &str = "the text of the document is missing";
const UNUSED: &str = "no document has this content";

const PAGE: u64 = 500;
const MOST_FINDINGS: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_repaired_counts_also_where_there_is_no_room_to_tell() {
        let mut found = Verification::default();
        for number in 0..2000 {
            found.orphans += 1;
            found.note(
                number.to_string(),
                ORPHAN,
                Repair::Done("taken in".to_owned()),
            );
        }
        found.missing += 1;
        found.note("last", "gone", Repair::Partly("marked".to_owned()));

        assert_eq!(found.findings.len(), MOST_FINDINGS);
        assert_eq!(found.repaired, 2000);
        assert!(!found.is_well());
        assert_eq!(found.findings[999].repair.as_deref(), Some("taken in"));
    }
}
