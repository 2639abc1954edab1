//! `POST /sites/{id}/check`: whether the repository of a site keeps the rules of OAI-PMH.

use askama::Template;
use axum::extract::State;
use operations::Code;
use operations::repositories::RepositoryCheck;
use operations::sites::{self, Site};

use super::checked;
use crate::dress::page;
use crate::extract::Path;
use crate::filters;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

#[derive(Template)]
#[template(path = "site_check.html")]
struct CheckPage {
    who: Who,
    site: Site,
    check: Option<RepositoryCheck>,
    /// Why it could not be checked.
    failure: Option<String>,
}

impl CheckPage {
    /// The badge of a verdict.
    fn badge(&self, verdict: &str) -> &'static str {
        match verdict {
            "passed" => "ok",
            "failed" => "failed",
            "warning" => "warning",
            _ => "not checked",
        }
    }
}

pub(crate) async fn run(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<u64>,
) -> Answer {
    let site = sites::show(state.context(), id).await?.site;
    let (check, failure) = match checked(&state, id).await {
        Ok(check) => (Some(check), None),
        Err(refusal) if refusal.code == Code::NoRepository => (None, Some(refusal.reasons())),
        Err(refusal) => return Err(refusal.into()),
    };
    page(&CheckPage {
        who,
        site,
        check,
        failure,
    })
}
