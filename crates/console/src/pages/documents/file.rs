//! `GET /documents/{id}/file` and `GET /documents/{id}/text`: a document, and its text, to be kept.

use axum::extract::State;
use jobs::DocumentPart;

use crate::document_file::{Asked, answer};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::Viewer;

pub(crate) async fn file(
    Viewer(_): Viewer,
    State(state): State<ConsoleState>,
    asked: Asked,
) -> Answer {
    answer(&state, asked, DocumentPart::Document).await
}

pub(crate) async fn text(
    Viewer(_): Viewer,
    State(state): State<ConsoleState>,
    asked: Asked,
) -> Answer {
    answer(&state, asked, DocumentPart::Text).await
}
