//! The actions of runs: stop, retry, run again, retry all failures of one cause.

use axum::extract::State;
use operations::runs::{self, RunState};
use operations::{Code, Refusal};
use serde::Deserialize;

use super::api::DAYS;
use crate::dress::done;
use crate::extract::{Form, Path, Query};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::Operator;

#[derive(Deserialize)]
pub(crate) struct Parameters {
    /// Whether a harvest harvests everything.
    #[serde(default)]
    full: bool,
}

#[derive(Deserialize)]
pub(crate) struct Was {
    /// The state of the run when the button was shown.
    #[serde(default)]
    was: String,
}

#[derive(Deserialize)]
pub(crate) struct Cause {
    #[serde(default)]
    cause: String,
}

#[derive(Deserialize)]
pub(crate) struct Acknowledgement {
    #[serde(default)]
    cause: String,
    /// How many days new failures for it do not matter either; none if it is empty.
    #[serde(default)]
    days: String,
    /// Whether it is shown on the overview again.
    #[serde(default)]
    undo: bool,
}

/// `POST /runs/{id}/stop`
pub(crate) async fn stop(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(parameters): Query<Was>,
) -> Answer {
    let waited = RunState::parse(&parameters.was) == Some(RunState::Queued);
    let message = match runs::stop(state.context(), &who.actor(), id).await {
        Ok(stopped) if stopped.asked && waited => {
            format!(
                "Run {id} had begun in the meantime. It was asked to stop; what it has so far is kept."
            )
        }
        Ok(stopped) if stopped.asked => {
            format!("Run {id} was asked to stop. What it has so far is kept.")
        }
        Ok(_) => match waited {
            true => format!("Run {id} is skipped."),
            false => format!("Run {id} is cancelled."),
        },
        // It ended by itself: nothing is wrong, but nothing was stopped either.
        Err(refusal) if refusal.code == Code::Conflict => format!("Too late: {refusal}."),
        Err(refusal) => return Err(refusal.into()),
    };
    Ok(done(&format!("/runs/{id}"), message))
}

/// `POST /runs/{id}/retry`
pub(crate) async fn retry(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let retried = runs::retry(state.context(), &who.actor(), id).await;
    let message = match retried {
        Ok(run) => format!("Run {} is in the queue again.", run.id),
        Err(refusal) => unless_busy(refusal)?,
    };
    Ok(done(&format!("/runs/{id}"), message))
}

/// `POST /runs/{id}/again`
pub(crate) async fn again(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(parameters): Form<Parameters>,
) -> Answer {
    let new = runs::again(state.context(), &who.actor(), id, parameters.full).await;
    Ok(match new {
        Ok(run) => {
            let message = format!("Queued as run {}; it starts when a worker is free.", run.id);
            done(&format!("/runs/{}", run.id), message)
        }
        Err(refusal) => done(&format!("/runs/{id}"), unless_busy(refusal)?),
    })
}

/// `POST /runs/retry`
pub(crate) async fn retry_failed(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(parameters): Form<Cause>,
) -> Answer {
    let cause = Some(parameters.cause.as_str()).filter(|cause| !cause.is_empty());
    let retried = runs::retry_failed(state.context(), &who.actor(), DAYS, cause).await?;
    let mut message = match retried.retried.len() {
        0 => "No run was retried.".to_owned(),
        1 => "One run is in the queue again.".to_owned(),
        number => format!("{number} runs are in the queue again."),
    };
    if let Some(skipped) = retried.skipped.first() {
        let others = retried.skipped.len();
        message.push_str(&format!(
            " {others} not: run {}: {}.",
            skipped.run, skipped.reason
        ));
    }
    Ok(done("/runs/failed", message))
}

/// `POST /runs/acknowledge`
pub(crate) async fn acknowledge(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(form): Form<Acknowledgement>,
) -> Answer {
    let (context, actor) = (state.context(), who.actor());
    let message = if form.undo {
        runs::unacknowledge(context, &actor, &form.cause).await?;
        "The overview shows these failures again.".to_owned()
    } else {
        let days = form.days.trim();
        let mute = match days.parse::<u32>() {
            _ if days.is_empty() => None,
            Ok(days) => Some(days),
            Err(_) => return Err(Refusal::invalid("days", "write a number of days").into()),
        };
        runs::acknowledge(context, &actor, DAYS, &form.cause, mute).await?;
        match mute {
            None => "Acknowledged. The overview shows these failures when they come up again."
                .to_owned(),
            Some(1) => "Muted for a day.".to_owned(),
            Some(days) => format!("Muted for {days} days."),
        }
    };
    Ok(done("/runs/failed", message))
}

/// The message of a refusal that only means that nothing was done.
fn unless_busy(refusal: Refusal) -> Result<String, Refusal> {
    match refusal.code {
        Code::Conflict | Code::Busy => Ok(format!("Nothing was done: {refusal}.")),
        _ => Err(refusal),
    }
}
