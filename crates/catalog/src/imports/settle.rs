//! Imports that run, as others see them: those whose process is gone, or was not heard of for too long, are ended. They can
//! be gone on with.

use super::entry::SELECT;
use crate::database::{Row, Transaction};
use crate::jobs::lock_queue;
use crate::owner::{self, Present};
use crate::running::Running;
use crate::{Catalog, Error, JobLease};

/// An import that somebody is at.
pub(super) struct Held {
    pub(super) id: i64,
    pub(super) target: String,
    pub(super) is_exclusive: bool,
    owner: String,
}

impl Held {
    pub(super) fn refusal(&self, what: String, doing: String) -> Error {
        Error::Busy {
            what,
            doing,
            owner: owner::described(&self.owner),
        }
    }
}

impl Catalog {
    /// The numbers of imports that are running. Those that nobody is at any more are ended.
    pub async fn running_imports(&self) -> Result<Vec<i64>, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        let held = settle(&mut transaction, None).await?;
        transaction.commit().await?;
        Ok(held.iter().map(|held| held.id).collect())
    }
}

/// Ends imports that nobody is at, and that of the job which is to be gone on with; gives the others.
pub(super) async fn settle(
    transaction: &mut Transaction,
    own: Option<JobLease>,
) -> Result<Vec<Held>, Error> {
    let sql = SELECT.replacen("SELECT id", "SELECT target, exclusive, id", 1);
    let sql = format!("{sql} WHERE state = 'running' ORDER BY id");
    let mut present = Present::default();
    let mut held = Vec::new();
    for row in transaction.rows(&sql, []).await? {
        let id = row.integer("id")?;
        let owner = row.text("lease_owner")?;
        if is_held(transaction, own, &row, &mut present).await? {
            held.push(Held {
                id,
                target: row.text("target")?,
                is_exclusive: row.flag("exclusive")?,
                owner,
            });
            continue;
        }
        let reason = format!(
            "interrupted: {} was not heard of any more",
            owner::described(&owner)
        );
        let sql = "UPDATE import SET state = 'failed', ended = {now}, pinned = NULL, reason = $2
             WHERE id = $1 AND state = 'running'";
        transaction.execute(sql, [id.into(), reason.into()]).await?;
    }
    Ok(held)
}

/// Whether somebody else is at the import. A job whose worker is gone is put back.
async fn is_held(
    transaction: &mut Transaction,
    own: Option<JobLease>,
    row: &Row,
    present: &mut Present,
) -> Result<bool, Error> {
    Ok(match row.maybe_integer("job_id")? {
        Some(job) if own.is_some_and(|own| own.job == job) => false,
        Some(job) => match Running::one(transaction, job).await? {
            Some(running) => !(running.is_stale && running.release(transaction).await?),
            None => false,
        },
        None => row.integer("lease_left")? >= 0 && !present.is_gone(&row.text("lease_owner")?),
    })
}
