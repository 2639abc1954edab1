//! The words of records, by which [`RecordQuery::text`](crate::RecordQuery) finds them.
//!
//! They are not written with the pages, because to read every record once more would slow a harvest down. A harvest
//! that changed records is `unindexed` until somebody has read their files and handed over the words.

use serde::Serialize;

use crate::database::Transaction;
use crate::rows::{BATCH, batch};
use crate::words::{for_postgres, for_sqlite, of_repository, words};
use crate::{Catalog, Error};

/// A harvest that is over and whose changes cannot all be searched for yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unindexed {
    /// The number of its history entry.
    pub harvest: i64,
    /// How many pages it had committed; more, and there is more to read.
    pub pages: i64,
}

/// What is to be found of a record, beside its identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexedRecord<'a> {
    /// The number of the record.
    pub id: i64,
    /// What it is called.
    pub title: Option<&'a str>,
    /// What it says; empty for one that is deleted.
    pub text: &'a str,
}

/// How many bytes of words a statement takes at most, unless a single record has more.
const MOST_BYTES: usize = 1 << 20;

/// How much of a title is kept, in characters.
const TITLE: usize = 500;

impl Catalog {
    /// Harvests that are over and whose words are to be read, the oldest first. Their records are those that
    /// [`RecordQuery::changed_by`](crate::RecordQuery) gives.
    pub async fn unindexed(&self, limit: u64) -> Result<Vec<Unindexed>, Error> {
        let sql = "SELECT harvest_id, pages FROM unindexed
             WHERE NOT EXISTS (SELECT 1 FROM history WHERE history.id = harvest_id AND state = 'running')
             ORDER BY harvest_id LIMIT $1";
        let mut transaction = self.database.read().await?;
        let rows = transaction.rows(sql, [limit.into()]).await?;
        rows.iter()
            .map(|row| {
                Ok(Unindexed {
                    harvest: row.integer("harvest_id")?,
                    pages: row.integer("pages")?,
                })
            })
            .collect()
    }

    /// Takes over the words of records that a harvest changed. Those that another has changed since are passed over:
    /// their words come with that one. Tells how many were written.
    pub async fn index_records(
        &self,
        harvest: i64,
        records: &[IndexedRecord<'_>],
    ) -> Result<u64, Error> {
        let mut written = 0;
        for records in records.chunks(BATCH) {
            let mut transaction = self.database.write().await?;
            let current = current(&mut transaction, harvest, records).await?;
            written += current.len() as u64;
            self.write_words(&mut transaction, &current).await?;
            transaction.commit().await?;
        }
        Ok(written)
    }

    /// Notes that the words of a harvest can be searched for. Tells whether that is all: a harvest that was gone on
    /// with meanwhile stays on the list.
    pub async fn indexed(&self, unindexed: &Unindexed) -> Result<bool, Error> {
        let mut transaction = self.database.write().await?;
        let sql = "DELETE FROM unindexed WHERE harvest_id = $1 AND pages = $2";
        let values = [unindexed.harvest.into(), unindexed.pages.into()];
        let done = transaction.execute(sql, values).await?;
        transaction.commit().await?;
        Ok(done > 0)
    }

    async fn write_words(
        &self,
        transaction: &mut Transaction,
        records: &[Current<'_>],
    ) -> Result<(), Error> {
        let titles: Vec<_> = records
            .iter()
            .map(|record| (record.id, record.title.as_deref()))
            .collect();
        // Rows that stay the same are not written: in PostgreSQL each would leave a dead one behind.
        let sql = "UPDATE record SET title = item.value->>1 FROM {each($1)}
             WHERE record.id = CAST(item.value->>0 AS BIGINT) AND record.title IS DISTINCT FROM item.value->>1";
        transaction.execute(sql, [batch(&titles)]).await?;

        let as_text = if self.database.is_sqlite() {
            for_sqlite
        } else {
            for_postgres
        };
        let (mut rows, mut bytes) = (Vec::new(), 0);
        for record in records {
            let words = as_text(&record.words());
            bytes += words.len();
            rows.push((record.id, words));
            if bytes > MOST_BYTES {
                replace(transaction, &std::mem::take(&mut rows)).await?;
                bytes = 0;
            }
        }
        replace(transaction, &rows).await
    }
}

/// A record as it is now, with what was read of it.
struct Current<'a> {
    id: i64,
    repository: i64,
    identifier: String,
    title: Option<String>,
    text: &'a str,
}

impl Current<'_> {
    fn words(&self) -> Vec<String> {
        let mut found = vec![of_repository(self.repository)];
        for text in [
            self.identifier.as_str(),
            self.title.as_deref().unwrap_or_default(),
            self.text,
        ] {
            found.append(&mut words(text));
        }
        found
    }
}

/// Those of the records that the harvest was the last to change, kept from other writers.
async fn current<'a>(
    transaction: &mut Transaction,
    harvest: i64,
    records: &[IndexedRecord<'a>],
) -> Result<Vec<Current<'a>>, Error> {
    let ids: Vec<_> = records.iter().map(|record| (record.id,)).collect();
    // A page holds its repository first and its records then. In another order each could wait for the other.
    let sql = "SELECT id FROM repository WHERE id IN (SELECT repository_id FROM record WHERE id {integers($1)})
         ORDER BY id {lock}";
    transaction.rows(sql, [batch(&ids)]).await?;
    let sql = "SELECT id, repository_id, COALESCE(identifier_in_full, identifier) AS identifier FROM record
         WHERE changed_by = $1 AND id {integers($2)}";
    let rows = transaction.rows(sql, [harvest.into(), batch(&ids)]).await?;
    let mut by_id: std::collections::HashMap<_, _> =
        records.iter().map(|record| (record.id, record)).collect();
    let mut current = Vec::with_capacity(rows.len());
    for row in rows {
        let id = row.integer("id")?;
        let Some(record) = by_id.remove(&id) else {
            continue;
        };
        let title = record
            .title
            .map(str::trim)
            .filter(|title| !title.is_empty());
        current.push(Current {
            id,
            repository: row.integer("repository_id")?,
            identifier: row.text("identifier")?,
            title: title.map(|title| title.chars().take(TITLE).collect()),
            text: record.text,
        });
    }
    Ok(current)
}

async fn replace<T: Serialize>(transaction: &mut Transaction, rows: &[T]) -> Result<(), Error> {
    if rows.is_empty() {
        return Ok(());
    }
    transaction.execute("{reword($1)}", [batch(rows)]).await?;
    Ok(())
}
