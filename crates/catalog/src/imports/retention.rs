//! What is forgotten of imports: their entries and what they skipped, never documents.

use crate::rows::BATCH;
use crate::{Catalog, Error};

impl Catalog {
    /// Removes entries of imports that ended longer ago than this, and tells how many. One that can be gone on with
    /// stays, and so does, if wanted, the last of each.
    pub async fn remove_imports(
        &self,
        older_than_seconds: i64,
        keep_last_of_each: bool,
    ) -> Result<u64, Error> {
        let kept = if keep_last_of_each {
            "true"
        } else {
            "state = 'failed'"
        };
        // A few at a time, so that imports that run are not kept waiting.
        let sql = format!(
            "DELETE FROM import WHERE state <> 'running' AND id IN (
                 SELECT id FROM import
                 WHERE state <> 'running' AND COALESCE(ended, started) < {{now}} - $1
                     AND NOT ({kept} AND id IN (SELECT max(id) FROM import GROUP BY target))
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

    /// Removes the entry of an import that is not running; documents stay. Tells whether there was one.
    pub async fn remove_import(&self, id: i64) -> Result<bool, Error> {
        let mut transaction = self.database.write().await?;
        let sql = "DELETE FROM import WHERE id = $1 AND state <> 'running'";
        let removed = transaction.execute(sql, [id.into()]).await?;
        transaction.commit().await?;
        Ok(removed > 0)
    }
}
