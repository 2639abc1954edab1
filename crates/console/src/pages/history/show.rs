//! `GET /history/{id}`: all of one harvest.

use askama::Template;
use axum::extract::State;
use catalog::{HistoryEntry, Warning};
use serde::Deserialize;

use crate::dress::page;
use crate::extract::{Path, Query};
use crate::filters;
use crate::history::{counts, entry, parameters, quirks};
use crate::parts::Link;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Parameters {
    /// The number of the last warning that was shown.
    after: i64,
}

#[derive(Template)]
#[template(path = "harvest.html")]
struct Harvest {
    who: Who,
    entry: HistoryEntry,
    repository: String,
    counts: [(&'static str, u64); 8],
    parameters: Vec<(String, String)>,
    quirks: Vec<(&'static str, u64)>,
    warnings: Vec<Warning>,
    first: Option<Link>,
    next: Option<Link>,
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(parameters_of_page): Query<Parameters>,
) -> Answer {
    let entry = entry(&state, id).await?;
    let catalog = state.catalog();
    let after = parameters_of_page.after;
    let mut warnings = catalog.warnings_after(id, after, WARNINGS + 1).await?;
    let is_more = warnings.len() > WARNINGS as usize;
    warnings.truncate(WARNINGS as usize);
    let last = warnings.last().map(|(number, _)| *number);
    let repository = catalog.repository(entry.repository).await?;
    let repository = repository.as_ref().map(crate::repository_choices::called);
    let place = format!("/history/{id}");
    page(&Harvest {
        who,
        repository: repository.unwrap_or_else(|| entry.base_url.clone()),
        counts: counts(&entry.counts),
        parameters: parameters(&entry.parameters),
        quirks: quirks(entry.quirks.as_deref()),
        warnings: warnings.into_iter().map(|(_, warning)| warning).collect(),
        first: (after > 0).then(|| Link::to(place.clone())),
        next: last
            .filter(|_| is_more)
            .map(|last| Link::to(place).with("after", last)),
        entry,
    })
}

const WARNINGS: u64 = 100;
