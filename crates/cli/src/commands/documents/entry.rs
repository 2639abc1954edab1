//! A document as JSON, and where its file is.

use std::path::{Path, PathBuf};

use catalog::{DocumentEntry, DocumentState, Judgement};
use serde::Serialize;

use crate::text::date;

/// A document as JSON: dates as dates.
#[derive(Debug, Serialize)]
pub(super) struct DocumentJson<'a> {
    id: i64,
    url: &'a str,
    member: Option<&'a str>,
    md5: &'a str,
    host: &'a str,
    parent: Option<&'a str>,
    depth: Option<u32>,
    is_seed: Option<bool>,
    state: DocumentState,
    discover_date: String,
    update_date: String,
    crawl_date: String,
    media_type: &'a str,
    declared_type: Option<&'a str>,
    sniffed_type: Option<&'a str>,
    sha1: &'a str,
    sha256: &'a str,
    size: u64,
    content: i64,
    file: String,
    source: Option<&'a str>,
    digest_mismatch: Option<&'a str>,
    import: i64,
    /// What came of reading its text, and what was decided.
    judgement: Option<&'a Judgement>,
}

impl<'a> DocumentJson<'a> {
    pub(super) fn new(collection: &Path, document: &'a DocumentEntry) -> Self {
        Self {
            id: document.id,
            url: &document.url,
            member: document.member.as_deref(),
            md5: &document.md5,
            host: &document.host,
            parent: document.parent_url.as_deref(),
            depth: document.depth,
            is_seed: document.is_seed,
            state: document.state,
            discover_date: date(document.discover_date),
            update_date: date(document.update_date),
            crawl_date: date(document.crawl_date),
            media_type: &document.media_type,
            declared_type: document.declared_type.as_deref(),
            sniffed_type: document.sniffed_type.as_deref(),
            sha1: &document.content_sha1,
            sha256: &document.content_sha256,
            size: document.size,
            content: document.content,
            file: file(collection, document).display().to_string(),
            source: document.source.as_deref(),
            digest_mismatch: document.digest_mismatch.as_deref(),
            import: document.import,
            judgement: document.judgement.as_ref(),
        }
    }
}

/// Where the bytes are, by where the collection is.
pub(super) fn file(collection: &Path, document: &DocumentEntry) -> PathBuf {
    let path = store::Collection::relative_path(document.content, &document.extension);
    collection.join(path)
}
