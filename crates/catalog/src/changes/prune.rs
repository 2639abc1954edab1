//! Groups that nothing is left of: all their rows changed again.

use crate::{Catalog, Error};

/// How many groups a transaction looks at.
const STEP: i64 = 2_000;

impl Catalog {
    /// Forgets groups of changes whose rows all belong to later ones, so that lists need not pass over them. Gives how many.
    pub async fn remove_empty_changes(&self) -> Result<u64, Error> {
        let sql = "DELETE FROM change_group WHERE id > $1 AND id <= $2 AND seq IS NOT NULL AND CASE
             WHEN initial = 1 AND kind = 0 THEN NOT EXISTS (SELECT 1 FROM record WHERE change_id = 0
                 AND metadata_prefix = change_group.metadata_prefix AND repository_id = change_group.repository_id)
             WHEN initial = 1 THEN NOT EXISTS (SELECT 1 FROM document WHERE change_id = 0)
             WHEN kind = 0 THEN NOT EXISTS (SELECT 1 FROM record WHERE change_id = change_group.id)
             WHEN kind = 1 THEN NOT EXISTS (SELECT 1 FROM document WHERE change_id = change_group.id)
             ELSE NOT EXISTS (SELECT 1 FROM tombstone WHERE change_id = change_group.id) END";
        let (mut removed, mut after) = (0, 0);
        loop {
            let mut transaction = self.database.write().await?;
            let step = "SELECT max(id) AS last FROM
                 (SELECT id FROM change_group WHERE id > $1 ORDER BY id LIMIT $2) AS step";
            let row = transaction.row(step, [after.into(), STEP.into()]).await?;
            let Some(last) = row.map_or(Ok(None), |row| row.maybe_integer("last"))? else {
                return Ok(removed);
            };
            removed += transaction
                .execute(sql, [after.into(), last.into()])
                .await?;
            transaction.commit().await?;
            after = last;
        }
    }
}
