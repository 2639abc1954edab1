//! `GET /schedules/{id}`: all of a schedule, its next runs and its last harvests.

use askama::Template;
use axum::extract::State;
use catalog::{HistoryEntry, HistoryQuery, Schedule as Row, Scheduled};
use operations::schedules::{self, Schedule, fields, upcoming};

use super::form::{RUNS, Runs};
use super::{import, schedule, title};
use crate::dress::page;
use crate::extract::Path;
use crate::filters;
use crate::problem::Answer;
use crate::repositories::choices::named;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "schedule.html")]
struct SchedulePage {
    who: Who,
    schedule: Row,
    title: String,
    repository: String,
    frequency: String,
    /// The settings that differ from the defaults.
    fields: Vec<(String, String)>,
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
    let query = HistoryQuery {
        repository: settings.what.repository(),
        schedule: Some(id),
        limit: 10,
        ..HistoryQuery::default()
    };
    let now = catalog.now().await?;
    let mut fields = fields(&Schedule::from(known.clone()));
    for (label, value) in &mut fields {
        let id = value
            .parse()
            .ok()
            .filter(|_| ["Filter", "Normalise"].contains(&label.as_str()));
        if let Some(id) = id {
            let rules = catalog.rules_of(id).await?;
            *value = rules.map_or_else(|| format!("number {id}, which is gone"), |it| it.name);
        }
    }
    page(&SchedulePage {
        who,
        title: title(&known),
        repository: named(
            known.repository_name.as_deref(),
            known.base_url.as_deref().unwrap_or_default(),
        ),
        frequency: schedules::describe(&settings.frequency),
        fields,
        runs: runs(&known, now),
        harvests: catalog.history(&query).await?,
        schedule: known,
    })
}

/// The time of the waiting job, and those behind it.
pub(super) fn runs(schedule: &Row, now: i64) -> Runs {
    Runs {
        frequency: None,
        times: upcoming(schedule, now, RUNS),
        now,
        errors: Vec::new(),
    }
}
