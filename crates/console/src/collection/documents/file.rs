//! The file of a document, or its text, sent to whoever may read documents.
//!
//! Anybody may have written it, so that a browser never takes it for a page of the console: it is an attachment, of the
//! type that was decided on and no other, and may do nothing if somebody opens it all the same.

use axum::body::Body;
use axum::extract::{FromRequestParts, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, X_FRAME_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::IntoResponse as _;
use operations::Refusal;
use operations::documents::{self, DocumentFile, DocumentPart};
use tokio::sync::OwnedSemaphorePermit;

use crate::extract::Path;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::stream;
use crate::who::Viewer;

/// A request for a file of a document, or only for its headers.
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

/// `GET /documents/{id}/file`
pub(crate) async fn file(
    Viewer(_): Viewer,
    State(state): State<ConsoleState>,
    asked: Asked,
) -> Answer {
    answer(&state, asked, DocumentPart::Document).await
}

/// `GET /documents/{id}/text`
pub(crate) async fn text(
    Viewer(_): Viewer,
    State(state): State<ConsoleState>,
    asked: Asked,
) -> Answer {
    answer(&state, asked, DocumentPart::Text).await
}

/// `GET /documents/{id}/view`: the document in a frame of its page.
///
/// Pictures and plain text are shown in a sandbox without scripts, an origin or a network. A PDF file goes to the viewer
/// of the browser, which is a sandbox of its own and does not start in another one. Whatever else, HTML above all, is
/// not sent.
pub(crate) async fn view(
    Viewer(_): Viewer,
    State(state): State<ConsoleState>,
    asked: Asked,
) -> Answer {
    let shown = documents::show(state.context(), asked.id).await?;
    let Some((media_type, policy)) = viewed(&shown.media_type) else {
        return Err(Problem::not_found(
            "documents of this type are not shown, only downloaded",
        ));
    };
    // A browser reads it as UTF-8, whatever the document is in.
    let part = match shown.media_type == "text/plain" {
        true => DocumentPart::Text,
        false => DocumentPart::Document,
    };
    let mut response = answer(&state, asked, part).await?;
    let headers = response.headers_mut();
    for (header, value) in [
        (CONTENT_TYPE, media_type),
        (CONTENT_DISPOSITION, "inline"),
        (CONTENT_SECURITY_POLICY, policy),
        (X_FRAME_OPTIONS, "SAMEORIGIN"),
    ] {
        headers.insert(header, HeaderValue::from_static(value));
    }
    Ok(response)
}

/// The media type and the policy with which a document is shown; `None` if it is not.
pub(super) fn viewed(media_type: &str) -> Option<(&'static str, &'static str)> {
    const SANDBOX: &str = "sandbox; default-src 'none'; img-src 'self'; frame-ancestors 'self'";
    Some(match media_type {
        "application/pdf" => (
            "application/pdf",
            "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'",
        ),
        "image/png" => ("image/png", SANDBOX),
        "image/jpeg" => ("image/jpeg", SANDBOX),
        "image/gif" => ("image/gif", SANDBOX),
        "image/webp" => ("image/webp", SANDBOX),
        "text/plain" => ("text/plain; charset=utf-8", SANDBOX),
        _ => return None,
    })
}

/// Sends a file of a document, or only its headers.
pub(super) async fn answer(state: &ConsoleState, asked: Asked, part: DocumentPart) -> Answer {
    let file = documents::file(state.context(), asked.id, part).await?;
    let turn = state.turn_to_download().await?;
    // A store blocks, also where its readers are dropped.
    let opened = state.blocking(move |_| asked.open(&file, turn)).await?;
    Ok(opened?.into_response())
}

impl Asked {
    fn open(
        &self,
        file: &DocumentFile,
        turn: OwnedSemaphorePermit,
    ) -> Result<(StatusCode, HeaderMap, Body), Refusal> {
        let is_head = self.method == Method::HEAD;
        // A client that may have it already is sent nothing before that is known.
        if is_head || self.headers.contains_key(IF_NONE_MATCH) {
            let headers = headers(file, file.size()?);
            if is_known(&self.headers, &headers[ETAG]) {
                return Ok((StatusCode::NOT_MODIFIED, headers, Body::empty()));
            }
            if is_head {
                return Ok((StatusCode::OK, headers, Body::empty()));
            }
        }
        let reader = file.open()?;
        let headers = headers(file, reader.length());
        Ok((StatusCode::OK, headers, stream::of(reader, turn)))
    }
}

fn headers(file: &DocumentFile, length: u64) -> HeaderMap {
    let name = format!("attachment; filename=\"{}\"", file.name());
    let mut headers = HeaderMap::new();
    for (header, value, otherwise) in [
        (CONTENT_TYPE, file.media_type(), "application/octet-stream"),
        (CONTENT_DISPOSITION, &name, "attachment"),
        (CONTENT_SECURITY_POLICY, POLICY, POLICY),
        (CACHE_CONTROL, ASK_AGAIN, ASK_AGAIN),
        (ETAG, &file.tag(length), "W/\"\""),
    ] {
        let value = HeaderValue::from_str(value);
        let value = value.unwrap_or_else(|_| HeaderValue::from_static(otherwise));
        headers.insert(header, value);
    }
    headers.insert(CONTENT_LENGTH, length.into());
    headers
}

/// Whether the client has it already.
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

/// The policy of a document in a browser: nothing is allowed.
const POLICY: &str = "sandbox; default-src 'none'; frame-ancestors 'none'";
/// It may be kept by who may read it, and is asked for again each time: whoever logs out has no right to it any more.
const ASK_AGAIN: &str = "private, no-cache";
