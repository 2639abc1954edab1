//! Leases: the right to write for a row until another takes it over.
//!
//! Jobs, harvests and imports are leased alike. `lease_owner` names the holder, `lease_token` counts how often the row was
//! taken, and `lease_until` is the time from which others may take it. Every write carries the token, so a holder that was
//! only slow writes nothing once another has the row. The clock is the database's.

use std::time::Duration;

use super::owner::{self, Present};
use crate::database::{Row, Transaction};
use crate::{Error, JobLease};

/// A lease is at most this long, in seconds. A longer one was given while the clock was ahead.
pub(crate) const LONGEST_LEASE: i64 = 24 * 60 * 60;

/// A lease in seconds.
pub(crate) fn seconds(lease: Duration) -> i64 {
    let seconds = i64::try_from(lease.as_secs()).unwrap_or(LONGEST_LEASE);
    seconds.min(LONGEST_LEASE)
}

/// A table whose rows are leased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leased {
    Job,
    Harvest,
    Import,
}

impl Leased {
    /// The tables whose rows may belong to a job.
    pub(crate) const WORK: [Self; 2] = [Self::Harvest, Self::Import];

    pub(crate) fn table(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::Harvest => "history",
            Self::Import => "import",
        }
    }

    fn lost(self, id: i64) -> Error {
        match self {
            Self::Job => Error::JobLost { job: id },
            Self::Harvest => Error::LeaseLost { run: id },
            Self::Import => Error::ImportLost { import: id },
        }
    }
}

/// The lease of one row, and that of the job which the row belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lease {
    pub(crate) of: Leased,
    pub(crate) id: i64,
    pub(crate) token: i64,
    pub(crate) seconds: i64,
    pub(crate) job: Option<JobLease>,
}

impl Lease {
    /// Refuses early if another has the row. [`Lease::keep`] has the last word.
    pub(crate) async fn check(&self, transaction: &mut Transaction) -> Result<(), Error> {
        let sql = format!(
            "SELECT id FROM {} WHERE id = $1 AND lease_token = $2 AND state = 'running'",
            self.of.table()
        );
        let values = [self.id.into(), self.token.into()];
        let row = transaction.row(&sql, values).await?;
        row.map(drop).ok_or(self.of.lost(self.id))
    }

    /// Makes the lease longer; refuses if another has the row, or its job.
    ///
    /// A long transaction does this last, so that beats and those who cancel the job need not wait for it. The job comes
    /// before the row, as for those who take a job from its worker.
    pub(crate) async fn keep(&self, transaction: &mut Transaction) -> Result<(), Error> {
        self.hold_job(transaction).await?;
        self.renew(transaction).await
    }

    /// Makes the lease longer; refuses if another has the row.
    pub(crate) async fn renew(&self, transaction: &mut Transaction) -> Result<(), Error> {
        let sql = format!(
            "UPDATE {} SET lease_until = {{now}} + $3 WHERE id = $1 AND lease_token = $2 AND state = 'running'",
            self.of.table()
        );
        let values = [self.id.into(), self.token.into(), self.seconds.into()];
        match transaction.execute(&sql, values).await? {
            1 => Ok(()),
            _ => Err(self.of.lost(self.id)),
        }
    }

    /// Refuses if another has the job, and keeps it from being taken until the end of the transaction.
    pub(crate) async fn hold_job(&self, transaction: &mut Transaction) -> Result<(), Error> {
        let Some(lease) = self.job else { return Ok(()) };
        let sql =
            "SELECT id FROM job WHERE id = $1 AND lease_token = $2 AND state = 'running' {lock}";
        let values = [lease.job.into(), lease.token.into()];
        let row = transaction.row(sql, values).await?;
        row.map(drop).ok_or(self.of.lost(self.id))
    }
}

/// Names the holder of a row that is begun: the worker of `job`, or this process. Refuses if another has the job,
/// and keeps it from being taken until the end of the transaction.
pub(crate) async fn new_holder(
    transaction: &mut Transaction,
    job: Option<JobLease>,
) -> Result<String, Error> {
    let Some(lease) = job else {
        return Ok(owner::this_process());
    };
    let sql = "SELECT lease_owner FROM job WHERE id = $1 AND lease_token = $2 AND state = 'running' {lock}";
    let values = [lease.job.into(), lease.token.into()];
    let row = transaction.row(sql, values).await?;
    let row = row.ok_or(Error::JobLost { job: lease.job })?;
    let worker = row.maybe_text("lease_owner")?;
    Ok(worker.unwrap_or_else(owner::this_process))
}

/// The holder of a row that runs, as others see it.
pub(crate) struct Holder {
    pub(crate) owner: String,
    /// Whether its process ended for certain.
    pub(crate) is_gone: bool,
    /// Whether others may take the row: the holder is gone, or its lease has run out.
    pub(crate) is_stale: bool,
}

impl Holder {
    /// Reads `lease_owner` and `lease_left`, the seconds that the lease has to go.
    pub(crate) fn of(row: &Row, present: &mut Present) -> Result<Self, Error> {
        let owner = row.maybe_text("lease_owner")?.unwrap_or_default();
        let left = row.maybe_integer("lease_left")?.unwrap_or(-1);
        let is_gone = present.is_gone(&owner);
        Ok(Self {
            owner,
            is_gone,
            is_stale: is_gone || !(0..=LONGEST_LEASE).contains(&left),
        })
    }

    /// The refusal for those who want the same row.
    pub(crate) fn refusal(&self, what: String, doing: String) -> Error {
        Error::Busy {
            what,
            doing,
            owner: owner::described(&self.owner),
        }
    }
}

/// Ends the harvest and the import of a job that its worker did not end. They can be resumed.
pub(crate) async fn interrupt_work(
    transaction: &mut Transaction,
    job: i64,
    reason: &str,
) -> Result<(), Error> {
    for work in Leased::WORK {
        interrupt(transaction, work, "job_id", job, reason).await?;
    }
    Ok(())
}

/// Ends a harvest or an import that nobody works on any more. It can be resumed.
pub(crate) async fn interrupt(
    transaction: &mut Transaction,
    work: Leased,
    column: &str,
    id: i64,
    reason: &str,
) -> Result<(), Error> {
    let cause = match work {
        Leased::Job => "error = $2",
        Leased::Harvest => "failure_reason = $2",
        Leased::Import => "reason = $2, pinned = NULL",
    };
    let sql = format!(
        "UPDATE {} SET state = 'failed', ended = {{now}}, {cause} WHERE {column} = $1 AND state = 'running'",
        work.table()
    );
    let reason = format!("interrupted: {reason}");
    transaction
        .execute(&sql, [id.into(), reason.into()])
        .await?;
    Ok(())
}
