//! Cleaning the table of documents: documents whose host is blacklisted and that a search engine could not ingest.
//!
//! It may be stopped or killed at any time: what is removed is not met again, so the next run continues where this one was.

use std::collections::HashMap;

use catalog::{FailedDocument, Removal};
use document::url::{Normal, Refusal, Rules};
use harvester::Stop;
use serde::Serialize;

use super::trash::tidy_trash;
use crate::Holdings;
use crate::import::update_metadata;

/// The progress of a cleaning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Cleaned {
    /// Documents that failed to be ingested, as far as they were looked at.
    pub failed: u64,
    /// Those that were moved to the trash.
    pub documents: u64,
    /// Their bytes, shared ones included.
    pub bytes: u64,
    /// Contents whose files could not be moved; the next cleaning tries them again.
    pub unmoved: u64,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

/// Moves documents to the trash that failed to be ingested and that the blacklist names. `tell` hears how far it is.
pub fn clean_documents(
    holdings: &Holdings,
    rules: &Rules,
    by: Option<&str>,
    stop: &Stop,
    tell: &mut dyn FnMut(&Cleaned),
) -> anyhow::Result<Cleaned> {
    let mut cleaned = Cleaned {
        // Remains of a cleaning that was killed.
        unmoved: tidy_trash(holdings)?,
        ..Cleaned::default()
    };
    let mut after = 0;
    loop {
        let failed = holdings.wait(holdings.catalog().failed_documents(after, PAGE))?;
        let Some(last) = failed.last() else { break };
        after = last.id;
        cleaned.failed += failed.len() as u64;
        let mut refused: HashMap<String, Vec<i64>> = HashMap::new();
        for document in &failed {
            if let Some(refusal) = refusal(rules, document) {
                let reason = format!("{refusal}, and it was not ingested");
                refused.entry(reason).or_default().push(document.id);
            }
        }
        for (reason, documents) in refused {
            let removal = Removal {
                reason,
                by: by.map(str::to_owned),
                is_takedown: false,
                only_failed: true,
            };
            let catalog = holdings.catalog();
            let removed = holdings.wait(catalog.remove_documents(&documents, &removal))?;
            cleaned.documents += removed.len() as u64;
            cleaned.bytes += removed.iter().map(|document| document.size).sum::<u64>();
        }
        cleaned.unmoved = tidy_trash(holdings)?;
        tell(&cleaned);
        if stop.is_set() {
            cleaned.stopped = true;
            break;
        }
    }
    // Other documents have the bytes of some; their metadata names one URL less.
    update_metadata(holdings, u64::MAX)?;
    Ok(cleaned)
}

/// The documents that a cleaning would remove, in the order of their numbers, each with the entry of the blacklist. At
/// most `limit` documents that failed are looked at; whether those were all.
pub fn each_to_clean(
    holdings: &Holdings,
    rules: &Rules,
    limit: u64,
    each: &mut dyn FnMut(FailedDocument, Refusal) -> anyhow::Result<()>,
) -> anyhow::Result<(u64, bool)> {
    let (mut after, mut looked) = (0, 0);
    while looked < limit {
        let wanted = PAGE.min(limit - looked);
        let failed = holdings.wait(holdings.catalog().failed_documents(after, wanted))?;
        let Some(last) = failed.last() else {
            return Ok((looked, true));
        };
        after = last.id;
        looked += failed.len() as u64;
        for document in failed {
            if let Some(refusal) = refusal(rules, &document) {
                each(document, refusal)?;
            }
        }
    }
    Ok((looked, false))
}

fn refusal(rules: &Rules, document: &FailedDocument) -> Option<Refusal> {
    // URLs and hosts of the catalog are normalised.
    rules.refuses(&Normal {
        url: document.url.clone(),
        host: document.host.clone(),
        md5: String::new(),
    })
}

impl Cleaned {
    /// Describes the outcome in words.
    pub fn said(&self) -> String {
        let Self {
            failed, documents, ..
        } = self;
        let mut said = format!("{documents} of {failed} documents that failed moved to the trash");
        if self.unmoved > 0 {
            said.push_str(&format!(
                "; the files of {} contents could not be moved",
                self.unmoved
            ));
        }
        said
    }
}

const PAGE: u64 = 1000;
