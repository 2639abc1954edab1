//! `GET /documents/{id}/file` and `GET /documents/{id}/text`: a document, and its text, to be kept.

use axum::extract::State;
use axum::http::{HeaderMap, Method};
use jobs::DocumentPart;

use crate::document_file::{Asked, answer};
use crate::extract::Path;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::Viewer;

pub(crate) async fn file(
    Viewer(_): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    method: Method,
    headers: HeaderMap,
) -> Answer {
    let asked = Asked {
        id,
        part: DocumentPart::Document,
        method,
        headers,
    };
    answer(&state, asked).await
}

pub(crate) async fn text(
    Viewer(_): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    method: Method,
    headers: HeaderMap,
) -> Answer {
    let asked = Asked {
        id,
        part: DocumentPart::Text,
        method,
        headers,
    };
    answer(&state, asked).await
}
