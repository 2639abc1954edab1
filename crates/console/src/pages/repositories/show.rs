//! `GET /repositories/{id}`: all that is known of a repository.

use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::State;
use catalog::{
    FormatCounts, HistoryEntry, HistoryQuery, JobQuery, JobState, MetadataFormat, RepositoryCounts,
    RepositoryOverview, Schedule, ScheduleQuery,
};
use serde::Deserialize;

use super::sets::SetTree;
use crate::dress::page;
use crate::extract::{Path, Query};
use crate::filters;
use crate::pages::jobs::JobLine;
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::repositories::{health_name, overview};
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Parameters {
    /// What sets are searched for.
    sets: String,
}

#[derive(Template)]
#[template(path = "repository.html")]
pub(super) struct RepositoryPage {
    who: Who,
    live: Live,
    counts: RepositoryCounts,
    formats: Vec<Format>,
    sets: SetTree,
    /// What the sets are searched for.
    sought: String,
    /// Whether there are more sets than are shown.
    is_cut: bool,
    schedules: Vec<Schedule>,
    history: Vec<HistoryEntry>,
    directory: String,
    errors: Errors,
    /// Why it could not be asked.
    pub(super) failure: Option<String>,
}

/// The part that is kept up to date: how it fares and what is done with it.
#[derive(Template)]
#[template(path = "repository_live.html")]
struct Live {
    can_operate: bool,
    overview: RepositoryOverview,
    current: Vec<JobLine>,
}

impl HtmlSafe for Live {}

/// A format that the repository offers, that is held, or both.
struct Format {
    metadata_prefix: String,
    offered: Option<MetadataFormat>,
    held: Option<FormatCounts>,
}

impl Live {
    async fn new(state: &ConsoleState, who: &Who, id: i64) -> Result<Self, Problem> {
        let catalog = state.catalog();
        let query = JobQuery {
            states: vec![JobState::Running, JobState::Scheduled],
            repository: Some(id),
            limit: 20,
            ..JobQuery::default()
        };
        let now = catalog.now().await?;
        let jobs = catalog.jobs(&query).await?;
        Ok(Self {
            can_operate: who.can_operate(),
            overview: overview(state, id).await?,
            current: jobs.into_iter().map(|job| JobLine::new(job, now)).collect(),
        })
    }

    fn here(&self) -> String {
        format!("/repositories/{}", self.overview.repository.id)
    }

    fn health(&self) -> &'static str {
        health_name(self.overview.health)
    }
}

impl RepositoryPage {
    pub(super) async fn new(
        state: &ConsoleState,
        who: Who,
        id: i64,
        sought: &str,
    ) -> Result<Self, Problem> {
        let catalog = state.catalog();
        let live = Live::new(state, &who, id).await?;
        let mut sets = catalog.some_sets(id, Some(sought), SETS + 1).await?;
        let is_cut = sets.len() > SETS as usize;
        sets.truncate(SETS as usize);
        let schedules = ScheduleQuery {
            repository: Some(id),
            ..ScheduleQuery::default()
        };
        let history = HistoryQuery {
            repository: Some(id),
            limit: HARVESTS,
            ..HistoryQuery::default()
        };
        let directory = state.holdings().base_directory(&live.overview.repository);
        Ok(Self {
            counts: catalog.repository_counts(id).await?,
            formats: Format::all(catalog.formats(id).await?, catalog.format_counts(id).await?),
            sets: SetTree::new(id, sets),
            sought: sought.to_owned(),
            is_cut,
            schedules: catalog.schedules(&schedules).await?,
            history: catalog.history(&history).await?,
            directory: directory.display().to_string(),
            errors: Errors::default(),
            failure: None,
            live,
            who,
        })
    }

    fn facts(&self) -> Vec<(&'static str, &str)> {
        let repository = &self.live.overview.repository;
        let identity = &repository.identity;
        let facts = [
            ("Base URL", Some(repository.base_url.as_str())),
            ("Protocol", identity.protocol_version.as_deref()),
            ("Earliest record", identity.earliest_datestamp.as_deref()),
            ("Deleted records", identity.deleted_record.as_deref()),
            ("Granularity", identity.granularity.as_deref()),
            ("Identifier", identity.repository_identifier.as_deref()),
        ];
        let known = facts.into_iter();
        known
            .filter_map(|(name, fact)| Some((name, fact?)))
            .collect()
    }

    fn state_name(&self, entry: &HistoryEntry) -> &'static str {
        entry.state.name()
    }

    /// The formats to choose from; there is always one.
    fn prefixes(&self) -> Vec<(&str, &str)> {
        let mut prefixes: Vec<_> = self
            .formats
            .iter()
            .map(|format| format.metadata_prefix.as_str())
            .map(|prefix| (prefix, prefix))
            .collect();
        if prefixes.is_empty() {
            prefixes.push(("oai_dc", "oai_dc"));
        }
        prefixes
    }

    fn usual_prefix(&self) -> &str {
        let prefixes = self.prefixes();
        let usual = prefixes.iter().find(|(prefix, _)| *prefix == "oai_dc");
        usual
            .or(prefixes.first())
            .map_or("oai_dc", |(prefix, _)| *prefix)
    }
}

impl Format {
    fn all(offered: Vec<MetadataFormat>, mut held: Vec<FormatCounts>) -> Vec<Self> {
        let mut formats = Vec::new();
        for format in offered {
            let prefix = &format.metadata_prefix;
            let at = held.iter().position(|held| held.metadata_prefix == *prefix);
            formats.push(Self {
                metadata_prefix: prefix.clone(),
                held: at.map(|at| held.remove(at)),
                offered: Some(format),
            });
        }
        // What the repository does not offer any more is still here.
        formats.extend(held.into_iter().map(|held| Self {
            metadata_prefix: held.metadata_prefix.clone(),
            offered: None,
            held: Some(held),
        }));
        formats
    }
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    let sought = parameters.sets.trim();
    page(&RepositoryPage::new(&state, who, id, sought).await?)
}

/// `GET /repositories/{id}/live`
pub(crate) async fn live(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    page(&Live::new(&state, &who, id).await?)
}

/// As many sets are shown; the search finds the others.
const SETS: u64 = 200;
const HARVESTS: u64 = 20;
