//! The versions of the tables, each made from the one before.

use crate::Error;
use crate::database::{Database, Transaction};
use crate::repositories::entry::fill_hosts;

/// The statements that lead from one version to the next; the first makes everything.
const STEPS: [&str; 25] = [
    include_str!("migrations/1.sql"),
    include_str!("migrations/2.sql"),
    include_str!("migrations/3.sql"),
    include_str!("migrations/4.sql"),
    include_str!("migrations/5.sql"),
    include_str!("migrations/6.sql"),
    include_str!("migrations/7.sql"),
    include_str!("migrations/8.sql"),
    include_str!("migrations/9.sql"),
    include_str!("migrations/10.sql"),
    include_str!("migrations/11.sql"),
    include_str!("migrations/12.sql"),
    include_str!("migrations/13.sql"),
    // Views name columns of tables: a later step that changes one of these makes the views anew.
    include_str!("migrations/14.sql"),
    include_str!("migrations/15.sql"),
    include_str!("migrations/16.sql"),
    include_str!("migrations/17.sql"),
    include_str!("migrations/18.sql"),
    include_str!("migrations/19.sql"),
    include_str!("migrations/20.sql"),
    include_str!("migrations/21.sql"),
    include_str!("migrations/22.sql"),
    include_str!("migrations/23.sql"),
    include_str!("migrations/24.sql"),
    include_str!("migrations/25.sql"),
];

/// Any number that nobody else locks in the same PostgreSQL database: the letters of the name.
const LOCK: i64 = 0x67_61_72_6e_65_72;

/// The version since which repositories have a host.
const WITH_HOSTS: i32 = 2;

/// Brings the tables to the newest version, whoever else does so at the same time.
pub(crate) async fn migrate(database: &Database) -> Result<(), Error> {
    // Nearly always there is nothing to do, and then nobody has to wait for a writer.
    let mut transaction = database.read().await?;
    if version(database, &mut transaction).await? == Some(newest()) {
        return Ok(());
    }
    drop(transaction);

    let mut transaction = database.write().await?;
    transaction.take(LOCK).await?;
    let from = match version(database, &mut transaction).await? {
        Some(version) => version,
        None => found(database, &mut transaction).await?,
    };
    let done = usize::try_from(from).unwrap_or_default();
    for (version, step) in (1..).zip(STEPS).skip(done) {
        transaction.script(step).await?;
        if version == WITH_HOSTS {
            fill_hosts(&mut transaction).await?;
        }
    }
    let sql = "UPDATE catalog_schema SET version = $1";
    transaction.execute(sql, [newest().into()]).await?;
    transaction.commit().await
}

/// The version that this program makes.
pub(crate) fn newest() -> i64 {
    STEPS.len().try_into().unwrap_or(i64::MAX)
}

/// The version of the tables, if they are there; one that is not known here is an error.
async fn version(database: &Database, transaction: &mut Transaction) -> Result<Option<i64>, Error> {
    let exists = if database.is_sqlite() {
        "SELECT count(*) AS number FROM sqlite_master WHERE type = 'table' AND name = 'catalog_schema'"
    } else {
        "SELECT CAST(count(to_regclass('catalog_schema')) AS BIGINT) AS number"
    };
    let row = transaction.row(exists, []).await?;
    if row.map(|row| row.integer("number")).transpose()? != Some(1) {
        return Ok(None);
    }
    let row = transaction
        .row("SELECT version FROM catalog_schema", [])
        .await?;
    let Some(row) = row else { return Ok(None) };
    let version = row.integer("version")?;
    if version > newest() {
        return Err(Error::Newer {
            location: database.location().to_owned(),
            version,
            known: newest(),
        });
    }
    Ok(Some(version))
}

/// Makes the table that holds the version, in a database that is not somebody else's.
async fn found(database: &Database, transaction: &mut Transaction) -> Result<i64, Error> {
    // A PostgreSQL database may be shared with other programs; a SQLite file is given to one.
    if database.is_sqlite() {
        let sql = "SELECT count(*) AS number FROM sqlite_master";
        let row = transaction.row(sql, []).await?;
        if row.map(|row| row.integer("number")).transpose()? != Some(0) {
            return Err(Error::NotACatalog {
                location: database.location().to_owned(),
            });
        }
    }
    transaction
        .script(
            "CREATE TABLE catalog_schema (version BIGINT NOT NULL);
             INSERT INTO catalog_schema (version) VALUES (0);",
        )
        .await?;
    Ok(0)
}
