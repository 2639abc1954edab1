//! `POST /documents/{id}/correction`: a correction by a librarian.

use axum::extract::State;
use axum::response::Response;
use operations::documents::{self, Correction, Decision, DocumentState, KINDS};
use serde::Deserialize;

use crate::dress::done;
use crate::extract::{Form, Path};
use crate::parts::filter::given;
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::Operator;

#[derive(Debug, Deserialize)]
pub(crate) struct CorrectionForm {
    #[serde(default)]
    decision: String,
    #[serde(default)]
    kind: String,
}

/// The decisions, to choose from.
pub(crate) const DECISIONS: [(&str, &str); 3] = [
    ("", "Choose one"),
    ("accept", "Keep it in the collection"),
    ("reject", "Set it aside"),
];

/// The kinds, to choose from; `none` are the words for an empty choice.
pub(super) fn kinds(none: &str) -> Vec<(String, String)> {
    let automatic = (String::new(), none.to_owned());
    let kind = |kind: &str| (kind.to_owned(), kind.replace('_', " "));
    [automatic].into_iter().chain(KINDS.map(kind)).collect()
}

pub(crate) async fn change(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(form): Form<CorrectionForm>,
) -> Result<Response, Problem> {
    let unknown = || Problem::invalid(format!("there is no decision `{}`", form.decision));
    let decision = match given(&form.decision) {
        Some(word) => Some(Decision::parse(&word).ok_or_else(unknown)?),
        None => None,
    };
    let correction = Correction {
        decision,
        kind: given(&form.kind),
    };
    let document = documents::correct(state.context(), &who.actor(), id, &correction).await?;
    let message = match document.state {
        DocumentState::SetAside => format!("Document {} is rejected, and set aside.", document.id),
        _ => format!("Document {} is accepted.", document.id),
    };
    Ok(done(&format!("/documents/{id}"), message))
}
