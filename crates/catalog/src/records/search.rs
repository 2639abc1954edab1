//! The words of records, by which [`RecordQuery::text`](crate::RecordQuery) finds them.
//!
//! They are not written with the pages, because to read every record once more would slow a harvest down. A harvest
//! that changed records is `unindexed` until somebody has read their files and handed over the words.

use serde::Serialize;

use crate::database::rows::{BATCH, batch};
use crate::database::{Row, Transaction};
use crate::records::words::{for_postgres, for_sqlite, of_repository, words};
use crate::{Catalog, Error};

/// A harvest that is over and whose changes cannot all be searched for yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unindexed {
    /// The number of its history entry.
    pub harvest: i64,
    /// How many pages it had committed; more, and there is more to read.
    pub pages: i64,
}

/// The searchable text of a record, beside its identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexedRecord<'a> {
    /// The number of the record.
    pub id: i64,
    /// Its name.
    pub title: Option<&'a str>,
    /// Its text; empty for a deleted record.
    pub text: &'a str,
}

/// How many bytes of words a statement takes at most, unless a single record has more.
const MOST_BYTES: usize = 1 << 20;

/// How long after its last page a harvest is left to the worker that did it.
pub(crate) const HELD_SECONDS: i64 = 20;

/// How long a record that could not be read waits to be tried again.
const TRY_AGAIN_SECONDS: i64 = 600;

/// How much of a title is kept, in characters.
const TITLE: usize = 500;

impl Catalog {
    /// Harvests that are over and whose words are to be read, the oldest first, but for those that the worker which did
    /// them is still expected to read. Their records are those that
    /// [`RecordQuery::changed_by`](crate::RecordQuery) gives.
    pub async fn unindexed(&self, limit: u64) -> Result<Vec<Unindexed>, Error> {
        let sql = "SELECT harvest_id, pages FROM unindexed
             WHERE held_until <= {now}
                 AND NOT EXISTS (SELECT 1 FROM history WHERE history.id = harvest_id AND state = 'running')
             ORDER BY harvest_id LIMIT $1";
        let mut transaction = self.database.read().await?;
        let rows = transaction.rows(sql, [limit.into()]).await?;
        rows.iter().map(unindexed).collect()
    }

    /// The changes of one harvest, if its words are to be read.
    pub async fn unindexed_by(&self, harvest: i64) -> Result<Option<Unindexed>, Error> {
        let sql = "SELECT harvest_id, pages FROM unindexed WHERE harvest_id = $1";
        let mut transaction = self.database.read().await?;
        let row = transaction.row(sql, [harvest.into()]).await?;
        row.as_ref().map(unindexed).transpose()
    }

    /// Keeps a harvest for the worker that reads its words, while it does.
    pub async fn hold_unindexed(&self, harvest: i64) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        let sql = "UPDATE unindexed SET held_until = {now} + $2 WHERE harvest_id = $1";
        let values = [harvest.into(), HELD_SECONDS.into()];
        transaction.execute(sql, values).await?;
        transaction.commit().await
    }

    /// Notes records whose files could not be read. [`Catalog::index_records`] forgets that again.
    pub async fn note_unread(&self, records: &[i64]) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        for part in records.chunks(BATCH) {
            let ids: Vec<_> = part.iter().map(|id| (id,)).collect();
            // A record may have been removed meanwhile.
            let sql = "INSERT INTO unread_record (record_id, tried)
                 SELECT id, {now} FROM record WHERE id {integers($1)}
                 ON CONFLICT (record_id) DO UPDATE SET tried = excluded.tried";
            transaction.execute(sql, [batch(&ids)]).await?;
        }
        transaction.commit().await
    }

    /// Records whose files could not be read and are to be tried again.
    pub async fn unread_records(&self, limit: u64) -> Result<Vec<i64>, Error> {
        let sql =
            "SELECT record_id FROM unread_record WHERE tried <= {now} - $1 ORDER BY tried LIMIT $2";
        let mut transaction = self.database.read().await?;
        let values = [TRY_AGAIN_SECONDS.into(), limit.into()];
        let rows = transaction.rows(sql, values).await?;
        rows.iter().map(|row| row.integer("record_id")).collect()
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
            let ids: Vec<_> = current.iter().map(|record| (record.id,)).collect();
            let sql = "DELETE FROM unread_record WHERE record_id {integers($1)}";
            transaction.execute(sql, [batch(&ids)]).await?;
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

fn unindexed(row: &Row) -> Result<Unindexed, Error> {
    Ok(Unindexed {
        harvest: row.integer("harvest_id")?,
        pages: row.integer("pages")?,
    })
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
