//! `GET /repositories/{id}`: a repository with its formats, sets, schedules and harvests.

use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::State;
use catalog::{HistoryEntry, HistoryQuery, JobQuery, JobState, Schedule, ScheduleQuery};
use operations::repositories::{self, Format, Repository, SetQuery};

use super::sets::SetTree;
use crate::dress::page;
use crate::extract::Path;
use crate::filters;
use crate::jobs::JobLine;
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "repository.html")]
pub(super) struct RepositoryPage {
    who: Who,
    live: Live,
    formats: Vec<Format>,
    sets: SetTree,
    /// The number of all sets.
    set_count: u64,
    /// Whether there are more sets than are shown.
    is_cut: bool,
    schedules: Vec<Schedule>,
    history: Vec<HistoryEntry>,
    errors: Errors,
    /// Why it could not be asked.
    pub(super) failure: Option<String>,
}

/// The part that is kept up to date: the state of the repository and its jobs.
#[derive(Template)]
#[template(path = "repository_live.html")]
struct Live {
    can_operate: bool,
    repository: Repository,
    current: Vec<JobLine>,
}

impl HtmlSafe for Live {}

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
            repository: repositories::show(state.context(), id).await?,
            current: jobs.into_iter().map(|job| JobLine::new(job, now)).collect(),
        })
    }

    fn here(&self) -> String {
        format!("/repositories/{}", self.repository.id)
    }
}

impl RepositoryPage {
    pub(super) async fn new(state: &ConsoleState, who: Who, id: i64) -> Result<Self, Problem> {
        let (catalog, context) = (state.catalog(), state.context());
        let live = Live::new(state, &who, id).await?;
        let query = SetQuery {
            limit: Some(SETS + 1),
            ..SetQuery::default()
        };
        let mut sets = repositories::sets(context, id, &query).await?;
        let is_cut = sets.items.len() > SETS as usize;
        sets.items.truncate(SETS as usize);
        let schedules = ScheduleQuery {
            repository: Some(id),
            ..ScheduleQuery::default()
        };
        let history = HistoryQuery {
            repository: Some(id),
            limit: HARVESTS,
            ..HistoryQuery::default()
        };
        Ok(Self {
            formats: repositories::formats(context, id).await?,
            set_count: sets.total.unwrap_or_default(),
            sets: SetTree::new(id, sets.items),
            is_cut,
            schedules: catalog.schedules(&schedules).await?,
            history: catalog.history(&history).await?,
            errors: Errors::default(),
            failure: None,
            live,
            who,
        })
    }

    fn facts(&self) -> Vec<(&'static str, &str)> {
        let repository = &self.live.repository;
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

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    page(&RepositoryPage::new(&state, who, id).await?)
}

/// `GET /repositories/{id}/live`
pub(crate) async fn live(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    page(&Live::new(&state, &who, id).await?)
}

/// As many sets are shown; the list of sets has all.
const SETS: u64 = 200;
const HARVESTS: u64 = 20;
