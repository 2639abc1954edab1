//! `POST /repositories/{id}/identify` and `POST /repositories/{id}/harvest`.

use axum::extract::State;
use operations::jobs::{self, NewHarvest};
use operations::{Code, HarvestPatch, Setting, repositories};
use serde::Deserialize;

use super::ask;
use super::show::RepositoryPage;
use crate::dress::{done, form_again};
use crate::extract::{Form, Path};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::Operator;

#[derive(Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    metadata_prefix: String,
    #[serde(default)]
    set: String,
    #[serde(default)]
    full: bool,
}

/// Refreshes a repository: asks it about itself, and keeps its answers.
pub(crate) async fn refresh(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let known = repositories::show(state.context(), id).await?;
    match ask(&state, &known.base_url).await {
        Ok(description) => {
            repositories::add(state.context(), &who.actor(), description, None).await?;
            let message = "The repository is refreshed by its own answers.";
            Ok(done(&format!("/repositories/{id}"), message))
        }
        Err(refusal) if refusal.code == Code::NoRepository => {
            let mut answer = RepositoryPage::new(&state, who, id).await?;
            answer.failure = Some(refusal.reasons());
            form_again(&answer)
        }
        Err(refusal) => Err(refusal.into()),
    }
}

/// Harvests a repository once, as soon as a worker is free.
pub(crate) async fn harvest(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(wanted): Form<Wanted>,
) -> Answer {
    let new = NewHarvest {
        repository: id,
        metadata_prefix: wanted.metadata_prefix,
        set: Some(wanted.set),
        patch: HarvestPatch {
            full: Some(Setting::To(wanted.full)),
            ..HarvestPatch::default()
        },
        run_at: None,
    };
    let job = jobs::harvest(state.context(), &who.actor(), &new).await?;
    let place = format!("/runs/{}", job.id);
    Ok(done(&place, "The harvest is in the queue."))
}
