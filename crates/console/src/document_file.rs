//! The file of a document, or its text, sent to whoever may read documents.
//!
//! Anybody may have written it, so that a browser never takes it for a page of the console: it is an attachment, of the
//! type that was decided on and no other, and may do nothing if somebody opens it all the same.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH,
};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use catalog::DocumentEntry;
use jobs::{DocumentFiles, DocumentPart};

use crate::documents::document;
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::stream;

/// What somebody asks for: a file of a document, or only its headers.
pub(crate) struct Asked<'a> {
    pub(crate) id: i64,
    pub(crate) part: DocumentPart,
    pub(crate) method: &'a Method,
    pub(crate) headers: &'a HeaderMap,
}

/// The answer to that.
pub(crate) async fn answer(state: &ConsoleState, asked: Asked<'_>) -> Result<Response, Problem> {
    let Asked { id, part, .. } = asked;
    let known = document(state, id).await?;
    let turn = state.turn_to_download().await?;
    let wants_body = asked.method != Method::HEAD;
    let wanted = known.clone();
    let files = state.clone();
    // Readers of a store must not be dropped elsewhere either: they wait.
    let opened = move |_: &jobs::Holdings| -> anyhow::Result<Option<(u64, Body)>> {
        let files = files.document_files()?;
        if !wants_body {
            let size = size(&files, &wanted, part)?;
            return Ok(size.map(|size| (size, Body::empty())));
        }
        let reader = files.read(&wanted, part)?;
        let whole = reader.filter(|reader| is_whole(reader.length(), &wanted, part));
        Ok(whole.map(|reader| (reader.length(), stream::of(reader, turn))))
    };
    let (length, body) = state
        .blocking(opened)
        .await??
        .ok_or_else(|| gone(id, part))?;
    let headers = headers(&known, part, length);
    if is_known(asked.headers, &headers[ETAG]) {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    Ok((headers, body).into_response())
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
