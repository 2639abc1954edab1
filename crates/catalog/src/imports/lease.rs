//! The lock of the collection, and the heartbeat of an import.

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
        import.lease.keep(&mut transaction).await?;
        transaction.commit().await
    }
}
