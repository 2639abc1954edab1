//! Schedules: harvests and imports that recur, or run once at their time.

use serde::{Deserialize, Serialize};

use crate::database::Row;
use crate::{Error, JobKind};

/// How a schedule stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScheduleState {
    /// It was added or changed, and no job was made of it yet.
    New,
    /// It has a job again and again.
    Recurring,
    /// It has one job.
    Once,
    /// It has none until somebody says so.
    Paused,
    /// Its time is over, or its only job.
    Ended,
}

/// The work that a schedule orders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Scheduled {
    /// Harvests a repository.
    Harvest {
        /// The number of the repository.
        repository: i64,
        /// The format.
        metadata_prefix: String,
        /// The set, or all.
        set: Option<String>,
    },
    /// Imports a crawl. Which one is said by the parameters alone.
    Import,
}

/// The settings of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleSettings {
    /// The work that it orders.
    #[serde(flatten)]
    pub what: Scheduled,
    /// Its name, for people.
    pub name: String,
    /// Everything else that a harvest or an import is told: JSON, which is not looked into here.
    pub parameters: String,
    /// How often, in the words of those who plan.
    pub frequency: String,
    /// Since when, in seconds.
    pub starts: Option<i64>,
    /// Until when, in seconds.
    pub ends: Option<i64>,
}

/// A schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Schedule {
    /// Its number.
    pub id: i64,
    /// Its settings.
    #[serde(flatten)]
    pub settings: ScheduleSettings,
    /// Where the repository answers, if it is about one.
    pub base_url: Option<String>,
    /// The name of the repository.
    pub repository_name: Option<String>,
    /// How it stands.
    pub state: ScheduleState,
    /// When its waiting job is due, in seconds.
    pub next_run: Option<i64>,
    /// The number of its job that waits or runs.
    pub job: Option<i64>,
    /// When a job of it was last begun, in seconds.
    pub last_run: Option<i64>,
    /// When the last run was due that somebody withdrew before it began, in seconds; see [`Schedule::plan_after`].
    pub skipped: Option<i64>,
    /// Counts up with each change of what somebody says of it.
    pub version: i64,
    /// When it was added, in seconds.
    pub added: i64,
    /// When it was last changed, in seconds.
    pub changed: i64,
}

impl Schedule {
    /// The time after which its next run is to be planned: now, or a later one that somebody withdrew.
    pub fn plan_after(&self, now: i64) -> i64 {
        self.skipped.map_or(now, |skipped| skipped.max(now))
    }
}

impl Scheduled {
    /// The kind of its jobs.
    pub fn kind(&self) -> JobKind {
        match self {
            Self::Harvest { .. } => JobKind::Harvest,
            Self::Import => JobKind::Import,
        }
    }

    /// The number of the repository, if it is about one.
    pub fn repository(&self) -> Option<i64> {
        match self {
            Self::Harvest { repository, .. } => Some(*repository),
            Self::Import => None,
        }
    }

    /// The format; empty if it is not about one.
    pub fn metadata_prefix(&self) -> &str {
        match self {
            Self::Harvest {
                metadata_prefix, ..
            } => metadata_prefix,
            Self::Import => "",
        }
    }

    /// The set, or all.
    pub fn set(&self) -> Option<&str> {
        match self {
            Self::Harvest { set, .. } => set.as_deref(),
            Self::Import => None,
        }
    }
}

impl ScheduleState {
    /// All there are.
    pub const ALL: [Self; 5] = [
        Self::New,
        Self::Recurring,
        Self::Once,
        Self::Paused,
        Self::Ended,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Recurring => "recurring",
            Self::Once => "once",
            Self::Paused => "paused",
            Self::Ended => "ended",
        }
    }

    /// The state with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// The columns of which a schedule is made.
pub(crate) const SELECT: &str = "SELECT schedule.id, schedule.kind, schedule.repository_id, schedule.name, schedule.metadata_prefix, \
     schedule.set_spec, schedule.parameters, schedule.frequency, schedule.starts, schedule.ends, schedule.state, \
     schedule.last_run, schedule.skipped, schedule.version, schedule.added, schedule.changed, repository.base_url, \
     repository.name AS repository_name, job.id AS job_id, \
     CASE WHEN job.state = 'scheduled' THEN job.run_at END AS next_run \
     FROM schedule LEFT JOIN repository ON repository.id = schedule.repository_id \
     LEFT JOIN job ON job.schedule_id = schedule.id AND job.state IN ('scheduled', 'running')";

pub(crate) fn schedule(row: &Row) -> Result<Schedule, Error> {
    Ok(Schedule {
        id: row.integer("id")?,
        settings: ScheduleSettings {
            what: what(row)?,
            name: row.text("name")?,
            parameters: row.text("parameters")?,
            frequency: row.text("frequency")?,
            starts: row.maybe_integer("starts")?,
            ends: row.maybe_integer("ends")?,
        },
        base_url: row.maybe_text("base_url")?,
        repository_name: row.maybe_text("repository_name")?,
        state: ScheduleState::parse(&row.text("state")?).unwrap_or(ScheduleState::Paused),
        next_run: row.maybe_integer("next_run")?,
        job: row.maybe_integer("job_id")?,
        last_run: row.maybe_integer("last_run")?,
        skipped: row.maybe_integer("skipped")?,
        version: row.integer("version")?,
        added: row.integer("added")?,
        changed: row.integer("changed")?,
    })
}

fn what(row: &Row) -> Result<Scheduled, Error> {
    if row.text("kind")? == JobKind::Import.name() {
        return Ok(Scheduled::Import);
    }
    Ok(Scheduled::Harvest {
        repository: row.integer("repository_id")?,
        metadata_prefix: row.text("metadata_prefix")?,
        set: Some(row.text("set_spec")?).filter(|set| !set.is_empty()),
    })
}
