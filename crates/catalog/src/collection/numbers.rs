//! The numbers of the collection, for those who find files under numbers that were not given out here.

use crate::imports::lock_collection;
use crate::{Catalog, Error};

impl Catalog {
    /// The number that is given out next.
    pub async fn next_number(&self) -> Result<i64, Error> {
        let sql = "SELECT next_number FROM collection_state";
        let row = self.database.read().await?.row(sql, []).await?;
        row.map_or(Ok(1), |row| row.integer("next_number"))
    }

    /// Gives out no number up to this one any more.
    pub async fn raise_numbers(&self, greatest: i64) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        lock_collection(&mut transaction).await?;
        let sql = "UPDATE collection_state SET next_number = $1 + 1 WHERE next_number <= $1";
        transaction.execute(sql, [greatest.into()]).await?;
        transaction.commit().await
    }

    /// Whether no content has this number, nor ever will by itself.
    pub async fn is_content_free(&self, number: i64) -> Result<bool, Error> {
        Ok(number > 0
            && number < self.next_number().await?
            && self.content(number).await?.is_none()
            && self.trashed_numbers(&[number]).await?.is_empty())
    }

    /// Whether no document has this number, nor ever will by itself. A content of the same number may belong to others: a
    /// document keeps its number when it changes.
    pub async fn is_document_free(&self, number: i64) -> Result<bool, Error> {
        let sql = "SELECT next_number FROM collection_state WHERE next_number > $1
                 AND NOT EXISTS (SELECT 1 FROM document WHERE id = $1)
                 AND NOT EXISTS (SELECT 1 FROM trash WHERE document_id = $1)";
        let row = self
            .database
            .read()
            .await?
            .row(sql, [number.into()])
            .await?;
        Ok(number > 0 && row.is_some())
    }
}
