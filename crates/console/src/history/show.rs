//! `GET /history/{id}`: all of one harvest.

use askama::Template;
use axum::extract::State;
use operations::harvests::{self, Harvest, Warning, WarningFilter};
use serde::Deserialize;

use crate::dress::page;
use crate::extract::{Path, Query};
use crate::filters;
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
struct HarvestPage {
    who: Who,
    entry: Harvest,
    repository: String,
    parameters: Vec<(String, String)>,
    warnings: Vec<Warning>,
    first: Option<Link>,
    next: Option<Link>,
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    let context = state.context();
    let entry = harvests::show(context, id).await?;
    let after = parameters.after;
    let filter = WarningFilter {
        after: Some(after),
        limit: Some(WARNINGS),
    };
    let warnings = harvests::warnings(context, id, &filter).await?;
    let repository = state.catalog().repository(entry.repository).await?;
    let repository = repository
        .as_ref()
        .map(crate::repositories::choices::called);
    let place = format!("/history/{id}");
    page(&HarvestPage {
        who,
        repository: repository.unwrap_or_else(|| entry.base_url.clone()),
        parameters: entry.parameters_in_words(),
        first: (after > 0).then(|| Link::to(place.clone())),
        next: warnings
            .next
            .map(|last| Link::to(place).with("after", last)),
        warnings: warnings.items,
        entry,
    })
}

impl HarvestPage {
    /// The counts of records, by name.
    fn counts(&self) -> [(&'static str, u64); 8] {
        let counts = &self.entry.counts;
        [
            ("New", counts.new),
            ("Updated", counts.updated),
            ("Unchanged", counts.unchanged),
            ("Deleted", counts.deleted),
            ("Filtered", counts.filtered),
            ("Repaired", counts.repaired),
            ("Skipped", counts.skipped),
            ("Failed", counts.failed),
        ]
    }
}

const WARNINGS: u64 = 100;
