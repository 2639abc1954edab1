//! How repositories fare.

use serde::{Deserialize, Serialize};

use crate::database::Row;
use crate::{Catalog, Error};

/// How a repository fares, by its last harvest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// It failed, or its process ended without a word.
    Failing,
    /// It came to its end, but something had to be left out; or somebody cancelled it.
    Incomplete,
    /// There is none yet.
    Never,
    /// It is under way.
    Running,
    /// It brought everything.
    Ok,
}

/// How many repositories fare so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct HealthCounts {
    /// [`Health::Failing`]
    pub failing: u64,
    /// [`Health::Incomplete`]
    pub incomplete: u64,
    /// [`Health::Never`]
    pub never: u64,
    /// [`Health::Running`]
    pub running: u64,
    /// [`Health::Ok`]
    pub ok: u64,
}

/// How a repository fares, in a statement that has its last harvest beside it. That of a job is as alive as the job,
/// whose lease alone is made longer between pages; what a job leaves is ended by whoever clears it away.
pub(crate) const HEALTH: &str = "CASE WHEN history.id IS NULL THEN 'never'
         WHEN history.state = 'running' AND history.lease_until < {now} AND history.job_id IS NULL
             THEN 'failing'
         WHEN history.state = 'failed' THEN 'failing'
         WHEN history.state = 'cancelled' THEN 'incomplete' ELSE history.state END AS health";

/// Repositories, each with its last harvest.
pub(crate) const WITH_LAST: &str = "FROM repository LEFT JOIN history ON history.id =
         (SELECT max(last.id) FROM history AS last WHERE last.repository_id = repository.id)";

impl Catalog {
    /// How many repositories fare how.
    pub async fn health_counts(&self) -> Result<HealthCounts, Error> {
        let sql = format!(
            "SELECT health, count(*) AS number FROM (SELECT {HEALTH} {WITH_LAST}) AS each_one GROUP BY health"
        );
        let mut counts = HealthCounts::default();
        for row in self.database.list().await?.rows(&sql, []).await? {
            *counts.of(health(&row)?) += row.count("number")?;
        }
        Ok(counts)
    }
}

pub(crate) fn health(row: &Row) -> Result<Health, Error> {
    Ok(match row.text("health")?.as_str() {
        "never" => Health::Never,
        "running" => Health::Running,
        "ok" => Health::Ok,
        "incomplete" => Health::Incomplete,
        _ => Health::Failing,
    })
}

impl HealthCounts {
    fn of(&mut self, health: Health) -> &mut u64 {
        match health {
            Health::Failing => &mut self.failing,
            Health::Incomplete => &mut self.incomplete,
            Health::Never => &mut self.never,
            Health::Running => &mut self.running,
            Health::Ok => &mut self.ok,
        }
    }
}
