//! Retention of imports: their entries and skipped captures are removed, never documents.

use crate::database::rows::BATCH;
use crate::{Catalog, Error};

/// An import whose entry was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemovedImport {
    /// Its number.
    pub id: i64,
    /// When it began, in seconds.
    pub started: i64,
}

impl Catalog {
    /// Removes entries of imports that ended longer ago than this, and tells which. One that can be gone on with
    /// stays, and so does the last of each schedule, which the next one goes on behind.
    pub async fn remove_imports(
        &self,
        older_than_seconds: i64,
    ) -> Result<Vec<RemovedImport>, Error> {
        // A few at a time, so that imports that run are not kept waiting.
        let sql = format!(
            "DELETE FROM import WHERE state <> 'running' AND id IN (
                 SELECT id FROM import
                 WHERE state <> 'running' AND COALESCE(ended, started) < {{now}} - $1
                     AND NOT (state IN ('failed', 'cancelled') AND id IN (SELECT max(id) FROM import GROUP BY target))
                     AND id NOT IN (SELECT max(id) FROM import WHERE schedule_id IS NOT NULL GROUP BY schedule_id)
                 ORDER BY id LIMIT {BATCH})
             RETURNING id, started"
        );
        let mut removed = Vec::new();
        loop {
            let mut transaction = self.database.write().await?;
            let rows = transaction.rows(&sql, [older_than_seconds.into()]).await?;
            transaction.commit().await?;
            for row in &rows {
                removed.push(RemovedImport {
                    id: row.integer("id")?,
                    started: row.integer("started")?,
                });
            }
            if rows.len() < BATCH {
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
