//! Documents of the collection: the list, one of them, its file and text, its state, corrections, removal and restoration.

mod change;
mod clean;
mod document;
mod explain;
mod file;
mod kinds;
mod near;
mod removal;
mod search;

use std::path::Path;

use catalog::{DocumentEntry, DocumentOrder, DocumentQuery, VersionEntry};
use serde::Deserialize;
use utoipa::IntoParams;

pub use self::change::{
    Correction, Decision, NewStates, StatesChanged, correct, set_state, update_metadata,
};
pub use self::clean::{
    Candidate, CleanDocuments, CleanPreview, EntryCount, candidates, clean, preview, queue_clean,
};
pub use self::document::{Corrected, Document, DocumentState, Judgement};
pub use self::explain::{beginning, explain};
pub use self::file::{DocumentFile, file};
pub use self::kinds::{KINDS, kind, nearest};
pub use self::near::{NearDuplicate, near_duplicates};
pub use self::removal::{
    Restoration, RestoreProblem, Restored, Takedown, TakenDown, TrashFilter, TrashedDocument,
    purge, remove, restore, trash,
};
pub use self::search::{
    DocumentSearch, DocumentSearchSort, Facet, FacetValue, Facets, Found, FoundDocument, Piece,
    facets, search,
};
pub(crate) use self::search::{language, understood};
pub use classifier::Kind;
pub use flows::{Cleaned, DocumentPart, Explanation};

use crate::mirrored::mirrored;
use crate::{Context, FilePath, Listed, Refusal, Time, page_limit};

/// Which documents are wanted.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DocumentFilter {
    /// Documents with this text in their URL.
    pub text: Option<String>,
    /// Documents of one host.
    pub host: Option<String>,
    /// Documents of one media type; `image/*` stands for all of a family.
    pub media_type: Option<String>,
    /// Documents in this state.
    pub state: Option<DocumentState>,
    /// Documents last crawled then or later.
    #[param(value_type = Option<String>, format = DateTime)]
    pub since: Option<Time>,
    /// Documents last crawled then or earlier.
    #[param(value_type = Option<String>, format = DateTime)]
    pub until: Option<Time>,
    /// Documents with this decision of a librarian, or else of the content filter: `accept`, `unsure` or `reject`.
    pub decision: Option<String>,
    /// Documents of one kind, such as `paper`.
    pub kind: Option<String>,
    /// Documents that one page links to, by its number.
    pub parent: Option<i64>,
    /// Documents with the same content, by its number.
    pub content: Option<i64>,
    /// Documents whose content one import brought.
    pub import: Option<i64>,
    /// Documents in one language, by its code of ISO 639: `en` or `eng`.
    pub language: Option<String>,
    /// Documents of a host, or of a domain with all hosts below it.
    pub domain: Option<String>,
    /// Documents of one group of near-duplicates: the `near` of one of them.
    pub near: Option<i64>,
    /// The order; the default is by number. Lists of more than 10,000 documents have those that an index has: `number`,
    /// `newest`, `updated`, `host` and `type`.
    #[param(inline)]
    pub sort: Option<DocumentSort>,
    /// Whether the greatest come first; without it, they do for `newest` and `updated`.
    pub descending: Option<bool>,
    /// Whether the documents are counted, up to 10,000. A number that takes longer than a moment is left out.
    pub count: Option<bool>,
    /// Documents behind the one with this number, for the next page.
    pub after: Option<i64>,
    /// Documents on a page, at most 1000; the default is 100.
    pub limit: Option<u64>,
}

mirrored! {
    /// The order of a list of documents.
    DocumentSort = DocumentOrder {
        /// By number.
        Number = "number",
        /// By number, the largest first.
        Newest = "newest",
        /// By the last crawl, the latest first.
        Updated = "updated",
        /// By host; a domain stands together.
        Host = "host",
        /// By media type.
        Type = "type",
        /// By title, documents without one last.
        Title = "title",
        /// By size.
        Size = "size",
        /// By the state in the search engine.
        State = "state",
        /// By kind.
        Kind = "kind",
    }
}

/// Documents in their order; `next` is for `after`.
pub async fn list(context: &Context, filter: &DocumentFilter) -> Result<Listed<Document>, Refusal> {
    let limit = page_limit(filter.limit);
    let mut query = filter.query(limit + 1)?;
    let catalog = context.catalog();
    let mut number = None;
    if filter.count == Some(true) || !query.is_read_in_order() {
        number = catalog.count_documents(&query, MOST_COUNTED + 1).await?;
        can_be_sorted(&query, number)?;
    }
    if number.is_none_or(|number| number > MOST_COUNTED) {
        query.end = catalog.end_of_look(&query).await?;
    }
    let entries = catalog.documents(&query).await?;
    let directory = context.blocking(flows::documents_directory).await?;
    let documents: Vec<_> = entries
        .into_iter()
        .map(|entry| document(&directory, entry))
        .collect();
    let mut listed = Listed::page(documents, limit, |document: &Document| document.id);
    listed.next = listed.next.or(query.end);
    if filter.count == Some(true) {
        listed.total = number.map(|number| number.min(MOST_COUNTED));
        listed.is_more = number > Some(MOST_COUNTED);
    }
    Ok(listed)
}

/// Refuses an order without an index for more documents than a database sorts in no time.
fn can_be_sorted(query: &DocumentQuery, number: Option<u64>) -> Result<(), Refusal> {
    if query.is_read_in_order() || number.is_some_and(|number| number <= MOST_COUNTED) {
        return Ok(());
    }
    let order = DocumentSort::from(query.order).name();
    let by = match query.text {
        Some(_) => "number or newest",
        None => "number, newest, updated, host or type",
    };
    let reason = format!(
        "more than 10,000 documents cannot be sorted by {order}; narrow the list, or sort it by {by}"
    );
    Err(Refusal::invalid("sort", reason))
}

/// More documents than these are not counted, nor sorted without an index.
const MOST_COUNTED: u64 = catalog::Searched::MOST_COUNTED;

/// One document.
pub async fn show(context: &Context, id: i64) -> Result<Document, Refusal> {
    let entry = entry(context, id).await?;
    let directory = context.blocking(flows::documents_directory).await?;
    Ok(document(&directory, entry))
}

/// The number of the document that `name` names: a number, or a URL in any spelling.
pub async fn find(context: &Context, name: &str) -> Result<i64, Refusal> {
    let catalog = context.catalog();
    let found = match (name.parse(), ::document::url::normalise(name)) {
        (Ok(id), _) => catalog.document(id).await?,
        (_, Ok(url)) => catalog.document_at(&url.md5).await?,
        (Err(_), Err(_)) => None,
    };
    let missing = || Refusal::not_found(format!("there is no document `{name}`"));
    found.map(|entry| entry.id).ok_or_else(missing)
}

/// The earlier contents of a document that are kept, the newest first, each with where it is.
pub async fn versions(
    context: &Context,
    id: i64,
) -> Result<Vec<(VersionEntry, FilePath)>, Refusal> {
    let versions = context.catalog().versions(id).await?;
    let directory = context.blocking(flows::documents_directory).await?;
    let with_path = |version: VersionEntry| {
        let content = &version.content;
        let file = flows::content_file(content.number, &content.extension);
        let path = FilePath(directory.join(file));
        (version, path)
    };
    Ok(versions.into_iter().map(with_path).collect())
}

async fn entry(context: &Context, id: i64) -> Result<DocumentEntry, Refusal> {
    let entry = context.catalog().document(id).await?;
    entry.ok_or_else(|| missing(id))
}

fn missing(id: i64) -> Refusal {
    Refusal::not_found(format!("there is no document {id}"))
}

pub(crate) fn document(directory: &Path, entry: DocumentEntry) -> Document {
    let file = flows::document_file(&entry);
    let path = FilePath(directory.join(&file));
    Document::new(entry, file, path)
}

impl DocumentFilter {
    pub(crate) fn query(&self, limit: u64) -> Result<DocumentQuery, Refusal> {
        let language = self.language.as_deref().map(language);
        let kind = self.kind.as_deref().map(kind);
        Ok(DocumentQuery {
            host: self.host.as_deref().map(str::to_lowercase),
            state: self.state.map(Into::into),
            media_type: self.media_type.as_deref().map(str::to_lowercase),
            since: self.since.map(|time| time.0),
            until: self.until.map(|time| time.0),
            parent: self.parent,
            content: self.content,
            import: self.import,
            decision: self.decision.clone(),
            kind: kind.transpose()?.map(str::to_owned),
            language: language.transpose()?.map(str::to_owned),
            domain: self.domain.as_deref().map(str::to_lowercase),
            near: self.near,
            text: self.text.clone(),
            order: self.sort.map_or_else(DocumentOrder::default, Into::into),
            descending: self.descending,
            end: None,
            after: self.after.unwrap_or(0),
            limit,
        })
    }
}
