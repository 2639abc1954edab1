//! The file of a document, or its text, sent to whoever may read documents.
//!
//! Anybody may have written it, so that a browser never takes it for a page of the console: it is an attachment, of the
//! type that was decided on and no other, and may do nothing if somebody opens it all the same.

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH,
};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use catalog::DocumentEntry;
use jobs::{DocumentFiles, DocumentPart, Holdings};
use tokio::sync::OwnedSemaphorePermit;

use crate::documents::document;
use crate::extract::Path;
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::stream;

/// What somebody asks for: a file of a document, or only its headers.
pub(crate) struct Asked {
    id: i64,
    method: Method,
    headers: HeaderMap,
}

impl FromRequestParts<ConsoleState> for Asked {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ConsoleState) -> Result<Self, Problem> {
        let Path(id) = Path::from_request_parts(parts, state).await?;
        Ok(Self {
            id,
            method: parts.method.clone(),
            headers: parts.headers.clone(),
        })
    }
}

/// What is sent.
type Sent = (StatusCode, HeaderMap, Body);

/// The answer to what somebody asks for.
pub(crate) async fn answer(
    state: &ConsoleState,
    asked: Asked,
    part: DocumentPart,
) -> Result<Response, Problem> {
    let id = asked.id;
    let known = document(state, id).await?;
    let turn = state.turn_to_download().await?;
    let files = state.clone();
    // Those who read from a store wait, and must not be dropped where that is not allowed.
    let opened = move |_: &Holdings| {
        let files = files.document_files()?;
        asked.open(&files, &known, part, turn)
    };
    let sent = state.blocking(opened).await??;
    let sent = sent.ok_or_else(|| gone(id, part))?;
    Ok(sent.into_response())
}

impl Asked {
    /// What is sent of a document; `None` if it is not there.
    fn open(
        &self,
        files: &DocumentFiles,
        document: &DocumentEntry,
        part: DocumentPart,
        turn: OwnedSemaphorePermit,
    ) -> anyhow::Result<Option<Sent>> {
        let is_head = self.method == Method::HEAD;
        // Who may have it already is not sent anything before that is known.
        if is_head || self.headers.contains_key(IF_NONE_MATCH) {
            let Some(size) = size(files, document, part)? else {
                return Ok(None);
            };
            let headers = headers(document, part, size);
            if is_known(&self.headers, &headers[ETAG]) {
                return Ok(Some((StatusCode::NOT_MODIFIED, headers, Body::empty())));
            }
            if is_head {
                return Ok(Some((StatusCode::OK, headers, Body::empty())));
            }
        }
        let reader = files.read(document, part)?;
        let whole = reader.filter(|reader| is_whole(reader.length(), document, part));
        Ok(whole.map(|reader| {
            let headers = headers(document, part, reader.length());
            (StatusCode::OK, headers, stream::of(reader, turn))
        }))
    }
}

fn size(
    files: &DocumentFiles,
    document: &DocumentEntry,
    part: DocumentPart,
) -> anyhow::Result<Option<u64>> {
    let size = files.size(document, part)?;
    Ok(size.filter(|size| is_whole(*size, document, part)))
}

/// Whether a file has as many bytes as it should; one that was cut off is not the document. Nobody knows that of texts.
fn is_whole(length: u64, document: &DocumentEntry, part: DocumentPart) -> bool {
    part == DocumentPart::Text || length == document.size
}

fn gone(id: i64, part: DocumentPart) -> Problem {
    match part {
        DocumentPart::Document => Problem::new(
            StatusCode::GONE,
            "gone",
            format!(
                "the file of document {id} is not there any more, or not all of it; garner verify says more, and an import that meets it again brings it back"
            ),
        ),
        DocumentPart::Text => Problem::not_found(format!(
            "no text of document {id} is stored; imports with the content filter or with --text store them"
        )),
    }
}

fn headers(document: &DocumentEntry, part: DocumentPart, length: u64) -> HeaderMap {
    let is_text = part == DocumentPart::Text && document.extension != TEXT;
    let media_type = match is_text {
        true => "text/plain; charset=utf-8",
        false => document.media_type.as_str(),
    };
    // A text is taken out of its document anew by better programs.
    let tag = match is_text {
        true => format!("W/\"{}-{length}\"", document.content_sha1),
        false => format!("\"{}\"", document.content_sha256),
    };
    let name = format!("attachment; filename=\"{}\"", part.name(document));
    let mut headers = HeaderMap::new();
    for (header, value, otherwise) in [
        (CONTENT_TYPE, media_type, "application/octet-stream"),
        (CONTENT_DISPOSITION, &name, "attachment"),
        (CONTENT_SECURITY_POLICY, POLICY, POLICY),
        (CACHE_CONTROL, ASK_AGAIN, ASK_AGAIN),
        (ETAG, &tag, "W/\"\""),
    ] {
        let value = HeaderValue::from_str(value);
        let value = value.unwrap_or_else(|_| HeaderValue::from_static(otherwise));
        headers.insert(header, value);
    }
    headers.insert(CONTENT_LENGTH, length.into());
    headers
}

/// Whether who asks has it already.
fn is_known(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let plain = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let Ok(tag) = tag.to_str() else {
        return false;
    };
    let known = headers.get_all(IF_NONE_MATCH).into_iter();
    let mut known = known.filter_map(|value| value.to_str().ok());
    known.any(|tags| {
        let mut tags = tags.split(',');
        tags.any(|known| known.trim() == "*" || plain(known) == plain(tag))
    })
}

/// What it may do where it is opened: nothing.
const POLICY: &str = "sandbox; default-src 'none'; frame-ancestors 'none'";
/// It may be kept by who may read it, and is asked for again each time: whoever logs out has no right to it any more.
const ASK_AGAIN: &str = "private, no-cache";
/// How the file of a document is called that is text.
const TEXT: &str = "txt";
