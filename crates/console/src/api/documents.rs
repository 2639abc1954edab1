//! `/api/v1/documents`: the collection that imports fill, and what became of its documents elsewhere.

use axum::extract::State;
use axum::response::Response;
use catalog::{DocumentEntry, DocumentQuery, DocumentState, Judgement, Probability};
use jobs::DocumentPart;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Listed, Reply, Time, limited};
use crate::document_file::{Asked, answer};
use crate::documents::{self, document, path};
use crate::extract::{Json, Path, Query};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer};

/// What became of a document in the search engine that ingests it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DocumentStateName {
    /// Nobody has said anything of it.
    NotIngested,
    /// It was taken in.
    Ingested,
    /// It could not be taken in.
    Failed,
    /// It is not to be taken in: the content filter was not sure of it, or a librarian does not want it.
    SetAside,
}

/// Which documents are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Those with this in their URL.
    text: Option<String>,
    /// Those of one host.
    host: Option<String>,
    /// Those of one media type.
    media_type: Option<String>,
    /// Those that stand so.
    state: Option<DocumentStateName>,
    /// Those last crawled then or later.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Time>,
    /// Those last crawled then or earlier.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Time>,
    /// Those decided on so, by a librarian or else by the content filter: `accept`, `unsure` or `reject`.
    decision: Option<String>,
    /// Those of one kind, such as `paper`.
    kind: Option<String>,
    /// Those that one page links to, by its number.
    parent: Option<i64>,
    /// Those whose content one import brought.
    import: Option<i64>,
    /// Those with a greater number, for the next page.
    after: Option<i64>,
    /// How many at most, up to 1000.
    limit: Option<u64>,
}

/// A document.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DocumentJson {
    id: i64,
    url: String,
    /// The MD5 of the URL.
    md5: String,
    host: String,
    content_sha1: String,
    content_sha256: String,
    size: u64,
    /// What the server said.
    declared_type: Option<String>,
    /// What the bytes look like.
    sniffed_type: Option<String>,
    /// What was decided on.
    media_type: String,
    /// Which digests of its archive are those of other bytes: `block`, `payload`, or `block, payload`.
    digest_mismatch: Option<String>,
    /// The file below the directory of the collection.
    file: String,
    /// Where the file is on the machine of the console; only for a single document.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// When it was first crawled.
    discover_date: Time,
    /// When it was last crawled, also if nothing had changed.
    update_date: Time,
    /// The page that links to it.
    parent: Option<i64>,
    parent_url: Option<String>,
    /// How many links away from a seed.
    depth: Option<u32>,
    is_seed: Option<bool>,
    state: DocumentStateName,
    /// Where in a container it lies.
    member: Option<String>,
    /// The file of the crawl, and where in it.
    source: Option<String>,
    /// The import that brought its content.
    import: i64,
    /// What is known of its text, if it was read.
    judgement: Option<JudgementJson>,
}

/// What is known of the text of a document, and what was decided on it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JudgementJson {
    /// What came of reading it: `text`, `empty`, `encrypted`, `damaged`, `image-only` and so on.
    outcome: String,
    /// Which programs read it.
    engine: Option<String>,
    pages: Option<u32>,
    /// What was wrong with it.
    note: Option<String>,
    /// What was decided: `accept`, `unsure` or `reject`.
    decision: Option<String>,
    /// How likely it is academic.
    probability: Option<f64>,
    kind: Option<String>,
    /// The version of the model.
    model: Option<String>,
    /// Whether it is kept, but not for search engines.
    set_aside: bool,
    /// What a librarian said.
    corrected: Option<CorrectedJson>,
}

/// What a librarian said of a document.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CorrectedJson {
    /// `accept` or `reject`.
    decision: String,
    kind: Option<String>,
    at: Time,
    by: Option<String>,
}

/// What a librarian says of a document.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewCorrection {
    /// `accept` or `reject`.
    decision: String,
    /// Its kind, such as `paper`.
    kind: Option<String>,
}

/// What became of documents.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewStates {
    /// The numbers of documents, at most 10000.
    documents: Vec<i64>,
    state: DocumentStateName,
}

/// How many documents there were.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatesJson {
    /// So many of the numbers are those of documents.
    changed: u64,
}

/// Documents, in the order of their numbers; `next` is for `after`
#[utoipa::path(get, path = "/api/v1/documents", tag = "documents", operation_id = "list_documents",
    params(Wanted), responses((status = 200, body = Listed<DocumentJson>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(wanted): Query<Wanted>,
) -> Reply<Listed<DocumentJson>> {
    let limit = limited(wanted.limit);
    let found = state.catalog().documents(&wanted.query(limit + 1)).await?;
    Ok(axum::Json(Listed::page(found, limit, |entry| entry.id)))
}

/// A document, and where its file is
#[utoipa::path(get, path = "/api/v1/documents/{id}", tag = "documents", operation_id = "show_document",
    params(("id" = i64, Path)), responses((status = 200, body = DocumentJson)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<DocumentJson> {
    let entry = document(&state, id).await?;
    let path = path(&state, &entry).await?.display().to_string();
    let mut json = DocumentJson::from(entry);
    json.path = Some(path);
    Ok(axum::Json(json))
}

/// The file of a document
///
/// It has the media type that was decided on, and its SHA-256 as its entity tag. If it is not there any more, or not all of
/// it, that is told with the status 410.
#[utoipa::path(get, path = "/api/v1/documents/{id}/file", tag = "documents", operation_id = "download_document",
    params(("id" = i64, Path)), responses(
        (status = 200, content_type = "*/*", body = String),
        (status = 304, description = "who asks has it already"),
    ))]
pub(crate) async fn file(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    asked: Asked,
) -> Result<Response, Problem> {
    answer(&state, asked, DocumentPart::Document).await
}

/// The text of a document, if it is stored
#[utoipa::path(get, path = "/api/v1/documents/{id}/text", tag = "documents", operation_id = "download_document_text",
    params(("id" = i64, Path)), responses(
        (status = 200, content_type = "text/plain", body = String),
        (status = 304, description = "who asks has it already"),
    ))]
pub(crate) async fn text(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    asked: Asked,
) -> Result<Response, Problem> {
    answer(&state, asked, DocumentPart::Text).await
}

/// Says what became of documents in the search engine that ingests them
#[utoipa::path(post, path = "/api/v1/documents/state", tag = "documents", operation_id = "set_document_state",
    request_body = NewStates, responses((status = 200, body = StatesJson)))]
pub(crate) async fn set_state(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(new): Json<NewStates>,
) -> Reply<StatesJson> {
    let changed = documents::set_state(&state, &who, &new.documents, new.state.into()).await?;
    Ok(axum::Json(StatesJson { changed }))
}

/// Says whether a document is wanted, and of which kind it is
#[utoipa::path(post, path = "/api/v1/documents/{id}/correction", tag = "documents", operation_id = "correct_document",
    params(("id" = i64, Path)), request_body = NewCorrection, responses((status = 200, body = DocumentJson)))]
pub(crate) async fn correct(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(new): Json<NewCorrection>,
) -> Reply<DocumentJson> {
    documents::correct(&state, &who, id, &new.decision, new.kind.as_deref()).await?;
    let entry = document(&state, id).await?;
    Ok(axum::Json(DocumentJson::from(entry)))
}

impl Wanted {
    fn query(self, limit: u64) -> DocumentQuery {
        DocumentQuery {
            host: self.host,
            state: self.state.map(Into::into),
            media_type: self.media_type,
            since: self.since.map(|time| time.0),
            until: self.until.map(|time| time.0),
            parent: self.parent,
            import: self.import,
            decision: self.decision,
            kind: self.kind,
            text: self.text,
            after: self.after.unwrap_or(0),
            limit,
            ..DocumentQuery::default()
        }
    }
}

impl From<DocumentStateName> for DocumentState {
    fn from(name: DocumentStateName) -> Self {
        match name {
            DocumentStateName::NotIngested => Self::NotIngested,
            DocumentStateName::Ingested => Self::Ingested,
            DocumentStateName::Failed => Self::Failed,
            DocumentStateName::SetAside => Self::SetAside,
        }
    }
}

impl From<DocumentState> for DocumentStateName {
    fn from(state: DocumentState) -> Self {
        match state {
            DocumentState::NotIngested => Self::NotIngested,
            DocumentState::Ingested => Self::Ingested,
            DocumentState::Failed => Self::Failed,
            DocumentState::SetAside => Self::SetAside,
        }
    }
}

impl From<DocumentEntry> for DocumentJson {
    fn from(entry: DocumentEntry) -> Self {
        Self {
            file: documents::file(&entry),
            path: None,
            id: entry.id,
            url: entry.url,
            md5: entry.md5,
            host: entry.host,
            content_sha1: entry.content_sha1,
            content_sha256: entry.content_sha256,
            size: entry.size,
            declared_type: entry.declared_type,
            sniffed_type: entry.sniffed_type,
            media_type: entry.media_type,
            digest_mismatch: entry.digest_mismatch,
            discover_date: Time(entry.discover_date),
            update_date: Time(entry.update_date),
            parent: entry.parent,
            parent_url: entry.parent_url,
            depth: entry.depth,
            is_seed: entry.is_seed,
            state: entry.state.into(),
            member: entry.member,
            source: entry.source,
            import: entry.import,
            judgement: entry.judgement.map(JudgementJson::from),
        }
    }
}

impl From<Judgement> for JudgementJson {
    fn from(judgement: Judgement) -> Self {
        Self {
            outcome: judgement.outcome,
            engine: judgement.engine,
            pages: judgement.pages,
            note: judgement.note,
            decision: judgement.decision,
            probability: judgement.probability.map(Probability::value),
            kind: judgement.kind,
            model: judgement.model,
            set_aside: judgement.is_aside,
            corrected: judgement.corrected.map(|corrected| CorrectedJson {
                decision: corrected.decision,
                kind: corrected.kind,
                at: Time(corrected.at),
                by: corrected.by,
            }),
        }
    }
}
