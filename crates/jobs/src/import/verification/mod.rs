//! Whether the catalog and the collection agree: each row has its file with the right digest, each file its row.

mod comparing;
mod repair;

use anyhow::bail;
use catalog::{DocumentQuery, ImportQuery, ImportState};
use serde::Serialize;
use store::{Collection, Durability};

use self::comparing::is_missing;
use self::repair::Verifying;
use super::keeping::Keeping;
use crate::Holdings;

/// What a verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Contents that were looked at.
    pub contents: u64,
    /// Files that were looked at.
    pub files: u64,
    /// Whether the bytes were read and digested; if not, their number was compared.
    pub digested: bool,
    /// Contents without a file.
    pub missing: u64,
    /// Files with other bytes than their row says.
    pub damaged: u64,
    /// Documents without their `.met` file.
    pub without_metadata: u64,
    /// Files without a row.
    pub orphans: u64,
    /// Rows that no document has.
    pub unused: u64,
    /// How many of these are in order now.
    pub repaired: u64,
    /// What was found, as far as there is room for it.
    pub findings: Vec<Finding>,
}

/// Something that is not in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The path in the collection.
    pub file: String,
    /// What is wrong with it.
    pub problem: String,
    /// What was done about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<String>,
}

/// How a collection is verified.
#[derive(Debug, Clone, Copy, Default)]
pub struct VerifyOptions {
    /// Whether what can be repaired is.
    pub repair: bool,
    /// How many threads read.
    pub threads: usize,
}

impl Verification {
    /// Whether all is in order, or is by now.
    pub fn is_well(&self) -> bool {
        self.problems() == self.repaired
    }

    fn problems(&self) -> u64 {
        self.missing + self.damaged + self.without_metadata + self.orphans + self.unused
    }

    /// In one line.
    pub fn said(&self) -> String {
        let how = match self.digested {
            true => "digests",
            false => "sizes",
        };
        let problems = self.problems();
        if problems == 0 {
            let contents = self.contents;
            return format!("verified: {contents} contents have their files, by their {how}");
        }
        let mut said = Vec::new();
        for (count, what) in [
            (self.missing, "files are missing"),
            (self.damaged, "files have other bytes"),
            (self.without_metadata, "documents have no .met file"),
            (self.orphans, "files belong to nothing"),
            (self.unused, "contents belong to no document"),
        ] {
            if count > 0 {
                said.push(format!("{count} {what}"));
            }
        }
        let said = said.join(", ");
        match self.repaired {
            0 => format!("verified: {said}; see garner verify --repair"),
            repaired if repaired == problems => format!("verified: {said}; all are in order now"),
            repaired => format!("verified: {said}; {repaired} of them are in order now"),
        }
    }

    fn note(&mut self, file: String, problem: &str, repair: Option<String>) {
        self.repaired += u64::from(repair.is_some());
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(Finding {
                file,
                problem: problem.to_owned(),
                repair,
            });
        }
    }
}

/// Compares the documents that an import brought with their files. The bytes were digested on their way into them, so
/// their number is enough here.
pub(super) fn of_import(keeping: &Keeping<'_>) -> anyhow::Result<Verification> {
    let (holdings, collection) = (keeping.holdings, keeping.collection);
    let mut verification = Verification::default();
    let mut query = DocumentQuery {
        import: Some(keeping.lock().id()),
        limit: PAGE,
        ..DocumentQuery::default()
    };
    loop {
        let documents = holdings.wait(holdings.catalog().documents(&query))?;
        let Some(last) = documents.last() else { break };
        query.after = last.id;
        for document in &documents {
            verification.contents += 1;
            let file = Collection::relative_path(document.content, &document.extension);
            match size(collection, &file)? {
                Some(size) if size == document.size => verification.files += 1,
                Some(_) => {
                    verification.damaged += 1;
                    verification.note(file, OTHER_SIZE, None);
                }
                None => {
                    verification.missing += 1;
                    verification.note(file, MISSING, None);
                }
            }
        }
    }
    Ok(verification)
}

/// Compares the whole collection with the catalog, byte for byte, and repairs what can be repaired.
///
/// `told` hears how many contents were looked at.
pub fn verify(
    holdings: &Holdings,
    options: VerifyOptions,
    told: &dyn Fn(u64),
) -> anyhow::Result<Verification> {
    let collection = super::open_collection(holdings, Durability::Page)?;
    let running = running(holdings)?;
    if options.repair
        && let Some(import) = running
    {
        bail!("import {import} is running; repair the collection when it is over");
    }
    let mut verifying = Verifying {
        holdings,
        collection: &collection,
        repair: options.repair,
        result: Verification {
            digested: true,
            ..Verification::default()
        },
    };
    comparing::contents(
        holdings,
        &collection,
        options.threads,
        &mut |content, looked| {
            verifying.content(content, looked)?;
            told(verifying.result.contents);
            Ok(())
        },
    )?;
    verifying.unused()?;
    let mut orphans = Vec::new();
    comparing::orphans(holdings, &collection, &mut |orphan| {
        verifying.result.files += 1;
        // What an import that is running writes has no row yet.
        orphans.extend(orphan.filter(|_| running.is_none()));
        Ok(())
    })?;
    verifying.orphans(orphans)?;
    collection.sync()?;
    Ok(verifying.result)
}

/// How many bytes a file has, if it is there.
fn size(collection: &Collection, path: &str) -> anyhow::Result<Option<u64>> {
    match collection.read(path) {
        Ok(file) => Ok(Some(file.metadata()?.len())),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// An import that is running.
fn running(holdings: &Holdings) -> anyhow::Result<Option<i64>> {
    let query = ImportQuery {
        state: Some(ImportState::Running),
        limit: 1,
        ..ImportQuery::default()
    };
    let running = holdings.wait(holdings.catalog().imports(&query))?;
    Ok(running.first().map(|import| import.id))
}

const MISSING: &str = "the file is missing";
const OTHER_SIZE: &str = "the file has another size";
const OTHER_BYTES: &str = "the file has other bytes";
const NO_METADATA: &str = "the .met file is missing or cannot be read";
const ORPHAN: &str = "no row speaks of the file";
const UNUSED: &str = "no document has this content";

const PAGE: u64 = 500;
const MOST_FINDINGS: usize = 1000;
