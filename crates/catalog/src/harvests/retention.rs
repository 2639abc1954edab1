//! Retention of the history: entries that are removed, and those that stay.

use crate::database::rows::BATCH;
use crate::{Catalog, Error};

/// The columns that successive harvests of one target share.
const TARGET: &str = "repository_id, metadata_prefix, set_spec";

impl Catalog {
    /// Removes entries of harvests that ended longer ago than this, and tells how many. What later harvests need stays:
    /// of each repository, format and set the last one that can be built upon, and one that can be gone on with. So
    /// does, if wanted, the last of each.
    pub async fn remove_history(
        &self,
        older_than_seconds: i64,
        keep_last_per_target: bool,
    ) -> Result<u64, Error> {
        let kept = if keep_last_per_target {
            "true"
        } else {
            "state IN ('failed', 'cancelled') AND resume_state IS NOT NULL"
        };
        // A few at a time, so that harvests that run are not kept waiting.
        let sql = format!(
            "DELETE FROM history WHERE state <> 'running' AND id IN (
                 SELECT id FROM history
                 WHERE state <> 'running' AND COALESCE(ended, started) < {{now}} - $1
                     AND id NOT IN (SELECT max(id) FROM history
                         WHERE state IN ('ok', 'incomplete') AND next_from IS NOT NULL GROUP BY {TARGET})
                     AND NOT ({kept} AND id IN (SELECT max(id) FROM history GROUP BY {TARGET}))
                 ORDER BY id LIMIT {BATCH})"
        );
        let mut removed = 0;
        loop {
            let mut transaction = self.database.write().await?;
            let some = transaction
                .execute(&sql, [older_than_seconds.into()])
                .await?;
            transaction.commit().await?;
            removed += some;
            if some < BATCH as u64 {
                return Ok(removed);
            }
        }
    }
}
