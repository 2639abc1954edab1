//! How the queue stands: everything that decides whether a job that is due can be run now.

use super::lease::Holder;
use super::owner::{self, Present};
use crate::{Catalog, Error, JobKind, Worker};

/// Everything that can hold a job that waits. It is about what runs, so it is small however long the queue is.
#[derive(Debug, Clone, Default)]
pub struct QueueStanding {
    /// The time of the database, in seconds.
    pub now: i64,
    /// How many jobs may run at one host; 0 is no limit.
    pub per_host: u64,
    /// The jobs that run, by their numbers.
    pub running: Vec<JobAtWork>,
    /// The harvests of commands.
    pub commands: Vec<CommandAtWork>,
    /// The workers that are alive.
    pub workers: Vec<Worker>,
}

/// A job that runs, as far as it keeps others waiting.
#[derive(Debug, Clone)]
pub struct JobAtWork {
    /// Its number.
    pub id: i64,
    /// Its kind.
    pub kind: JobKind,
    /// The key of jobs that never run at once with it.
    pub exclusive: Option<String>,
    /// The host whose slot it has.
    pub host: Option<String>,
    /// The action on its subject, in words: "being harvested".
    pub doing: String,
    /// The holder, in words.
    pub holder: String,
}

/// A harvest that a command runs, without a job.
#[derive(Debug, Clone)]
pub struct CommandAtWork {
    /// The number of its history entry.
    pub harvest: i64,
    /// The number of the repository.
    pub repository: i64,
    /// Its process, in words.
    pub holder: String,
}

impl Catalog {
    /// How the queue stands at this moment.
    pub async fn queue_standing(&self) -> Result<QueueStanding, Error> {
        let mut transaction = self.database.read().await?;
        let sql = "SELECT {now} AS now, per_host FROM queue_limit";
        let row = transaction.row(sql, []).await?;
        let (now, per_host) = match row {
            Some(row) => (row.integer("now")?, row.count("per_host")?),
            None => (0, 0),
        };
        let sql = "SELECT job.id, kind, exclusive, host_slot.host, lease_owner, parameters
             FROM job LEFT JOIN host_slot ON host_slot.job_id = job.id
             WHERE state = 'running' ORDER BY job.id";
        let mut running = Vec::new();
        for row in transaction.rows(sql, []).await? {
            let kind = JobKind::parse(&row.text("kind")?).unwrap_or(JobKind::Hook);
            running.push(JobAtWork {
                id: row.integer("id")?,
                kind,
                exclusive: row.maybe_text("exclusive")?,
                host: row.maybe_text("host")?,
                doing: kind.doing(&row.text("parameters")?),
                holder: owner::described(&row.maybe_text("lease_owner")?.unwrap_or_default()),
            });
        }
        let sql =
            "SELECT id, repository_id, lease_owner, lease_until - {now} AS lease_left FROM history
             WHERE state = 'running' AND job_id IS NULL";
        let mut present = Present::default();
        let mut commands = Vec::new();
        for row in transaction.rows(sql, []).await? {
            let holder = Holder::of(&row, &mut present)?;
            if !holder.is_stale {
                commands.push(CommandAtWork {
                    harvest: row.integer("id")?,
                    repository: row.integer("repository_id")?,
                    holder: owner::described(&holder.owner),
                });
            }
        }
        drop(transaction);
        Ok(QueueStanding {
            now,
            per_host,
            running,
            commands,
            workers: self.workers().await?,
        })
    }
}
