//! `POST /documents/{id}/correction`: what a librarian says of a document.

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use crate::documents::correct;
use crate::dress::done;
use crate::extract::{Form, Path};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::Operator;

#[derive(Debug, Deserialize)]
pub(crate) struct NewCorrection {
    decision: String,
    #[serde(default)]
    kind: String,
}

/// What can be said, to choose from.
pub(crate) const DECISIONS: [(&str, &str); 2] = [("accept", "wanted"), ("reject", "not wanted")];

/// Kinds, to choose from.
pub(crate) const KINDS: [(&str, &str); 11] = [
    ("", "as it was judged"),
    ("paper", "paper"),
    ("thesis", "thesis"),
    ("book", "book"),
    ("report", "report"),
    ("slides", "slides"),
    ("lecture_notes", "lecture notes"),
    ("manual", "manual"),
    ("cv", "CV"),
    ("form", "form"),
    ("other", "other"),
];

pub(crate) async fn change(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(new): Form<NewCorrection>,
) -> Result<Response, Problem> {
    let kind = Some(new.kind.as_str()).filter(|kind| !kind.is_empty());
    let is_wanted = correct(&state, &who, id, &new.decision, kind)
        .await?
        .is_wanted;
    let said = match is_wanted {
        true => format!("Document {id} is wanted."),
        false => format!("Document {id} is not wanted, and set aside."),
    };
    Ok(done(&format!("/documents/{id}"), said))
}
