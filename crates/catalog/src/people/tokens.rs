//! Tokens that open the API to programs, in the name of an account. Only digests are kept.

use serde::Serialize;

use crate::database::Row;
use crate::database::conditions::Conditions;
use crate::people::accounts::{COLUMNS, account};
use crate::people::sessions::SEEN;
use crate::{Account, Catalog, Error, Role};

/// A token's row, without the token itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Token {
    /// Its number.
    pub id: i64,
    /// The number of its account.
    pub account: i64,
    /// The name of its account.
    pub account_name: String,
    /// Its purpose, in the words of its maker.
    pub name: String,
    /// Its role, never above that of its account.
    pub role: Role,
    /// When it was made, in seconds.
    pub created: i64,
    /// When it ceases to be good, in seconds.
    pub expires: Option<i64>,
    /// When it was last used, in seconds, to about a minute.
    pub seen: Option<i64>,
}

const SELECT: &str = "SELECT api_token.id, api_token.account_id, account.name AS account_name, api_token.name, \
     api_token.role, api_token.created, api_token.expires, api_token.seen \
     FROM api_token JOIN account ON account.id = api_token.account_id";

impl Catalog {
    /// Makes a token of an account that is good until `expires`, in seconds, or for ever.
    pub async fn add_token(
        &self,
        account: i64,
        name: &str,
        digest: &str,
        role: Role,
        expires: Option<i64>,
    ) -> Result<Token, Error> {
        let mut transaction = self.database.write().await?;
        let sql = "INSERT INTO api_token (account_id, name, digest, role, created, expires)
             SELECT id, $2, $3, $4, {now}, $5 FROM account WHERE id = $1 RETURNING id";
        let values = [
            account.into(),
            name.into(),
            digest.into(),
            role.name().into(),
            expires.into(),
        ];
        let unknown = || Error::UnknownAccount { id: account };
        let row = transaction.row(sql, values).await?.ok_or_else(unknown)?;
        let sql = format!("{SELECT} WHERE api_token.id = $1");
        let row = transaction.row(&sql, [row.integer("id")?.into()]).await?;
        transaction.commit().await?;
        token(&row.ok_or_else(unknown)?)
    }

    /// The tokens of an account or of all, the newest first.
    pub async fn tokens(&self, account: Option<i64>) -> Result<Vec<Token>, Error> {
        let mut conditions = Conditions::default();
        conditions.only("api_token.account_id = $n", account);
        let (sql, values) = conditions.all(SELECT, "ORDER BY api_token.id DESC");
        let rows = self.database.list().await?.rows(&sql, values).await?;
        rows.iter().map(token).collect()
    }

    /// Removes a token, and tells whether there was one.
    pub async fn remove_token(&self, id: i64) -> Result<bool, Error> {
        let mut transaction = self.database.write().await?;
        let sql = "DELETE FROM api_token WHERE id = $1";
        let removed = transaction.execute(sql, [id.into()]).await?;
        transaction.commit().await?;
        Ok(removed > 0)
    }

    /// Whose token this is and what it may do: the lesser of what it and its account may. `None` if it has expired or
    /// its account is disabled.
    pub async fn token(&self, digest: &str) -> Result<Option<(Account, Role)>, Error> {
        let sql = format!(
            "SELECT {COLUMNS}, api_token.role AS token_role, {{now}} - COALESCE(seen, 0) AS unseen
             FROM api_token JOIN account ON account.id = api_token.account_id
             WHERE digest = $1 AND (expires IS NULL OR expires > {{now}}) AND disabled = 0"
        );
        let mut transaction = self.database.read().await?;
        let row = transaction.row(&sql, [digest.into()]).await?;
        drop(transaction);
        let Some(row) = row else { return Ok(None) };
        if row.integer("unseen")? >= SEEN {
            let sql = "UPDATE api_token SET seen = {now} WHERE digest = $1";
            self.note(sql, digest).await;
        }
        let account = account(&row)?;
        let role = account.role.min(Role::read(&row.text("token_role")?));
        Ok(Some((account, role)))
    }
}

fn token(row: &Row) -> Result<Token, Error> {
    Ok(Token {
        id: row.integer("id")?,
        account: row.integer("account_id")?,
        account_name: row.text("account_name")?,
        name: row.text("name")?,
        role: Role::read(&row.text("role")?),
        created: row.integer("created")?,
        expires: row.maybe_integer("expires")?,
        seen: row.maybe_integer("seen")?,
    })
}
