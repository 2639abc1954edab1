//! The feed for search engines: documents that are new, changed or gone, in the order in which this became visible.

mod solr;

use std::collections::HashMap;
use std::path::Path;

use catalog::{ChangePosition, DocumentChange, DocumentEntry};
use flows::DocumentFiles;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

pub use self::solr::{Pushed, SolrEvent, SolrOrder, push, push_for, queue};
use crate::documents::{Document, DocumentState, document};
use crate::{Context, Refusal, Time, page_limit};

/// A change of a document.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Change {
    /// The place behind this change: the `since` of whoever goes on from here.
    pub seq: String,
    /// When it became visible.
    pub at: Time,
    /// The event, in words.
    pub change: ChangeKind,
    /// The number of the document.
    pub id: i64,
    /// The document as it is now; absent if it is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<Document>,
    /// Its text, if that is asked for and stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Why the text is not there although the document has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(skip)]
    has_text: bool,
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// The document was crawled once.
    New,
    /// It was crawled again since, or judged or marked otherwise.
    Updated,
    /// It is not in the collection any more, or was set aside: search engines are not to show it.
    Removed,
}

/// Which changes are wanted.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FeedQuery {
    /// The `seq` of the last change that is known; all changes without it.
    pub since: Option<String>,
    /// Changes at most; all without it.
    pub limit: Option<u64>,
    /// Whether texts are wanted, too.
    pub text: bool,
}

/// Some changes behind a place, and the place behind them; none if nothing changed since.
pub async fn changes(
    context: &Context,
    since: ChangePosition,
    limit: Option<u64>,
    with_text: bool,
) -> Result<(Vec<Change>, Option<ChangePosition>), Refusal> {
    let page = Page::read(context, since, page_limit(limit)).await?;
    let directory = context.blocking(flows::documents_directory).await?;
    let Some(next) = page.next else {
        return Ok((Vec::new(), None));
    };
    let mut changes = page.changes(&directory);
    if with_text {
        changes = with_texts(context, changes).await?;
    }
    Ok((changes, Some(next)))
}

/// The place that somebody names; the beginning if nothing is named.
pub fn position(since: Option<&str>) -> Result<ChangePosition, Refusal> {
    let since = since.map(str::trim).filter(|since| !since.is_empty());
    let position = since.map_or(Ok(ChangePosition::START), str::parse);
    position.map_err(|reason| Refusal::invalid("since", reason))
}

/// The place that somebody names, unless no change of this catalog has come so far: it is from another one, or from before
/// this one was restored from a backup.
pub async fn begin(context: &Context, since: Option<&str>) -> Result<ChangePosition, Refusal> {
    let since = position(since)?;
    let last = context.catalog().last_change().await?;
    match since > last && since != ChangePosition::START {
        true => Err(Refusal::invalid(
            "since",
            format!(
                "the last change of this catalog is {last}, and {since} is behind it: it is from another catalog, or from \
                 before this one was restored; begin with 0"
            ),
        )),
        false => Ok(since),
    }
}

/// Changes with the documents as they are now.
struct Page {
    rows: Vec<DocumentChange>,
    entries: HashMap<i64, DocumentEntry>,
    next: Option<ChangePosition>,
}

impl Page {
    async fn read(context: &Context, since: ChangePosition, limit: u64) -> Result<Self, Refusal> {
        let catalog = context.catalog();
        let rows = catalog.document_changes(since, limit).await?;
        let there = rows.iter().filter(|row| !row.removed);
        let there: Vec<_> = there.map(|row| row.document).collect();
        let entries = catalog.documents_of(&there).await?;
        Ok(Self {
            next: rows.last().map(|row| row.position),
            rows,
            entries: entries.into_iter().map(|entry| (entry.id, entry)).collect(),
        })
    }

    fn changes(mut self, directory: &Path) -> Vec<Change> {
        let mut changes = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let entry = self.entries.remove(&row.document);
            // Its removal, which came meanwhile, is a change behind this one.
            if entry.is_none() && !row.removed {
                continue;
            }
            let has_text = entry.as_ref().is_some_and(DocumentEntry::has_text);
            let now = entry.map(|entry| document(directory, entry));
            let now = now.filter(|document| document.state != DocumentState::SetAside);
            changes.push(Change {
                seq: row.position.to_string(),
                at: Time(row.at),
                change: match &now {
                    None => ChangeKind::Removed,
                    Some(now) if now.discover_date == now.update_date => ChangeKind::New,
                    Some(_) => ChangeKind::Updated,
                },
                id: row.document,
                document: now,
                text: None,
                problem: None,
                has_text,
            });
        }
        changes
    }
}

async fn with_texts(context: &Context, mut changes: Vec<Change>) -> Result<Vec<Change>, Refusal> {
    let opened = context.clone();
    let read = move |_: &flows::Holdings| {
        let files = opened.document_files()?;
        for change in &mut changes {
            change.read_text(&files)?;
        }
        Ok(changes)
    };
    context.blocking(read).await
}

impl Change {
    /// Reads the text of the document, or tells that it is missing.
    fn read_text(&mut self, files: &DocumentFiles) -> anyhow::Result<()> {
        if let Some(document) = &self.document {
            self.text = files.text(document.content)?;
            let is_missing = self.has_text && self.text.is_none();
            self.problem = is_missing.then(|| TEXT_MISSING.to_owned());
        }
        Ok(())
    }
}

const TEXT_MISSING: &str = "its text is missing";
