//! Catalogs as a whole: copied into another database, or into a file, as they stand at one moment.

mod tables;

use std::path::Path;

use futures_util::TryStreamExt;

use crate::database::rows::without_nul;
use crate::database::{Transaction, migrations};
use crate::{Catalog, Error};

use self::tables::Table;

/// How many rows of a table were copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedTable {
    /// The table.
    pub name: String,
    /// Its rows.
    pub rows: u64,
}

impl Catalog {
    /// The version of the tables.
    pub fn schema_version() -> i64 {
        migrations::newest()
    }

    /// Copies all of it into `target`, which has to be new. Both may be of either kind. What is written to this catalog
    /// meanwhile is not copied. `each` is called with the tables as they are done.
    ///
    /// All is written by one transaction, and the rows of both are compared at its end: a copy is whole or not there.
    /// The words of records and documents are left for the search to be read anew from their files.
    pub async fn copy_to(
        &self,
        target: &Self,
        each: &mut (dyn FnMut(&CopiedTable) + Send),
    ) -> Result<Vec<CopiedTable>, Error> {
        let mut from = self.database.read().await?;
        let mut to = target.database.write().await?;
        // Rows of the one are waited for while those of the other are written.
        for (transaction, database) in [(&mut from, &self.database), (&mut to, &target.database)] {
            if !database.is_sqlite() {
                let sql = "SET LOCAL idle_in_transaction_session_timeout = 0";
                transaction.script(sql).await?;
            }
        }
        if let Some(table) = tables::in_use(&mut to).await? {
            return Err(Error::CatalogInUse {
                location: target.location().to_owned(),
                table: table.to_owned(),
            });
        }
        let tables = tables::list(&self.database, &mut from, &target.database, &mut to).await?;
        for table in tables.iter().rev() {
            to.script(&format!("DELETE FROM {}", table.name)).await?;
        }
        let mut copied = Vec::new();
        for table in &tables {
            let rows = copy_table(table, self.database.is_sqlite(), &mut from, &mut to).await?;
            let arrived = tables::count(&mut to, &table.name).await?;
            if arrived != rows {
                return Err(Error::NotCopied {
                    table: table.name.clone(),
                    rows,
                    arrived,
                });
            }
            let done = CopiedTable {
                name: table.name.clone(),
                rows,
            };
            each(&done);
            copied.push(done);
        }
        tables::copy_sequences(&self.database, &mut from, &target.database, &mut to).await?;
        to.script(READ_AGAIN).await?;
        to.commit().await?;
        Ok(copied)
    }

    /// Writes all of it into a SQLite file that is not there or empty, as it stands at one moment. Others write meanwhile.
    pub async fn snapshot(&self, file: &Path) -> Result<(), Error> {
        if self.database.is_sqlite() {
            return self.database.vacuum_into(file).await;
        }
        let target = Self::open(&file.to_string_lossy()).await?;
        let copied = self.copy_to(&target, &mut |_| {}).await;
        target.database.fold_log().await?;
        target.close().await;
        copied.map(drop)
    }
}

/// Copies the rows of a table and returns how many there were.
async fn copy_table(
    table: &Table,
    is_sqlite: bool,
    from: &mut Transaction,
    to: &mut Transaction,
) -> Result<u64, Error> {
    let (select, insert) = (table.select(is_sqlite), table.insert());
    let mut rows = from.texts(&select);
    let mut batch = String::new();
    let (mut all, mut waiting) = (0, 0);
    while let Some(row) = rows.try_next().await? {
        batch.push(if waiting == 0 { '[' } else { ',' });
        batch.push_str(&row);
        waiting += 1;
        all += 1;
        if waiting == BATCH || batch.len() > BATCH_BYTES {
            write(to, &insert, &mut batch).await?;
            waiting = 0;
        }
    }
    if waiting > 0 {
        write(to, &insert, &mut batch).await?;
    }
    Ok(all)
}

async fn write(to: &mut Transaction, insert: &str, batch: &mut String) -> Result<(), Error> {
    let mut rows = without_nul(std::mem::take(batch));
    rows.push(']');
    to.execute(insert, [rows.into()]).await.map(drop)
}

/// The words of records and texts are kept in another form by each database. They are read from the files again.
const READ_AGAIN: &str = "
    INSERT INTO unindexed (harvest_id, pages) SELECT DISTINCT changed_by, 1 FROM record
        WHERE changed_by NOT IN (SELECT harvest_id FROM unindexed);
    INSERT INTO unread_text (content_id) SELECT id FROM content
        WHERE searchable = 1 AND id NOT IN (SELECT content_id FROM unread_text);
    UPDATE content SET searchable = 0 WHERE searchable = 1;";

const BATCH: usize = 500;
const BATCH_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use test_support::Postgres;

    use super::*;

    async fn filled(location: &str) -> Catalog {
        let catalog = Catalog::open(location).await.unwrap();
        let mut transaction = catalog.database.write().await.unwrap();
        transaction
            .script(
                "INSERT INTO account (name, password_hash, role, created) VALUES ('a', 'x\"y\\z é', 'admin', 1);
                 INSERT INTO account (name, password_hash, role, created) VALUES ('b', 'y', 'viewer', 2);
                 DELETE FROM account WHERE name = 'b';",
            )
            .await
            .unwrap();
        transaction.commit().await.unwrap();
        catalog
    }

    async fn next_account(catalog: &Catalog) -> i64 {
        let mut transaction = catalog.database.write().await.unwrap();
        let sql = "INSERT INTO account (name, password_hash, role, created) VALUES ('c', 'z', 'viewer', 3) RETURNING id";
        let row = transaction.row(sql, []).await.unwrap().unwrap();
        row.integer("id").unwrap()
    }

    #[tokio::test]
    async fn a_catalog_goes_to_postgresql_and_back_with_its_sequences() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let first = filled(&file("first.sqlite")).await;
        let second = Catalog::open(&Postgres::shared().database()).await.unwrap();
        let third = Catalog::open(&file("third.sqlite")).await.unwrap();

        first.copy_to(&second, &mut |_| {}).await.unwrap();
        let copied = second.copy_to(&third, &mut |_| {}).await.unwrap();

        let accounts = copied.iter().find(|table| table.name == "account").unwrap();
        assert_eq!(accounts.rows, 1);
        let mut transaction = third.database.read().await.unwrap();
        let row = transaction
            .row("SELECT password_hash FROM account", [])
            .await;
        let password = row.unwrap().unwrap().text("password_hash").unwrap();
        assert_eq!(password, "x\"y\\z é");
        drop(transaction);
        // The number of the account that was removed is not given again.
        for catalog in [&second, &third] {
            assert_eq!(next_account(catalog).await, 3);
        }
        let error = first.copy_to(&second, &mut |_| {}).await.unwrap_err();
        assert!(matches!(error, Error::CatalogInUse { .. }), "{error}");
    }

    #[tokio::test]
    async fn a_snapshot_is_a_catalog_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("first.sqlite");
        let catalog = filled(&file.to_string_lossy()).await;
        let copy = folder.path().join("copy.sqlite");

        catalog.snapshot(&copy).await.unwrap();

        let copy = Catalog::open(&copy.to_string_lossy()).await.unwrap();
        assert_eq!(next_account(&copy).await, 3);
    }
}
