//! `POST /jobs/{id}/cancel` and `POST /jobs/{id}/retry`.

use axum::extract::State;
use catalog::JobState;
use operations::{Code, jobs};
use serde::Deserialize;

use crate::dress::done;
use crate::extract::{Form, Path};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Operator, local_path};

#[derive(Deserialize)]
pub(crate) struct Parameters {
    /// The page to come back to.
    next: Option<String>,
    /// The state of the job when the button was shown.
    #[serde(default)]
    was: String,
}

pub(crate) async fn cancel(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(parameters): Form<Parameters>,
) -> Answer {
    let waited = JobState::parse(&parameters.was) == Some(JobState::Scheduled);
    let message = match jobs::cancel(state.context(), &who.actor(), id).await {
        Ok(cancelled) if cancelled.asked && waited => format!(
            "Job {id} had begun in the meantime. It was asked to stop; what it has so far is kept."
        ),
        Ok(cancelled) if cancelled.asked => {
            format!("Job {id} was asked to stop. What it has so far is kept.")
        }
        Ok(_) => format!("Job {id} is cancelled."),
        // It ended by itself: nothing is wrong, but nothing was stopped either.
        Err(refusal) if refusal.code == Code::Conflict => format!("Too late: {refusal}."),
        Err(refusal) => return Err(refusal.into()),
    };
    Ok(done(back(&parameters, id).as_str(), message))
}

pub(crate) async fn retry(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(parameters): Form<Parameters>,
) -> Answer {
    let message = match jobs::retry(state.context(), &who.actor(), id).await {
        Ok(_) => format!("Job {id} is in the queue again."),
        Err(refusal) if matches!(refusal.code, Code::Conflict | Code::Busy) => {
            format!("Nothing was done: {refusal}.")
        }
        Err(refusal) => return Err(refusal.into()),
    };
    Ok(done(back(&parameters, id).as_str(), message))
}

fn back(parameters: &Parameters, id: i64) -> String {
    match parameters.next.as_deref() {
        None | Some("") => format!("/jobs/{id}"),
        next => local_path(next).to_owned(),
    }
}
