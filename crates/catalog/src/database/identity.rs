//! Which data directory the files of a catalog lie in.

use crate::{Catalog, Error};

impl Catalog {
    /// The identity of the data directory; `None` before [`Catalog::settle_directory`].
    pub async fn directory_identity(&self) -> Result<Option<String>, Error> {
        let sql = "SELECT identity FROM data_directory";
        let row = self.database.read().await?.row(sql, []).await?;
        row.map(|row| row.text("identity")).transpose()
    }

    /// Takes an identity for that of the data directory unless there is one, and returns the one that holds.
    pub async fn settle_directory(&self, identity: &str) -> Result<String, Error> {
        let mut transaction = self.database.write().await?;
        transaction.take(LOCK).await?;
        let sql = "INSERT INTO data_directory (identity)
             SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM data_directory)";
        transaction.execute(sql, [identity.into()]).await?;
        let row = transaction.row("SELECT identity FROM data_directory", []);
        let settled = row.await?.map(|row| row.text("identity")).transpose()?;
        transaction.commit().await?;
        Ok(settled.unwrap_or_default())
    }
}

/// Any number that nothing else locks: the letters of `datadir`.
const LOCK: i64 = 0x64_61_74_61_64_69_72;
