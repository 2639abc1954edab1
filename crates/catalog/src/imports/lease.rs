//! The fence of an import: whoever writes for it holds its lease, and that of its job.

use super::Import;
use crate::database::Transaction;
use crate::{Catalog, Error};

/// Any number that nobody else locks in the same PostgreSQL database: letters of the name, two more than migrations
/// take.
const COLLECTION: i64 = 0x67_61_72_6e_65_74;

/// Lets one transaction at a time write to the collection.
///
/// Each looks at documents and contents before it writes them. This lock comes where that on a repository does: after
/// the queue's, before those on a job and an import.
pub(crate) async fn lock_collection(transaction: &mut Transaction) -> Result<(), Error> {
    transaction.take(COLLECTION).await
}

impl Catalog {
    /// Tells that the import is still running, where a group takes long.
    pub async fn beat_import(&self, import: &Import) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        keep(&mut transaction, import).await?;
        transaction.commit().await
    }
}

/// Makes the lease longer, or finds out that it, or that of the job, is another's.
///
/// That is done last, so that beats and whoever cancels the job need not wait for all of a group. The job comes before
/// the import, as for those who take a job from its worker.
pub(super) async fn keep(transaction: &mut Transaction, import: &Import) -> Result<(), Error> {
    let lost = Error::ImportLost { import: import.id };
    if let Some(lease) = import.job {
        let sql =
            "SELECT id FROM job WHERE id = $1 AND lease_token = $2 AND state = 'running' {lock}";
        let values = [lease.job.into(), lease.token.into()];
        if transaction.row(sql, values).await?.is_none() {
            return Err(lost);
        }
    }
    let sql = "UPDATE import SET lease_until = {now} + $3
         WHERE id = $1 AND lease_token = $2 AND state = 'running'";
    let values = [import.id.into(), import.token.into(), import.lease.into()];
    match transaction.execute(sql, values).await? {
        1 => Ok(()),
        _ => Err(lost),
    }
}

/// Finds out early that the lease is another's, before a group is looked at. It is kept at the end.
pub(super) async fn check(transaction: &mut Transaction, import: &Import) -> Result<(), Error> {
    let sql = "SELECT id FROM import WHERE id = $1 AND lease_token = $2 AND state = 'running'";
    let values = [import.id.into(), import.token.into()];
    match transaction.row(sql, values).await? {
        Some(_) => Ok(()),
        None => Err(Error::ImportLost { import: import.id }),
    }
}
