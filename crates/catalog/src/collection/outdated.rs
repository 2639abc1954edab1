//! Contents whose `.met` files do not tell yet what the catalog knows of them.
//!
//! They are noted with what changed, in one transaction, so that a kill costs none; and forgotten when their files were
//! written, unless something changed meanwhile.

use std::collections::HashSet;

use super::DocumentEntry;
use super::documents::{document, select};
use crate::database::Transaction;
use crate::database::rows::{BATCH, batch};
use crate::imports::{changed, lock_collection};
use crate::{Catalog, Error};

/// A content whose `.met` file is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OutdatedMet {
    /// The number of the content.
    pub content: i64,
    /// When that became so.
    pub stamp: i64,
}

impl Catalog {
    /// Contents behind a number whose `.met` files are to be written, in the order of their numbers.
    pub async fn outdated_mets(&self, after: i64, limit: u64) -> Result<Vec<OutdatedMet>, Error> {
        let sql = "SELECT content_id, stamp FROM outdated_met WHERE content_id > $1 ORDER BY content_id LIMIT $2";
        let values = [after.into(), limit.into()];
        let rows = self.database.read().await?.rows(sql, values).await?;
        let outdated = rows.iter().map(|row| {
            Ok(OutdatedMet {
                content: row.integer("content_id")?,
                stamp: row.integer("stamp")?,
            })
        });
        outdated.collect()
    }

    /// Notes that these `.met` files were written. One that another wrote meanwhile, who may have known more, is to be
    /// written once more.
    pub async fn mets_written(&self, written: &[OutdatedMet]) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        lock_collection(&mut transaction).await?;
        for part in written.chunks(BATCH) {
            let keys: Vec<_> = part.iter().map(|met| (met.content, met.stamp)).collect();
            let sql = "DELETE FROM outdated_met WHERE content_id {integers($1)} AND EXISTS (SELECT 1 FROM {each($1)}
                     WHERE CAST(item.value->>0 AS BIGINT) = content_id AND CAST(item.value->>1 AS BIGINT) = stamp)
                 RETURNING content_id";
            let rows = transaction.rows(sql, [batch(&keys)]).await?;
            let done = rows.iter().map(|row| row.integer("content_id"));
            let done: HashSet<_> = done.collect::<Result<_, _>>()?;
            let again = part.iter().map(|met| met.content);
            let again: Vec<_> = again.filter(|content| !done.contains(content)).collect();
            outdate(&mut transaction, &again).await?;
        }
        changed(&mut transaction).await?;
        transaction.commit().await
    }

    /// Documents that have a content, and those that had it once with when they were last crawled with it.
    pub async fn documents_with(
        &self,
        content: i64,
        limit: u64,
    ) -> Result<Vec<(DocumentEntry, Option<i64>)>, Error> {
        let mut transaction = self.database.read().await?;
        let sql = format!(
            "{} WHERE document.content_id = $1 ORDER BY document.id LIMIT $2",
            select()
        );
        let values = [content.into(), limit.into()];
        let rows = transaction.rows(&sql, values).await?;
        let mut documents = Vec::with_capacity(rows.len());
        for row in &rows {
            documents.push((document(row)?, None));
        }
        let sql = "SELECT document_id, crawl_date FROM version WHERE content_id = $1 ORDER BY document_id LIMIT $2";
        let values = [content.into(), limit.into()];
        for row in transaction.rows(sql, values).await? {
            let (id, crawl_date) = (row.integer("document_id")?, row.integer("crawl_date")?);
            let sql = format!("{} WHERE document.id = $1", select());
            if let Some(row) = transaction.row(&sql, [id.into()]).await? {
                documents.push((document(&row)?, Some(crawl_date)));
            }
        }
        Ok(documents)
    }
}

/// Notes that the `.met` files of contents are to be written. `changed` follows in the same transaction.
pub(crate) async fn outdate(transaction: &mut Transaction, contents: &[i64]) -> Result<(), Error> {
    let sql = "INSERT INTO outdated_met (content_id, stamp)
         SELECT content.id, (SELECT generation FROM collection_state)
         FROM {each($1)} JOIN content ON content.id = CAST(item.value->>0 AS BIGINT)
         WHERE true
         ON CONFLICT (content_id) DO UPDATE SET stamp = excluded.stamp";
    let contents: HashSet<_> = contents.iter().collect();
    let keys: Vec<_> = contents.into_iter().map(|content| (content,)).collect();
    for part in keys.chunks(BATCH) {
        transaction.execute(sql, [batch(part)]).await?;
    }
    Ok(())
}
