//! Sessions of those who are logged in. Only digests are kept: who reads the catalog cannot take one over.

use std::time::Duration;

use crate::people::accounts::{COLUMNS, account, end_sessions};
use crate::{Account, Catalog, Error};

/// How precisely it is known when a session was last used, in seconds: not every page is worth a write.
pub(crate) const SEEN: i64 = 60;

impl Catalog {
    /// Begins a session of an account, for at most so long.
    pub async fn begin_session(
        &self,
        digest: &str,
        account: i64,
        lifetime: Duration,
    ) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        let sql = "INSERT INTO session (digest, account_id, created, seen, expires)
             SELECT $1, id, {now}, {now}, {now} + $3 FROM account WHERE id = $2 AND disabled = 0";
        let values = [digest.into(), account.into(), seconds(lifetime).into()];
        if transaction.execute(sql, values).await? == 0 {
            return Err(Error::UnknownAccount { id: account });
        }
        transaction.commit().await
    }

    /// Whose session this is, if it was used within `idle` and is not over.
    pub async fn session(&self, digest: &str, idle: Duration) -> Result<Option<Account>, Error> {
        let Some((account, unseen)) = self.find_session(digest, idle).await? else {
            return Ok(None);
        };
        if unseen >= SEEN.min(seconds(idle) / 2) {
            self.note("UPDATE session SET seen = {now} WHERE digest = $1", digest)
                .await;
        }
        Ok(Some(account))
    }

    /// The same without using it: for what a browser asks for by itself.
    pub async fn peek_session(
        &self,
        digest: &str,
        idle: Duration,
    ) -> Result<Option<Account>, Error> {
        let found = self.find_session(digest, idle).await?;
        Ok(found.map(|(account, _)| account))
    }

    /// Whose session this is, and for how many seconds it was not used.
    async fn find_session(
        &self,
        digest: &str,
        idle: Duration,
    ) -> Result<Option<(Account, i64)>, Error> {
        let sql = format!(
            "SELECT {COLUMNS}, {{now}} - seen AS unseen
             FROM session JOIN account ON account.id = session.account_id
             WHERE digest = $1 AND expires > {{now}} AND seen > {{now}} - $2 AND disabled = 0"
        );
        let values = [digest.into(), seconds(idle).into()];
        let row = self.database.read().await?.row(&sql, values).await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some((account(&row)?, row.integer("unseen")?)))
    }

    /// Ends a session.
    pub async fn end_session(&self, digest: &str) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        let sql = "DELETE FROM session WHERE digest = $1";
        transaction.execute(sql, [digest.into()]).await?;
        transaction.commit().await
    }

    /// Ends all sessions of an account.
    pub async fn end_sessions(&self, account: i64) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        end_sessions(&mut transaction, account).await?;
        transaction.commit().await
    }

    /// Forgets sessions that are over, and tells how many.
    pub async fn remove_old_sessions(&self) -> Result<u64, Error> {
        let mut transaction = self.database.write().await?;
        let sql = "DELETE FROM session WHERE expires <= {now}";
        let removed = transaction.execute(sql, []).await?;
        transaction.commit().await?;
        Ok(removed)
    }

    /// Writes down that something was used, where that is possible. A full disk or a writer that takes long keeps
    /// nobody from reading.
    pub(crate) async fn note(&self, sql: &str, digest: &str) {
        let write = async {
            let mut transaction = self.database.write().await?;
            transaction.execute(sql, [digest.into()]).await?;
            transaction.commit().await
        };
        drop(tokio::time::timeout(Duration::from_secs(1), write).await);
    }
}

fn seconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).unwrap_or(i64::MAX / 4)
}
