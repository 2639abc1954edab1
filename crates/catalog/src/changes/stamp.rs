//! Documents are stamped with the group of the transaction that changes them.

use super::group::{Kind, open};
use super::{OF_DOCUMENTS, UNLISTED, tombstones};
use crate::Error;
use crate::database::Transaction;
use crate::database::rows::{BATCH, batch};

/// The number with which a transaction stamps `rows` documents that it writes itself.
pub(crate) async fn open_documents(
    transaction: &mut Transaction,
    rows: usize,
) -> Result<i64, Error> {
    open(transaction, Kind::Documents, OF_DOCUMENTS, rows).await
}

/// Stamps documents that changed: their content, its type, kind or decision, or what is known about where they were found.
pub(crate) async fn stamp_documents(
    transaction: &mut Transaction,
    ids: &[i64],
) -> Result<(), Error> {
    stamp(transaction, "id", ids).await
}

/// Stamps all documents that have one of these contents.
pub(crate) async fn stamp_contents(
    transaction: &mut Transaction,
    contents: &[i64],
) -> Result<(), Error> {
    stamp(transaction, "content_id", contents).await
}

/// Tells that documents are gone. To be called while they are there; afterwards they may be deleted, or stay where lists of
/// changes do not look.
pub(crate) async fn stamp_removed_documents(
    transaction: &mut Transaction,
    ids: &[i64],
) -> Result<(), Error> {
    for part in ids.chunks(BATCH) {
        tombstones::bury_documents(transaction, part).await?;
        let sql = "UPDATE document SET change_id = $2 WHERE id {integers($1)}";
        let keys: Vec<_> = part.iter().map(|id| (id,)).collect();
        transaction
            .execute(sql, [batch(&keys), UNLISTED.into()])
            .await?;
    }
    Ok(())
}

/// Tells that documents are back under the numbers that they had.
pub(crate) async fn stamp_restored_documents(
    transaction: &mut Transaction,
    ids: &[i64],
) -> Result<(), Error> {
    tombstones::revive_documents(transaction, ids).await?;
    stamp_documents(transaction, ids).await
}

async fn stamp(transaction: &mut Transaction, column: &str, ids: &[i64]) -> Result<(), Error> {
    if ids.is_empty() {
        return Ok(());
    }
    let group = open_documents(transaction, 0).await?;
    let mut stamped = 0;
    for part in ids.chunks(BATCH) {
        let keys: Vec<_> = part.iter().map(|id| (id,)).collect();
        let sql = format!(
            "UPDATE document SET change_id = $2 WHERE {column} {{integers($1)}} AND change_id NOT IN ($2, {UNLISTED})"
        );
        stamped += transaction
            .execute(&sql, [batch(&keys), group.into()])
            .await?;
    }
    let stamped = usize::try_from(stamped).unwrap_or_default();
    open_documents(transaction, stamped).await?;
    Ok(())
}
