//! The horizon: no change that becomes visible from now on is stamped before it.

use crate::{Catalog, Error};

impl Catalog {
    /// Moves the horizon to the present, so that an answer may name it as its time.
    ///
    /// Waits for a transaction that is just being committed; on SQLite, for the one that is writing. Gives the horizon.
    pub async fn advance_horizon(&self) -> Result<i64, Error> {
        let mut transaction = self.database.read().await?;
        let sql = "SELECT at, {now} AS now FROM change_state";
        if let Some(row) = transaction.row(sql, []).await?
            && row.integer("at")? >= row.integer("now")?
        {
            return row.integer("at");
        }
        drop(transaction);
        let mut transaction = self.database.write().await?;
        let sql =
            "UPDATE change_state SET at = CASE WHEN clock.now > at THEN clock.now ELSE at END,
                 rank = CASE WHEN clock.now > at THEN 0 ELSE rank END
             FROM (SELECT {now} AS now) AS clock RETURNING at";
        let row = transaction.row(sql, []).await?;
        transaction.commit().await?;
        row.map_or(Ok(0), |row| row.integer("at"))
    }
}
