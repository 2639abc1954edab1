//! What is done to a schedule: pause, resume, run now, remove.

use axum::extract::State;
use catalog::Scheduled;

use crate::dress::{done, page};
use crate::extract::Path;
use crate::parts::Confirm;
use crate::problem::Answer;
use crate::schedules::{self, about, schedule, title};
use crate::state::ConsoleState;
use crate::who::Operator;

/// `POST /schedules/{id}/pause`
pub(crate) async fn pause(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let schedule = schedules::pause(&state, &who, id).await?;
    let message = format!("{} rests now.", title(&schedule));
    Ok(done(&format!("/schedules/{id}"), message))
}

/// `POST /schedules/{id}/resume`
pub(crate) async fn resume(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let schedule = schedules::resume(&state, &who, id).await?;
    let message = format!("{} goes on.", title(&schedule));
    Ok(done(&format!("/schedules/{id}"), message))
}

/// `POST /schedules/{id}/run`
pub(crate) async fn run(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let job = schedules::run(&state, &who, id).await?;
    let message = match job.state {
        catalog::JobState::Running => format!("Job {} runs already.", job.id),
        _ => format!("Job {} is due; a worker takes it next.", job.id),
    };
    Ok(done(&format!("/jobs/{}", job.id), message))
}

/// `GET /schedules/{id}/remove`
pub(crate) async fn confirm_removal(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let known = schedule(&state, id).await?;
    let done = match known.settings.what {
        Scheduled::Harvest { .. } => "harvested",
        Scheduled::Import => "imported",
    };
    let mut losses = vec![format!("{} is not {done} by it any more.", about(&known))];
    match (known.job, known.next_run) {
        (Some(job), Some(_)) => losses.push(format!("Its job {job}, which waits, is withdrawn.")),
        (Some(job), None) => losses.push(format!("Its job {job} runs, and goes on to its end.")),
        _ => {}
    }
    losses.push(match known.settings.what {
        Scheduled::Harvest { .. } => "Records and the history of its harvests stay.".to_owned(),
        Scheduled::Import => "Documents and what is known of its imports stay.".to_owned(),
    });
    page(&Confirm {
        who,
        question: format!("Remove {}?", title(&known)),
        losses,
        verb: "Remove the schedule".to_owned(),
        action: format!("/schedules/{id}/remove"),
        back: format!("/schedules/{id}"),
    })
}

/// `POST /schedules/{id}/remove`
pub(crate) async fn remove(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let known = schedules::remove(&state, &who, id).await?;
    Ok(done("/schedules", format!("{} is removed.", title(&known))))
}
