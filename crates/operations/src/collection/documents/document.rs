//! A document as JSON.

use catalog::{DocumentEntry, Probability};
use serde::Serialize;
use utoipa::ToSchema;

use crate::mirrored::mirrored;
use crate::{FilePath, Time};

/// A document of the collection.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Document {
    /// Its number.
    pub id: i64,
    /// Its URL.
    pub url: String,
    /// The title of its text, or else the name of its file.
    pub title: String,
    /// The language of its text, as a code of ISO 639-1.
    pub language: Option<String>,
    /// Its place in a container, such as a file in a zip archive.
    pub member: Option<String>,
    /// The MD5 of its URL.
    pub md5: String,
    /// The host of its URL.
    pub host: String,
    /// The number of its content, which documents with the same bytes share.
    pub content: i64,
    /// The document that owns its bytes, if that is another one: the one that brought them, or the first of those that
    /// have them, if it has other bytes now.
    pub shared_with: Option<i64>,
    /// The SHA-1 of its content.
    pub content_sha1: String,
    /// The SHA-256 of its content.
    pub content_sha256: String,
    /// Its size in bytes.
    pub size: u64,
    /// The media type that the server declared.
    pub declared_type: Option<String>,
    /// The media type that the bytes look like.
    pub sniffed_type: Option<String>,
    /// The media type that garner decided on.
    pub media_type: String,
    /// The digests of its archive that belong to other bytes: `block`, `payload`, or `block, payload`.
    pub digest_mismatch: Option<String>,
    /// Its file, below the directory of the collection.
    pub file: String,
    /// Where its file is on this machine, or in which store.
    pub path: FilePath,
    /// When it was first crawled.
    pub discover_date: Time,
    /// When it was last crawled, even if it had not changed.
    pub update_date: Time,
    /// When its content was crawled.
    pub crawl_date: Time,
    /// The number of the page that links to it.
    pub parent: Option<i64>,
    /// The URL of the page that links to it.
    pub parent_url: Option<String>,
    /// How many links away from a seed.
    pub depth: Option<u32>,
    /// Whether it is a seed.
    pub is_seed: Option<bool>,
    /// Its state in the search engine that ingests it.
    pub state: DocumentState,
    /// The file of the crawl, and the position in it.
    pub source: Option<String>,
    /// The import that brought its content.
    pub import: i64,
    /// The group of near-duplicates that it belongs to: documents whose texts say nearly the same.
    pub near: Option<i64>,
    /// The decision of a librarian, or else of the content filter: `accept`, `unsure` or `reject`.
    pub decision: Option<String>,
    /// The kind that a librarian, or else the content filter, named.
    pub kind: Option<String>,
    /// The probability that it is academic.
    pub probability: Option<f64>,
    /// The details on its text and decision, if its text was read.
    pub judgement: Option<Judgement>,
}

mirrored! {
    /// The state of a document in the search engine that ingests it.
    DocumentState = DocumentState {
        /// No search engine reported on it.
        NotIngested = "not_ingested",
        /// It was ingested.
        Ingested = "ingested",
        /// It could not be ingested.
        Failed = "failed",
        /// It is held back: the content filter was not sure of it, or a librarian rejected it.
        SetAside = "set_aside",
    }
}

/// The text of a document, and the decision on it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Judgement {
    /// The outcome of reading it: `text`, `empty`, `encrypted`, `damaged`, `image-only` and so on.
    pub outcome: String,
    /// The programs that read it, with their versions.
    pub engine: Option<String>,
    /// Its pages.
    pub pages: Option<u32>,
    /// The problem, if there was one.
    pub note: Option<String>,
    /// The decision of the content filter: `accept`, `unsure` or `reject`.
    pub decision: Option<String>,
    /// The probability that it is academic.
    pub probability: Option<f64>,
    /// The most likely kind.
    pub kind: Option<String>,
    /// The version of the model.
    pub model: Option<String>,
    /// Whether it is set aside: kept, but not for search engines.
    pub set_aside: bool,
    /// The correction by a librarian.
    pub corrected: Option<Corrected>,
}

/// A correction by a librarian.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Corrected {
    /// `accept` or `reject`.
    pub decision: String,
    /// The kind.
    pub kind: Option<String>,
    /// When it was made.
    pub at: Time,
    /// The account that made it.
    pub by: Option<String>,
}

impl Document {
    pub(super) fn new(entry: DocumentEntry, file: String, path: FilePath) -> Self {
        let title = entry.title.clone();
        let named = || flows::file_title(entry.member.as_deref().unwrap_or(&entry.url));
        let title = title.unwrap_or_else(named);
        let judgement = entry.judgement.map(Judgement::from);
        let judged = judgement.as_ref();
        let corrected = judged.and_then(|judged| judged.corrected.as_ref());
        let decision = corrected.map(|corrected| corrected.decision.clone());
        let kind = corrected.and_then(|corrected| corrected.kind.clone());
        Self {
            id: entry.id,
            url: entry.url,
            title,
            language: entry.language,
            member: entry.member,
            md5: entry.md5,
            host: entry.host,
            content: entry.content,
            shared_with: entry.shared_with,
            content_sha1: entry.content_sha1,
            content_sha256: entry.content_sha256,
            size: entry.size,
            declared_type: entry.declared_type,
            sniffed_type: entry.sniffed_type,
            media_type: entry.media_type,
            digest_mismatch: entry.digest_mismatch,
            file,
            path,
            discover_date: Time(entry.discover_date),
            update_date: Time(entry.update_date),
            crawl_date: Time(entry.crawl_date),
            parent: entry.parent,
            parent_url: entry.parent_url,
            depth: entry.depth,
            is_seed: entry.is_seed,
            state: entry.state.into(),
            source: entry.source,
            import: entry.import,
            near: entry.near,
            decision: decision.or_else(|| judged.and_then(|judged| judged.decision.clone())),
            kind: kind.or_else(|| judged.and_then(|judged| judged.kind.clone())),
            probability: judged.and_then(|judged| judged.probability),
            judgement,
        }
    }
}

impl DocumentState {
    /// The state in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotIngested => "not ingested",
            Self::SetAside => "set aside",
            state => state.name(),
        }
    }
}

impl From<catalog::Judgement> for Judgement {
    fn from(judgement: catalog::Judgement) -> Self {
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
            corrected: judgement.corrected.map(|corrected| Corrected {
                decision: corrected.decision,
                kind: corrected.kind,
                at: Time(corrected.at),
                by: corrected.by,
            }),
        }
    }
}
