//! Where the files of the collection lie: where the first import put them.

use crate::imports::lock_collection;
use crate::{Catalog, Error};

impl Catalog {
    /// Where the files lie: a directory, or an empty text for that of the holdings. `None` before the first import.
    pub async fn collection_place(&self) -> Result<Option<String>, Error> {
        let sql = "SELECT place FROM collection_state";
        let row = self.database.read().await?.row(sql, []).await?;
        row.map_or(Ok(None), |row| row.maybe_text("place"))
    }

    /// Says where the files are to lie, and tells where they do: elsewhere if there are some already.
    pub async fn settle_place(&self, place: &str) -> Result<String, Error> {
        if self.collection_place().await?.as_deref() == Some(place) {
            return Ok(place.to_owned());
        }
        let mut transaction = self.database.write().await?;
        lock_collection(&mut transaction).await?;
        let sql = "UPDATE collection_state SET place = $1 WHERE place IS NULL
             OR NOT (EXISTS (SELECT 1 FROM content) OR EXISTS (SELECT 1 FROM import WHERE state = 'running'))";
        transaction.execute(sql, [place.into()]).await?;
        let sql = "SELECT place FROM collection_state";
        let row = transaction.row(sql, []).await?;
        let settled = row.map_or(Ok(None), |row| row.maybe_text("place"))?;
        transaction.commit().await?;
        Ok(settled.unwrap_or_default())
    }
}
