//! Imports that run, as others see them. Those whose process is gone, or was not heard of for too long, are ended; they
//! can be resumed.

use crate::database::{Row, Transaction};
use crate::imports::entry::SELECT;
use crate::queue::jobs::lock_queue;
use crate::queue::lease::{Holder, Leased, interrupt};
use crate::queue::owner::{self, Present};
use crate::queue::running::Running;
use crate::{Catalog, Error, JobLease};

/// An import that another holds.
pub(crate) struct OtherImport {
    pub(crate) id: i64,
    pub(crate) target: String,
    pub(crate) is_exclusive: bool,
    pub(crate) holder: Holder,
}

impl Catalog {
    /// The numbers of imports that are running. Those that nobody works on any more are ended.
    pub async fn running_imports(&self) -> Result<Vec<i64>, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        let others = others(&mut transaction, None).await?;
        transaction.commit().await?;
        Ok(others.iter().map(|other| other.id).collect())
    }
}

/// Ends imports that nobody works on, and that of the job `own`, which is resumed; gives the others.
pub(crate) async fn others(
    transaction: &mut Transaction,
    own: Option<JobLease>,
) -> Result<Vec<OtherImport>, Error> {
    let sql = SELECT.replacen("SELECT id", "SELECT target, exclusive, id", 1);
    let sql = format!("{sql} WHERE state = 'running' ORDER BY id");
    let mut present = Present::default();
    let mut others = Vec::new();
    for row in transaction.rows(&sql, []).await? {
        let (id, holder) = (row.integer("id")?, Holder::of(&row, &mut present)?);
        if is_held(transaction, own, &row, &holder).await? {
            others.push(OtherImport {
                id,
                target: row.text("target")?,
                is_exclusive: row.flag("exclusive")?,
                holder,
            });
            continue;
        }
        let reason = format!(
            "{} was not heard of any more",
            owner::described(&holder.owner)
        );
        interrupt(transaction, Leased::Import, "id", id, &reason).await?;
    }
    Ok(others)
}

/// Whether somebody else works on the import. A job whose worker is gone is put back.
async fn is_held(
    transaction: &mut Transaction,
    own: Option<JobLease>,
    row: &Row,
    holder: &Holder,
) -> Result<bool, Error> {
    Ok(match row.maybe_integer("job_id")? {
        Some(job) if own.is_some_and(|own| own.job == job) => false,
        Some(job) => match Running::one(transaction, job).await? {
            Some(running) => !(running.holder.is_stale && running.release(transaction).await?),
            None => false,
        },
        None => !holder.is_stale,
    })
}
