//! Workers: which processes run jobs, as they report themselves.

use std::collections::HashMap;
use std::time::Duration;

use super::job::tags;
use super::owner::{self, Present};
use crate::database::rows::batch;
use crate::{Catalog, Error, JobKind};

/// A process with workers, as it reports itself.
#[derive(Debug, Clone)]
pub struct WorkerReport<'a> {
    /// The name of its workers, beside that of the process.
    pub name: &'a str,
    /// The kinds of jobs that they run.
    pub kinds: &'a [JobKind],
    /// Their tags.
    pub tags: &'a [String],
    /// How many jobs run there at once.
    pub threads: usize,
}

/// A process with workers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// Its name, in words.
    pub name: String,
    /// The machine that it runs on.
    pub machine: String,
    /// The version of its program; none of one that does not tell it.
    pub version: Option<String>,
    /// The kinds of jobs that it runs.
    pub kinds: Vec<JobKind>,
    /// Its tags: it takes jobs that need some of these, or none.
    pub tags: Vec<String>,
    /// How many jobs it runs at once.
    pub threads: u64,
    /// When it started, in seconds.
    pub started: i64,
    /// When it was last heard of, in seconds.
    pub seen: i64,
    /// The numbers of the jobs that it runs.
    pub jobs: Vec<i64>,
}

impl Catalog {
    /// How often a process has to report its workers to count as alive.
    pub const WORKER_REPORTS: Duration = Duration::from_secs(15);

    /// Reports the workers of this process. Those that were not heard of for a day are forgotten.
    pub async fn report_worker(&self, report: &WorkerReport<'_>) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        let sql = "DELETE FROM worker WHERE seen < {now} - 86400";
        transaction.execute(sql, []).await?;
        let sql = "INSERT INTO worker (owner, kinds, threads, tags, version, started, seen)
             VALUES ($1, $2, $3, $4, $5, {now}, {now})
             ON CONFLICT (owner) DO UPDATE
                 SET kinds = excluded.kinds, threads = excluded.threads, tags = excluded.tags,
                     version = excluded.version, seen = excluded.seen";
        let kinds: Vec<_> = report.kinds.iter().map(|kind| kind.name()).collect();
        let tags: Vec<_> = report.tags.iter().map(|tag| (tag,)).collect();
        let values = [
            owner::this_worker(report.name).into(),
            batch(&kinds),
            i64::try_from(report.threads).unwrap_or(i64::MAX).into(),
            batch(&tags),
            env!("CARGO_PKG_VERSION").into(),
        ];
        transaction.execute(sql, values).await?;
        transaction.commit().await
    }

    /// Forgets the workers of this process, which stop.
    pub async fn forget_worker(&self, name: &str) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        let sql = "DELETE FROM worker WHERE owner = $1";
        let values = [owner::this_worker(name).into()];
        transaction.execute(sql, values).await?;
        transaction.commit().await
    }

    /// The workers that are alive, those first that started first.
    pub async fn workers(&self) -> Result<Vec<Worker>, Error> {
        let sql = "SELECT owner, kinds, threads, tags, version, started, seen FROM worker
             WHERE seen BETWEEN {now} - $1 AND {now} + $1 ORDER BY started, owner";
        let silence = 4 * Self::WORKER_REPORTS.as_secs();
        let mut transaction = self.database.read().await?;
        let mut at_work: HashMap<String, Vec<i64>> = HashMap::new();
        let running = "SELECT id, lease_owner FROM job WHERE state = 'running' AND lease_owner IS NOT NULL ORDER BY id";
        for row in transaction.rows(running, []).await? {
            let jobs = at_work.entry(row.text("lease_owner")?).or_default();
            jobs.push(row.integer("id")?);
        }
        let mut present = Present::default();
        let mut workers = Vec::new();
        for row in transaction.rows(sql, [silence.into()]).await? {
            let owner = row.text("owner")?;
            if present.is_gone(&owner) {
                continue;
            }
            let kinds: Vec<String> = serde_json::from_str(&row.text("kinds")?).unwrap_or_default();
            workers.push(Worker {
                name: owner::described(&owner),
                machine: owner::host(&owner).to_owned(),
                version: row.maybe_text("version")?,
                jobs: at_work.remove(&owner).unwrap_or_default(),
                kinds: kinds
                    .iter()
                    .filter_map(|kind| JobKind::parse(kind))
                    .collect(),
                tags: tags(row.maybe_text("tags")?.as_deref()),
                threads: row.count("threads")?,
                started: row.integer("started")?,
                seen: row.integer("seen")?,
            });
        }
        Ok(workers)
    }
}
