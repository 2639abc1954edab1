//! Cleaning the table of documents, as a job or at once.

use std::collections::HashMap;
use std::sync::Arc;

use catalog::{NewJob, Role};
use document::url::Rules;
use flows::Cleaned;
use harvester::Stop;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::jobs::{self, Job};
use crate::{Actor, CleanOrder, Context, Refusal, lists};

/// A cleaning: the blacklists that it goes by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CleanDocuments {
    /// Blacklists that are kept in the catalog, by their names.
    pub lists: Vec<String>,
    /// The text of a blacklist: a host or a URL prefix a line.
    pub blacklist: Option<String>,
}

/// A preview of a cleaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CleanPreview {
    /// Documents that failed to be ingested, as far as they were looked at.
    pub failed: u64,
    /// Those that the blacklist names.
    pub documents: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether all documents that failed were looked at; otherwise the numbers are lower bounds.
    pub complete: bool,
    /// The entries of the blacklist with the most documents, at most 20.
    pub entries: Vec<EntryCount>,
    /// Some of the documents, evenly chosen; at most 20.
    pub sample: Vec<Candidate>,
}

/// The documents that one entry of a blacklist names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct EntryCount {
    /// The entry.
    pub entry: String,
    /// How many documents.
    pub documents: u64,
}

/// A document that a cleaning would remove.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Candidate {
    /// Its number.
    pub id: i64,
    /// Its URL.
    pub url: String,
    /// Its host.
    pub host: String,
    /// Its media type.
    pub media_type: String,
    /// Its size in bytes.
    pub size: u64,
    /// The entry of the blacklist that names it.
    pub entry: String,
}

/// The documents that a cleaning would remove: their number and a sample, of the first 200,000 that failed.
pub async fn preview(context: &Context, order: &CleanDocuments) -> Result<CleanPreview, Refusal> {
    let rules = rules(context, order).await?;
    let look = move |holdings: &flows::Holdings| {
        let mut preview = Preview::default();
        let mut each = |candidate: Candidate| {
            preview.add(candidate);
            Ok(())
        };
        let (failed, complete) = each_candidate(holdings, &rules, MOST_LOOKED_AT, &mut each)?;
        Ok(preview.finish(failed, complete))
    };
    context.blocking(look).await
}

/// Calls `each` for all documents that a cleaning would remove; this blocks. Returns how many documents failed.
pub fn candidates(
    context: &Context,
    order: &CleanDocuments,
    each: &mut dyn FnMut(Candidate) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    let rules = context.wait(rules(context, order))?;
    let (failed, _) = each_candidate(context.holdings(), &rules, u64::MAX, each)?;
    Ok(failed)
}

/// Moves the documents to the trash; this blocks. `tell` hears how far it is.
pub fn clean(
    context: &Context,
    actor: &Actor,
    order: &CleanDocuments,
    stop: &Stop,
    tell: &mut dyn FnMut(&Cleaned),
) -> Result<Cleaned, Refusal> {
    actor.require(Role::Operator)?;
    let rules = context.wait(rules(context, order))?;
    let holdings = Arc::clone(context.holdings());
    let cleaned = flows::clean_documents(&holdings, &rules, Some(&actor.name), stop, tell)?;
    let details = Some(cleaned.said());
    context.wait(context.audit(actor, "documents.clean", "documents", details));
    Ok(cleaned)
}

/// Puts a cleaning into the queue.
pub async fn queue_clean(
    context: &Context,
    actor: &Actor,
    order: &CleanDocuments,
) -> Result<Job, Refusal> {
    actor.require(Role::Operator)?;
    rules(context, order).await?;
    let text = order.blacklist.as_deref().unwrap_or_default();
    if text.len() > MAX_TEXT {
        let reason = "it has more than 1 MiB; keep it in the catalog with garner lists add, and name it in lists";
        return Err(Refusal::invalid("blacklist", reason));
    }
    let parameters = CleanOrder::Documents(order.clone());
    let parameters = serde_json::to_string(&parameters).map_err(anyhow::Error::from)?;
    let details = (!order.lists.is_empty()).then(|| order.lists.join(", "));
    jobs::add(context, actor, NewJob::clean(parameters), None, details).await
}

/// The rules of all blacklists together; refused if nothing is in them.
async fn rules(context: &Context, order: &CleanDocuments) -> Result<Rules, Refusal> {
    let rules = lists::rules(context, &order.lists, order.blacklist.as_deref()).await?;
    if rules.is_empty() {
        let reason = "the blacklist has no entries, so there is nothing to clean by";
        return Err(Refusal::invalid("blacklist", reason));
    }
    Ok(rules)
}

fn each_candidate(
    holdings: &flows::Holdings,
    rules: &Rules,
    limit: u64,
    each: &mut dyn FnMut(Candidate) -> anyhow::Result<()>,
) -> anyhow::Result<(u64, bool)> {
    flows::each_to_clean(holdings, rules, limit, &mut |document, refusal| {
        each(Candidate {
            id: document.id,
            url: document.url,
            host: document.host,
            media_type: document.media_type,
            size: document.size,
            entry: refusal.entry().unwrap_or_default().to_owned(),
        })
    })
}

/// A preview as it grows. Its memory is bounded, however many documents there are.
#[derive(Default)]
struct Preview {
    documents: u64,
    bytes: u64,
    entries: HashMap<String, u64>,
    sample: Vec<Candidate>,
    /// Every document with a number that is a multiple of this is in the sample.
    step: u64,
}

impl Preview {
    fn add(&mut self, candidate: Candidate) {
        let step = self.step.max(1);
        if self.documents.is_multiple_of(step) {
            if self.sample.len() == SAMPLE {
                // Every other one makes room, so that the sample stays even.
                let mut at = 0..;
                self.sample
                    .retain(|_| at.next().is_some_and(|at: usize| at.is_multiple_of(2)));
                self.step = step * 2;
            }
            if self.documents.is_multiple_of(self.step.max(1)) {
                self.sample.push(candidate.clone());
            }
        }
        self.documents += 1;
        self.bytes += candidate.size;
        if self.entries.len() < MOST_ENTRIES || self.entries.contains_key(&candidate.entry) {
            *self.entries.entry(candidate.entry).or_default() += 1;
        }
    }

    fn finish(self, failed: u64, complete: bool) -> CleanPreview {
        let entries = self.entries.into_iter();
        let mut entries: Vec<_> = entries
            .map(|(entry, documents)| EntryCount { entry, documents })
            .collect();
        entries.sort_by(|a, b| (b.documents, &a.entry).cmp(&(a.documents, &b.entry)));
        entries.truncate(20);
        CleanPreview {
            failed,
            documents: self.documents,
            bytes: self.bytes,
            complete,
            entries,
            sample: self.sample,
        }
    }
}

const MOST_LOOKED_AT: u64 = 200_000;
const MOST_ENTRIES: usize = 10_000;
const SAMPLE: usize = 20;
const MAX_TEXT: usize = 1 << 20;
