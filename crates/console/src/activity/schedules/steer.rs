//! The actions of a schedule: pause, resume, run now, remove.

use axum::extract::State;
use operations::schedules::{self, ScheduleKind};

use crate::dress::{done, page};
use crate::extract::Path;
use crate::parts::Confirm;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::Operator;

/// `POST /schedules/{id}/pause`
pub(crate) async fn pause(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let schedule = schedules::pause(state.context(), &who.actor(), id).await?;
    let message = format!("{} is paused.", schedule.title());
    Ok(done(&format!("/schedules/{id}"), message))
}

/// `POST /schedules/{id}/resume`
pub(crate) async fn resume(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let schedule = schedules::resume(state.context(), &who.actor(), id).await?;
    let message = format!("{} is resumed.", schedule.title());
    Ok(done(&format!("/schedules/{id}"), message))
}

/// `POST /schedules/{id}/run`
pub(crate) async fn run(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let job = schedules::run(state.context(), &who.actor(), id).await?;
    let message = match job.state {
        catalog::JobState::Running => format!("Job {} runs already.", job.id),
        _ => format!("Queued as run {}; it starts when a worker is free.", job.id),
    };
    Ok(done(&format!("/runs/{}", job.id), message))
}

/// `GET /schedules/{id}/remove`
pub(crate) async fn confirm_removal(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let known = schedules::show(state.context(), id).await?;
    let done = match known.kind {
        ScheduleKind::Harvest => "harvested",
        ScheduleKind::Import => "imported",
    };
    let mut losses = vec![format!("{} is not {done} by it any more.", known.about())];
    match (known.job, known.next_run) {
        (Some(job), Some(_)) => losses.push(format!("Its job {job}, which waits, is withdrawn.")),
        (Some(job), None) => losses.push(format!("Its job {job} runs, and will run to its end.")),
        _ => {}
    }
    losses.push(match known.kind {
        ScheduleKind::Harvest => "Records and the history of its harvests stay.".to_owned(),
        ScheduleKind::Import => "Documents and what is known of its imports stay.".to_owned(),
    });
    page(&Confirm {
        who,
        question: format!("Remove {}?", known.title()),
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
    let known = schedules::remove(state.context(), &who.actor(), id).await?;
    Ok(done("/schedules", format!("{} is removed.", known.title())))
}
