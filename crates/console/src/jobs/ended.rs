//! `GET /jobs/ended`: jobs that are over, the newest first.

use askama::Template;
use axum::extract::State;
use catalog::{JobKind, JobQuery, JobState, Repository};
use serde::Deserialize;

use super::JobLine;
use crate::dress::page;
use crate::extract::Query;
use crate::filters;
use crate::parts::{Errors, Link, Pager};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Deserialize)]
pub(crate) struct Parameters {
    #[serde(default)]
    state: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    repository: String,
    #[serde(default)]
    schedule: String,
    before: Option<i64>,
}

#[derive(Template)]
#[template(path = "jobs_ended.html")]
struct Ended {
    who: Who,
    state: &'static str,
    kind: &'static str,
    repository: Option<Repository>,
    schedule: Option<i64>,
    lines: Vec<JobLine>,
    pager: Pager,
    /// This list, to come back to.
    here: String,
    errors: Errors,
}

impl Ended {
    fn states(&self) -> [(&'static str, &'static str); 4] {
        [
            ("", "all"),
            ("finished", "finished"),
            ("failed", "failed"),
            ("cancelled", "cancelled"),
        ]
    }

    fn kinds(&self) -> [(&'static str, &'static str); 4] {
        [
            ("", "all"),
            ("harvest", "harvests"),
            ("hook", "hooks"),
            ("quiet", "quiet times"),
        ]
    }
}

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    let catalog = state.catalog();
    let over = JobState::parse(&parameters.state).filter(|state| state.is_over());
    let kind = JobKind::parse(&parameters.kind);
    let repository = match parameters.repository.parse() {
        Ok(id) => catalog.repository(id).await?,
        Err(_) => None,
    };
    let schedule = parameters.schedule.parse().ok();
    let query = JobQuery {
        states: over.map_or(OVER.to_vec(), |state| vec![state]),
        kinds: kind.into_iter().collect(),
        repository: repository.as_ref().map(|repository| repository.id),
        schedule,
        before: parameters.before,
        limit: PAGE + 1,
    };
    let mut jobs = catalog.jobs(&query).await?;
    let is_more = jobs.len() > PAGE as usize;
    jobs.truncate(PAGE as usize);
    let next = jobs.last().filter(|_| is_more).map(|job| job.id);
    let now = catalog.now().await?;
    let state = over.map_or("", JobState::name);
    let kind = kind.map_or("", JobKind::name);
    let link = Link::to("/jobs/ended")
        .with("state", state)
        .with("kind", kind)
        .with_some("repository", query.repository)
        .with_some("schedule", schedule);
    let here = link.clone().with_some("before", parameters.before);
    page(&Ended {
        who,
        state,
        kind,
        repository,
        schedule,
        lines: jobs.into_iter().map(|job| JobLine::new(job, now)).collect(),
        pager: Pager::by_position(&link, parameters.before, next),
        here: here.to_string(),
        errors: Errors::default(),
    })
}

const OVER: [JobState; 3] = [JobState::Finished, JobState::Failed, JobState::Cancelled];
const PAGE: u64 = 50;
