//! `POST /documents/{id}/correction`: a correction by a librarian.

use axum::extract::State;
use axum::response::Response;
use operations::documents::{self, Correction, Decision, KINDS, Kind};
use serde::Deserialize;

use crate::dress::done;
use crate::extract::{Form, Path};
use crate::parts::filter::given;
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::Operator;

#[derive(Debug, Deserialize)]
pub(crate) struct CorrectionForm {
    decision: Decision,
    #[serde(default)]
    kind: String,
}

/// The decisions, to choose from.
pub(crate) const DECISIONS: [(&str, &str); 2] = [("accept", "Accept"), ("reject", "Reject")];

/// The kinds, to choose from; `none` are the words for an empty choice.
pub(super) fn kinds(none: &str) -> Vec<(String, String)> {
    let automatic = (String::new(), none.to_owned());
    let kind = |kind: Kind| (kind.name().to_owned(), kind.name().replace('_', " "));
    [automatic].into_iter().chain(KINDS.map(kind)).collect()
}

pub(crate) async fn change(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(form): Form<CorrectionForm>,
) -> Result<Response, Problem> {
    let correction = Correction {
        decision: Some(form.decision),
        kind: given(&form.kind),
    };
    let document = documents::correct(state.context(), &who.actor(), id, &correction).await?;
    let message = match form.decision {
        Decision::Accept => format!("Document {} is accepted.", document.id),
        Decision::Reject => format!("Document {} is rejected, and set aside.", document.id),
    };
    Ok(done(&format!("/documents/{id}"), message))
}
