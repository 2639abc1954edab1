//! `POST /jobs/{id}/cancel` and `POST /jobs/{id}/retry`.

use axum::extract::State;
use catalog::Cancelled;
use serde::Deserialize;

use crate::dress::done;
use crate::extract::{Form, Path};
use crate::problem::Answer;
use crate::queue;
use crate::state::ConsoleState;
use crate::who::{Operator, local_path};

#[derive(Deserialize)]
pub(crate) struct Parameters {
    /// The page to come back to.
    next: Option<String>,
    /// How the job stood when the button was shown.
    #[serde(default)]
    was: String,
}

pub(crate) async fn cancel(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(parameters): Form<Parameters>,
) -> Answer {
    let cancelled = queue::cancel(&state, &who, id).await;
    let message = match cancelled {
        Ok(Cancelled::Asked) if parameters.was == "scheduled" => format!(
            "Job {id} had begun in the meantime. It was asked to stop; what it has so far is kept."
        ),
        Ok(Cancelled::Asked) => {
            format!("Job {id} was asked to stop. What it has so far is kept.")
        }
        Ok(_) => format!("Job {id} is cancelled."),
        // It ended by itself: nothing is wrong, but nothing was stopped either.
        Err(problem) if problem.code == "conflict" => format!("Too late: {}.", problem.message),
        Err(problem) => return Err(problem),
    };
    Ok(done(back(&parameters, id).as_str(), message))
}

pub(crate) async fn retry(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(parameters): Form<Parameters>,
) -> Answer {
    let message = match queue::retry(&state, &who, id).await {
        Ok(_) => format!("Job {id} is in the queue again."),
        Err(problem) if matches!(problem.code, "conflict" | "busy") => {
            format!("Nothing was done: {}.", problem.message)
        }
        Err(problem) => return Err(problem),
    };
    Ok(done(back(&parameters, id).as_str(), message))
}

fn back(parameters: &Parameters, id: i64) -> String {
    match parameters.next.as_deref() {
        None | Some("") => format!("/jobs/{id}"),
        next => local_path(next).to_owned(),
    }
}
