//! Documents removed and restored: takedowns, and the trash.

use std::time::Duration;

use catalog::{Removal, RestoreOutcome, Role, TrashEntry, TrashQuery};
use flows::counted;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::show;
use crate::{Actor, Context, Listed, Refusal, Time, page_limit};

/// A document that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TrashedDocument {
    /// The number that it had, and has again when it is restored.
    pub id: i64,
    /// Its URL.
    pub url: String,
    /// Its place in a container, such as a file in a zip archive.
    pub member: Option<String>,
    /// The host of its URL.
    pub host: String,
    /// Its media type.
    pub media_type: String,
    /// Its size in bytes.
    pub size: u64,
    /// When it was removed.
    pub removed: Time,
    /// The account that removed it.
    pub removed_by: Option<String>,
    /// The reason.
    pub reason: String,
    /// Whether it was taken down: imports skip its URL and its bytes until it is restored.
    pub takedown: bool,
    /// Whether the trash still holds its files.
    pub restorable: bool,
}

/// A takedown.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Takedown {
    /// The reason, for the audit trail and for the reports of imports.
    pub reason: String,
}

/// A document that was taken down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TakenDown {
    /// The document.
    #[serde(flatten)]
    pub document: TrashedDocument,
    /// Other documents with the same bytes, by their numbers: they stay. At most 100.
    pub sharing: Vec<i64>,
}

/// Which removed documents are wanted.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TrashFilter {
    /// Documents that were taken down, or those that were cleaned away.
    pub takedown: Option<bool>,
    /// Documents that the trash still holds, or those that it does not.
    pub restorable: Option<bool>,
    /// Documents with this text in their URL.
    pub text: Option<String>,
    /// Documents with a larger number, for the next page.
    pub after: Option<i64>,
    /// Documents on a page, at most 1000; the default is 100.
    pub limit: Option<u64>,
}

/// Documents to be restored.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Restoration {
    /// The numbers that the documents had, or their URLs; at most 10000. Everything that the trash holds if there are none.
    #[serde(default)]
    pub documents: Vec<String>,
}

/// The outcome of a restoration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Restored {
    /// Documents that are in the collection again.
    pub restored: u64,
    /// Documents that were in the collection already, for example because somebody else restored them meanwhile.
    pub already: u64,
    /// Of `restored`: documents whose files were missing when they were removed, and still are.
    pub without_file: u64,
    /// Takedowns that ended without files: the next import that meets the documents brings them.
    pub lifted: u64,
    /// Texts that cannot be found yet, because they still wait to be indexed, counted up to 10,000.
    pub unindexed: u64,
    /// Documents that were not restored.
    pub failed: u64,
    /// Documents that were not restored, or without their file, each with the reason; at most 1000.
    pub problems: Vec<RestoreProblem>,
}

/// A document that was not restored, or without its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RestoreProblem {
    /// The number that it had, or the name that was given.
    pub document: String,
    /// The reason.
    pub reason: String,
}

/// Takes a document down: it leaves the collection, and imports skip its URL and its bytes until it is restored.
pub async fn remove(
    context: &Context,
    actor: &Actor,
    id: i64,
    takedown: &Takedown,
) -> Result<TakenDown, Refusal> {
    actor.require(Role::Operator)?;
    let reason = takedown.reason.trim();
    if reason.is_empty() || reason.chars().count() > MAX_REASON || reason.contains(char::is_control)
    {
        let reason = format!("give the reason in one line of at most {MAX_REASON} characters");
        return Err(Refusal::invalid("reason", reason));
    }
    let document = show(context, id).await?;
    let sharing = context.catalog().sharing(id, MAX_SHARING).await?;
    let removal = Removal {
        reason: reason.to_owned(),
        by: Some(actor.name.clone()),
        is_takedown: true,
        only_failed: false,
    };
    let removed = context.catalog().remove_documents(&[id], &removal).await?;
    if removed.is_empty() {
        return Err(super::missing(id));
    }
    let subject = format!("document {id} ({})", document.url);
    let details = Some(reason.to_owned());
    context
        .audit(actor, "document.remove", subject, details)
        .await;
    tidy(context).await;
    let query = TrashQuery {
        after: id - 1,
        limit: 1,
        ..TrashQuery::default()
    };
    let entry = context.catalog().trash(&query).await?.pop();
    let entry = entry.filter(|entry| entry.id == id);
    Ok(TakenDown {
        document: entry.ok_or_else(|| super::missing(id))?.into(),
        sharing,
    })
}

/// Removed documents, in the order of their numbers; `next` is for `after`.
pub async fn trash(
    context: &Context,
    filter: &TrashFilter,
) -> Result<Listed<TrashedDocument>, Refusal> {
    let limit = page_limit(filter.limit);
    let query = TrashQuery {
        is_takedown: filter.takedown,
        is_kept: filter.restorable,
        text: filter.text.clone(),
        after: filter.after.unwrap_or(0),
        limit: limit + 1,
        md5: None,
    };
    let entries = context.catalog().trash(&query).await?;
    Ok(Listed::page(entries, limit, |entry| entry.id))
}

/// Restores removed documents with their files, and ends their takedowns.
pub async fn restore(
    context: &Context,
    actor: &Actor,
    restoration: &Restoration,
) -> Result<Restored, Refusal> {
    actor.require(Role::Operator)?;
    let number = restoration.documents.len();
    if number > MAX_DOCUMENTS {
        let reason = format!("{number} are too many at once; name at most {MAX_DOCUMENTS}");
        return Err(Refusal::invalid("documents", reason));
    }
    let mut restored = Restored::default();
    if restoration.documents.is_empty() {
        let mut after = 0;
        loop {
            let query = TrashQuery {
                is_kept: Some(true),
                after,
                limit: 1000,
                ..TrashQuery::default()
            };
            let entries = context.catalog().trash(&query).await?;
            let Some(last) = entries.last() else { break };
            after = last.id;
            let ids = entries.iter().map(|entry| (entry.id, entry.id.to_string()));
            restore_some(context, ids.collect(), &mut restored).await?;
        }
    } else {
        let mut named = Vec::new();
        for name in &restoration.documents {
            let found = named_entries(context, name).await?;
            if found.is_empty() && is_there(context, name).await? {
                restored.already += 1;
            } else if found.is_empty() {
                restored.fail(name, GONE.to_owned());
            }
            named.extend(found.into_iter().map(|id| (id, name.clone())));
        }
        restore_some(context, named, &mut restored).await?;
    }
    if restored.restored > restored.without_file {
        restored.unindexed = make_searchable(context).await?;
    }
    let subject = match &restoration.documents[..] {
        [] => "the trash".to_owned(),
        [one] => format!("document {one}"),
        _ => format!("{number} documents"),
    };
    let details = Some(restored.said());
    context
        .audit(actor, "document.restore", subject, details)
        .await;
    Ok(restored)
}

/// Removes for good what was removed more than `days` ago; takedowns stay. Returns the number of documents.
pub async fn purge(context: &Context, actor: &Actor, days: u32) -> Result<u64, Refusal> {
    actor.require(Role::Admin)?;
    let seconds = i64::from(days) * 86_400;
    let purge = move |holdings: &flows::Holdings| flows::purge_trash(holdings, seconds);
    let purged = context.blocking(purge).await?;
    let details = Some(format!("{purged} documents, older than {days} days"));
    context
        .audit(actor, "document.purge", "the trash", details)
        .await;
    Ok(purged)
}

/// Indexes the texts of restored documents, as far as one waits for it. Returns how many still wait.
async fn make_searchable(context: &Context) -> Result<u64, Refusal> {
    let index = |holdings: &flows::Holdings| flows::index_texts_within(holdings, LONGEST_INDEXING);
    if let Err(refusal) = context.blocking(index).await {
        tracing::warn!("texts of restored documents are indexed later: {refusal}");
    }
    let most = catalog::Searched::MOST_COUNTED;
    Ok(context.catalog().count_unread_texts(most).await?)
}

/// Moves the files of removed documents. Where the collection is away, the manager does so later.
async fn tidy(context: &Context) {
    if let Err(refusal) = context.blocking(flows::tidy_trash).await {
        tracing::warn!("files follow to the trash later: {refusal}");
    }
}

/// The removed documents that a number or a URL names: the one that the trash holds, or else those that were taken down.
async fn named_entries(context: &Context, name: &str) -> Result<Vec<i64>, Refusal> {
    let query = match (name.parse::<i64>(), ::document::url::normalise(name)) {
        (Ok(id), _) => TrashQuery {
            after: id - 1,
            limit: 1,
            ..TrashQuery::default()
        },
        (_, Ok(url)) => TrashQuery {
            md5: Some(url.md5),
            ..TrashQuery::default()
        },
        (Err(_), Err(_)) => return Ok(Vec::new()),
    };
    let mut entries = context.catalog().trash(&query).await?;
    if let Ok(id) = name.parse::<i64>() {
        entries.retain(|entry| entry.id == id);
    }
    // Of several removals of one URL the last one is restored, and all takedowns end.
    entries.reverse();
    let kept = entries.iter().position(|entry| entry.is_kept);
    let wanted = |(at, entry): (usize, &TrashEntry)| {
        (Some(at) == kept || entry.is_takedown && !entry.is_kept).then_some(entry.id)
    };
    Ok(entries.iter().enumerate().filter_map(wanted).collect())
}

/// Whether the collection has a document with this number or URL.
async fn is_there(context: &Context, name: &str) -> Result<bool, Refusal> {
    let catalog = context.catalog();
    Ok(
        match (name.parse::<i64>(), ::document::url::normalise(name)) {
            (Ok(id), _) => catalog.document(id).await?.is_some(),
            (_, Ok(url)) => catalog.document_at(&url.md5).await?.is_some(),
            (Err(_), Err(_)) => false,
        },
    )
}

async fn restore_some(
    context: &Context,
    named: Vec<(i64, String)>,
    restored: &mut Restored,
) -> Result<(), Refusal> {
    let ids: Vec<_> = named.iter().map(|(id, _)| *id).collect();
    let work = move |holdings: &flows::Holdings| flows::restore_documents(holdings, &ids);
    let outcomes = context.blocking(work).await?;
    for ((_, name), outcome) in named.iter().zip(outcomes) {
        match outcome {
            RestoreOutcome::Restored => restored.restored += 1,
            RestoreOutcome::WithoutFile => {
                restored.restored += 1;
                restored.without_file += 1;
                let reason = "it is in the collection again without its file, which was missing when it was removed; \
                     an import that meets it brings it";
                restored.problem(name, reason.to_owned());
            }
            RestoreOutcome::Already => restored.already += 1,
            RestoreOutcome::Lifted => restored.lifted += 1,
            RestoreOutcome::Replaced(now) => {
                let reason = format!("an import brought its URL again: document {now}");
                restored.fail(name, reason);
            }
            RestoreOutcome::Lost => {
                restored.fail(name, "its bytes are not in the trash".to_owned());
            }
            RestoreOutcome::Unknown => restored.fail(name, GONE.to_owned()),
        }
    }
    Ok(())
}

impl Restored {
    /// Describes the outcome in words.
    pub fn said(&self) -> String {
        let Self {
            restored,
            already,
            without_file,
            lifted,
            unindexed,
            failed,
            problems: _,
        } = self;
        let mut said = format!("{} restored", counted(*restored, "document"));
        for (number, what) in [
            (*without_file, "without their files"),
            (*already, "in the collection already"),
            (*failed, "not restored"),
        ] {
            if number > 0 {
                said.push_str(&format!(", {number} {what}"));
            }
        }
        if *lifted > 0 {
            let takedowns = counted(*lifted, "takedown");
            said.push_str(&format!(
                "; {takedowns} ended whose files are gone: the next import brings them"
            ));
        }
        if *unindexed > 0 {
            said.push_str(&format!(
                "; {} to be indexed, by garner up or the next import",
                match unindexed {
                    1 => "1 text waits".to_owned(),
                    number => format!("{number} texts wait"),
                }
            ));
        }
        said
    }

    fn fail(&mut self, document: &str, reason: String) {
        self.failed += 1;
        self.problem(document, reason);
    }

    fn problem(&mut self, document: &str, reason: String) {
        if self.problems.len() < 1000 {
            self.problems.push(RestoreProblem {
                document: document.chars().take(2048).collect(),
                reason,
            });
        }
    }
}

impl From<TrashEntry> for TrashedDocument {
    fn from(entry: TrashEntry) -> Self {
        Self {
            id: entry.id,
            url: entry.url,
            member: entry.member,
            host: entry.host,
            media_type: entry.media_type,
            size: entry.size,
            removed: Time(entry.removed),
            removed_by: entry.by,
            reason: entry.reason,
            takedown: entry.is_takedown,
            restorable: entry.is_kept,
        }
    }
}

/// Somebody waits for a restoration to end.
const LONGEST_INDEXING: Duration = Duration::from_secs(20);
const MAX_REASON: usize = 1000;
const MAX_SHARING: u64 = 100;
const MAX_DOCUMENTS: usize = 10_000;
const GONE: &str = "it was not removed, or its time in the trash is over";
