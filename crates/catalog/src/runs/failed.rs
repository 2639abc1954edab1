//! Runs that failed and were not followed by one that did not: what somebody has to look at.

use crate::database::Row;
use crate::{Catalog, Error, JobKind};

/// A run that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRun {
    /// Its number.
    pub id: i64,
    /// Its kind.
    pub kind: JobKind,
    /// Whether it is a job, which can be retried.
    pub is_job: bool,
    /// The repository that it is about.
    pub repository: Option<i64>,
    /// The name of the repository, or else its base URL.
    pub repository_name: Option<String>,
    /// Its schedule.
    pub schedule: Option<i64>,
    /// The target that runs share: repository, format and set, or the import.
    pub target: String,
    /// Why it failed.
    pub reason: String,
    /// When it failed, in seconds.
    pub at: i64,
}

/// Runs that failed, the latest first.
#[derive(Debug, Clone, Default)]
pub struct FailedRuns {
    /// The runs.
    pub runs: Vec<FailedRun>,
    /// Whether there are more than were asked for.
    pub is_cut: bool,
}

const JOBS: &str = "SELECT job.id, job.kind, CAST(1 AS BIGINT) AS is_job, job.repository_id,
         COALESCE(NULLIF(repository.name, ''), repository.base_url) AS name, job.schedule_id,
         job.metadata_prefix || ' ' || job.set_spec AS target, job.error AS reason, job.finished AS at
     FROM job LEFT JOIN repository ON repository.id = job.repository_id
     WHERE job.state = 'failed' AND job.finished >= {now} - $1
         AND NOT EXISTS (SELECT 1 FROM job AS later
             WHERE later.repository_id = job.repository_id AND later.id > job.id AND later.state = 'finished'
                 AND later.kind = job.kind AND later.metadata_prefix = job.metadata_prefix
                 AND later.set_spec = job.set_spec)
         AND NOT EXISTS (SELECT 1 FROM job AS later
             WHERE later.schedule_id = job.schedule_id AND later.id > job.id AND later.state = 'finished')
     ORDER BY job.finished DESC LIMIT $2";
const HARVESTS: &str = "SELECT history.run_id AS id, 'harvest' AS kind, CAST(0 AS BIGINT) AS is_job, history.repository_id,
         COALESCE(NULLIF(repository.name, ''), repository.base_url) AS name, history.schedule_id,
         history.metadata_prefix || ' ' || history.set_spec AS target, history.failure_reason AS reason,
         history.ended AS at
     FROM history JOIN repository ON repository.id = history.repository_id
     WHERE history.state = 'failed' AND history.job_id IS NULL AND history.ended >= {now} - $1
         AND NOT EXISTS (SELECT 1 FROM history AS later
             WHERE later.repository_id = history.repository_id AND later.id > history.id
                 AND later.state IN ('ok', 'incomplete') AND later.metadata_prefix = history.metadata_prefix
                 AND later.set_spec = history.set_spec)
     ORDER BY history.ended DESC LIMIT $2";
const IMPORTS: &str = "SELECT import.run_id AS id, 'import' AS kind, CAST(0 AS BIGINT) AS is_job, CAST(NULL AS BIGINT) AS repository_id,
         CAST(NULL AS TEXT) AS name, import.schedule_id, import.target AS target, import.reason AS reason,
         import.ended AS at
     FROM import
     WHERE import.state = 'failed' AND import.job_id IS NULL AND import.ended >= {now} - $1
         AND NOT EXISTS (SELECT 1 FROM import AS later
             WHERE later.target = import.target AND later.id > import.id AND later.state IN ('ok', 'incomplete'))
     ORDER BY import.ended DESC LIMIT $2";

impl Catalog {
    /// At most `limit` runs that failed in the last `seconds`, the latest first, unless a later run of the same came to
    /// its end.
    pub async fn failed_runs(&self, seconds: i64, limit: u64) -> Result<FailedRuns, Error> {
        let mut transaction = self.database.list().await?;
        let mut runs = Vec::new();
        for sql in [JOBS, HARVESTS, IMPORTS] {
            let values = [seconds.into(), limit.saturating_add(1).into()];
            for row in transaction.rows(sql, values).await? {
                runs.push(failed(&row)?);
            }
        }
        runs.sort_by_key(|run| std::cmp::Reverse((run.at, run.id)));
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let is_cut = runs.len() > most;
        runs.truncate(most);
        Ok(FailedRuns { runs, is_cut })
    }
}

fn failed(row: &Row) -> Result<FailedRun, Error> {
    Ok(FailedRun {
        id: row.integer("id")?,
        kind: JobKind::parse(&row.text("kind")?).unwrap_or(JobKind::Hook),
        is_job: row.flag("is_job")?,
        repository: row.maybe_integer("repository_id")?,
        repository_name: row.maybe_text("name")?,
        schedule: row.maybe_integer("schedule_id")?,
        target: row.text("target")?,
        reason: row.maybe_text("reason")?.unwrap_or_default(),
        at: row.maybe_integer("at")?.unwrap_or_default(),
    })
}
