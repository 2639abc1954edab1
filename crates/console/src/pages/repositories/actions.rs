//! `POST /repositories/{id}/identify` and `POST /repositories/{id}/harvest`.

use axum::extract::State;
use catalog::NewJob;
use jobs::HarvestParameters;
use serde::Deserialize;

use super::show::RepositoryPage;
use crate::dress::{done, form_again};
use crate::extract::{Form, Path};
use crate::problem::Answer;
use crate::queue;
use crate::repositories::{NO_REPOSITORY, ask, keep, repository};
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

/// Asks a repository about itself again.
pub(crate) async fn identify(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let known = repository(&state, id).await?;
    match ask(&state, &known.base_url).await {
        Ok(description) => {
            keep(&state, &who, description).await?;
            let message = "It was asked, and what it says of itself is up to date.";
            Ok(done(&format!("/repositories/{id}"), message))
        }
        Err(problem) if problem.code == NO_REPOSITORY => {
            let mut answer = RepositoryPage::new(&state, who, id, "").await?;
            answer.failure = Some(problem.message);
            form_again(&answer)
        }
        Err(problem) => Err(problem),
    }
}

/// Harvests a repository once, as soon as a worker is free.
pub(crate) async fn harvest(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(wanted): Form<Wanted>,
) -> Answer {
    let parameters = HarvestParameters {
        full: wanted.full,
        ..HarvestParameters::default()
    };
    let new = NewJob {
        set: Some(wanted.set.trim().to_owned()).filter(|set| !set.is_empty()),
        parameters: parameters.text()?,
        ..NewJob::harvest(id, wanted.metadata_prefix.trim())
    };
    let job = queue::add_harvest(&state, &who, new).await?;
    let place = format!("/jobs/{}", job.id);
    Ok(done(&place, "The harvest is in the queue."))
}
