//! `GET /schedules/{id}`: all of a schedule, its next runs and its last harvests.

use askama::Template;
use axum::extract::State;
use catalog::{HistoryEntry, HistoryQuery, Schedule, ScheduleState, Scheduled};
use jobs::HarvestParameters;

use super::form::{RUNS, Runs};
use super::import;
use super::list::in_words;
use crate::dress::page;
use crate::extract::Path;
use crate::filters;
use crate::problem::Answer;
use crate::repository_choices::named;
use crate::schedules::{ScheduleForm, Timing, schedule, title};
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "schedule.html")]
struct SchedulePage {
    who: Who,
    schedule: Schedule,
    title: String,
    repository: String,
    frequency: String,
    parameters: HarvestParameters,
    form: ScheduleForm,
    filter: Option<String>,
    mapping: Option<String>,
    runs: Runs,
    harvests: Vec<HistoryEntry>,
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let catalog = state.catalog();
    let known = schedule(&state, id).await?;
    if known.settings.what == Scheduled::Import {
        return import::show(&state, who, known).await;
    }
    let settings = &known.settings;
    let parameters = HarvestParameters::parse(&settings.parameters).unwrap_or_default();
    let query = HistoryQuery {
        repository: settings.what.repository(),
        schedule: Some(id),
        limit: 10,
        ..HistoryQuery::default()
    };
    let now = catalog.now().await?;
    let name = async |id: Option<i64>| match id {
        None => Ok(None),
        Some(id) => {
            let rules = catalog.rules_of(id).await?;
            Ok::<_, catalog::Error>(Some(
                rules.map_or_else(|| format!("number {id}, which is gone"), |rules| rules.name),
            ))
        }
    };
    page(&SchedulePage {
        who,
        title: title(&known),
        repository: named(
            known.repository_name.as_deref(),
            known.base_url.as_deref().unwrap_or_default(),
        ),
        frequency: in_words(&settings.frequency),
        form: ScheduleForm::of(settings),
        filter: name(parameters.filter).await?,
        mapping: name(parameters.normalise).await?,
        runs: runs(&known, now),
        harvests: catalog.history(&query).await?,
        parameters,
        schedule: known,
    })
}

/// The time of the waiting job, and those behind it.
pub(super) fn runs(schedule: &Schedule, now: i64) -> Runs {
    let rests = matches!(schedule.state, ScheduleState::Paused | ScheduleState::Ended);
    let timing = Timing::of(schedule).filter(|_| !rests);
    let mut times: Vec<_> = schedule.next_run.into_iter().collect();
    if let Some(timing) = timing {
        let after = schedule.next_run.unwrap_or(now).max(now);
        let further = timing.next(after, RUNS);
        times.extend(
            further
                .into_iter()
                .filter(|time| schedule.next_run.is_none_or(|next| *time > next)),
        );
        times.truncate(RUNS);
    }
    Runs {
        frequency: None,
        times,
        now,
        errors: Vec::new(),
    }
}
