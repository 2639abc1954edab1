//! Accounts: who may log in to the console, and as what.
//!
//! The console chooses how passwords are hashed; here a hash is a text.

use std::time::Duration;

use serde::Serialize;

use crate::database::{Row, Transaction};
use crate::{Catalog, Error, Role};

/// Somebody who may log in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Its number.
    pub id: i64,
    /// The name to log in with.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Whether it is kept out for now.
    pub disabled: bool,
    /// When it was made, in seconds.
    pub created: i64,
    /// When somebody last logged in with it, in seconds.
    pub last_login: Option<i64>,
    /// The name of the time zone in which it reads times; UTC if there is none.
    pub time_zone: Option<String>,
    /// The e-mail address of its owner.
    pub email: Option<String>,
    /// Whether it has a password: one that was invited has none until its link is used.
    pub has_password: bool,
}

/// The columns of an account, in statements that may join others to it.
pub(crate) const COLUMNS: &str = "account.id AS account_id, account.name AS account_name, \
     account.role AS account_role, account.disabled, account.created AS account_created, account.last_login, \
     account.time_zone, account.email, \
     CAST(CASE WHEN account.password_hash = '' THEN 0 ELSE 1 END AS BIGINT) AS has_password";

impl Catalog {
    /// All accounts, by their names.
    pub async fn accounts(&self) -> Result<Vec<Account>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM account");
        let rows = self.database.list().await?.rows(&sql, []).await?;
        let mut accounts = rows.iter().map(account).collect::<Result<Vec<_>, _>>()?;
        // The databases order texts differently.
        accounts.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(accounts)
    }

    /// The account with this number.
    pub async fn account(&self, id: i64) -> Result<Option<Account>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM account WHERE id = $1");
        let row = self.database.read().await?.row(&sql, [id.into()]).await?;
        row.as_ref().map(account).transpose()
    }

    /// Makes an account.
    pub async fn add_account(
        &self,
        name: &str,
        password_hash: &str,
        role: Role,
    ) -> Result<Account, Error> {
        let mut transaction = self.database.write().await?;
        let account = insert(&mut transaction, name, password_hash, role).await?;
        transaction.commit().await?;
        Ok(account)
    }

    /// Makes the first account, of an admin. Refused as soon as there is one, whoever else tries at the same time.
    pub async fn add_first_account(
        &self,
        name: &str,
        password_hash: &str,
    ) -> Result<Account, Error> {
        let mut transaction = self.database.write().await?;
        if !self.database.is_sqlite() {
            // Rows that are not there yet cannot be locked.
            let sql = "LOCK TABLE account IN SHARE ROW EXCLUSIVE MODE";
            transaction.execute(sql, []).await?;
        }
        let sql = "SELECT id FROM account LIMIT 1";
        if transaction.row(sql, []).await?.is_some() {
            return Err(Error::NotFirst);
        }
        let account = insert(&mut transaction, name, password_hash, Role::Admin).await?;
        transaction.commit().await?;
        Ok(account)
    }

    /// The account with this name and its password's hash, unless it is disabled.
    pub async fn account_to_log_in(&self, name: &str) -> Result<Option<(Account, String)>, Error> {
        let sql = format!(
            "SELECT {COLUMNS}, password_hash FROM account WHERE name = $1 AND disabled = 0
             AND password_hash <> ''"
        );
        let mut transaction = self.database.read().await?;
        let Some(row) = transaction.row(&sql, [name.into()]).await? else {
            return Ok(None);
        };
        Ok(Some((account(&row)?, row.text("password_hash")?)))
    }

    /// Notes that somebody logged in with an account.
    pub async fn logged_in(&self, account: i64) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        let sql = "UPDATE account SET last_login = {now} WHERE id = $1";
        transaction.execute(sql, [account.into()]).await?;
        transaction.commit().await
    }

    /// Changes what an account may do. One that is disabled loses its sessions.
    pub async fn change_account(
        &self,
        id: i64,
        role: Role,
        disabled: bool,
    ) -> Result<Account, Error> {
        let mut transaction = self.database.write().await?;
        if role != Role::Admin || disabled {
            leave_an_admin(&mut transaction, id).await?;
        }
        let sql = format!(
            "UPDATE account SET role = $2, disabled = $3 WHERE id = $1 RETURNING {COLUMNS}"
        );
        let values = [id.into(), role.name().into(), disabled.into()];
        let row = transaction.row(&sql, values).await?;
        let account = account(&row.ok_or(Error::UnknownAccount { id })?)?;
        if disabled {
            end_sessions(&mut transaction, id).await?;
        }
        transaction.commit().await?;
        Ok(account)
    }

    /// Sets the time zone of an account; `None` is UTC.
    pub async fn set_time_zone(&self, id: i64, time_zone: Option<&str>) -> Result<Account, Error> {
        let mut transaction = self.database.write().await?;
        let sql = format!("UPDATE account SET time_zone = $2 WHERE id = $1 RETURNING {COLUMNS}");
        let row = transaction.row(&sql, [id.into(), time_zone.into()]).await?;
        let account = account(&row.ok_or(Error::UnknownAccount { id })?)?;
        transaction.commit().await?;
        Ok(account)
    }

    /// Sets the e-mail address of an account; `None` is none.
    pub async fn set_email(&self, id: i64, email: Option<&str>) -> Result<Account, Error> {
        let mut transaction = self.database.write().await?;
        let sql = format!("UPDATE account SET email = $2 WHERE id = $1 RETURNING {COLUMNS}");
        let row = transaction.row(&sql, [id.into(), email.into()]).await?;
        let account = account(&row.ok_or(Error::UnknownAccount { id })?)?;
        transaction.commit().await?;
        Ok(account)
    }

    /// Keeps the digest of a link by which the password of an account can be set, instead of an earlier one. Returns when
    /// it expires, in seconds.
    pub async fn keep_password_link(
        &self,
        id: i64,
        digest: &str,
        lifetime: Duration,
    ) -> Result<i64, Error> {
        let mut transaction = self.database.write().await?;
        let sql = "INSERT INTO password_link (account_id, digest, expires)
             SELECT id, $2, {now} + $3 FROM account WHERE id = $1 AND disabled = 0
             ON CONFLICT (account_id) DO UPDATE SET digest = excluded.digest, expires = excluded.expires
             RETURNING expires";
        let seconds = i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX);
        let values = [id.into(), digest.into(), seconds.into()];
        let row = transaction.row(sql, values).await?;
        let expires = row
            .ok_or(Error::UnknownAccount { id })?
            .integer("expires")?;
        transaction.commit().await?;
        Ok(expires)
    }

    /// The account whose password a link may set, unless the link has expired or the account is disabled.
    pub async fn account_of_link(&self, digest: &str) -> Result<Option<Account>, Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM password_link JOIN account ON account.id = password_link.account_id
             WHERE digest = $1 AND expires > {{now}} AND disabled = 0"
        );
        let row = self
            .database
            .read()
            .await?
            .row(&sql, [digest.into()])
            .await?;
        row.as_ref().map(account).transpose()
    }

    /// Takes a link away, so that it is used once; tells whether it was still there.
    pub async fn use_password_link(&self, digest: &str) -> Result<bool, Error> {
        let mut transaction = self.database.write().await?;
        let sql = "DELETE FROM password_link WHERE digest = $1 AND expires > {now}";
        let removed = transaction.execute(sql, [digest.into()]).await?;
        transaction.commit().await?;
        Ok(removed > 0)
    }

    /// Gives an account another password, and ends its sessions and its tokens: whoever knew the old one may have made
    /// some. Returns the names of the tokens that ended.
    pub async fn set_password(&self, id: i64, password_hash: &str) -> Result<Vec<String>, Error> {
        let mut transaction = self.database.write().await?;
        let sql = "UPDATE account SET password_hash = $2 WHERE id = $1";
        let values = [id.into(), password_hash.into()];
        if transaction.execute(sql, values).await? == 0 {
            return Err(Error::UnknownAccount { id });
        }
        end_sessions(&mut transaction, id).await?;
        let sql = "DELETE FROM password_link WHERE account_id = $1";
        transaction.execute(sql, [id.into()]).await?;
        let sql = "DELETE FROM api_token WHERE account_id = $1 RETURNING name";
        let rows = transaction.rows(sql, [id.into()]).await?;
        let tokens = rows.iter().map(|row| row.text("name"));
        let tokens = tokens.collect::<Result<_, _>>()?;
        transaction.commit().await?;
        Ok(tokens)
    }

    /// Removes an account with its sessions and tokens. Tells whether there was one.
    pub async fn remove_account(&self, id: i64) -> Result<bool, Error> {
        let mut transaction = self.database.write().await?;
        leave_an_admin(&mut transaction, id).await?;
        let sql = "DELETE FROM account WHERE id = $1";
        let removed = transaction.execute(sql, [id.into()]).await?;
        transaction.commit().await?;
        Ok(removed > 0)
    }
}

async fn insert(
    transaction: &mut Transaction,
    name: &str,
    password_hash: &str,
    role: Role,
) -> Result<Account, Error> {
    let sql = format!(
        "INSERT INTO account (name, password_hash, role, created) VALUES ($1, $2, $3, {{now}})
         ON CONFLICT (name) DO NOTHING RETURNING {COLUMNS}"
    );
    let values = [name.into(), password_hash.into(), role.name().into()];
    match transaction.row(&sql, values).await? {
        Some(row) => account(&row),
        None => Err(Error::NameTaken {
            name: name.to_owned(),
        }),
    }
}

/// Refuses if without this account there is no admin who can log in. Who else changes one has to wait.
async fn leave_an_admin(transaction: &mut Transaction, id: i64) -> Result<(), Error> {
    let sql =
        "SELECT id, name FROM account WHERE role = 'admin' AND disabled = 0 AND password_hash <> ''
         ORDER BY id {lock}";
    let rows = transaction.rows(sql, []).await?;
    match &rows[..] {
        [last] if last.integer("id")? == id => Err(Error::LastAdmin {
            name: last.text("name")?,
        }),
        _ => Ok(()),
    }
}

pub(crate) async fn end_sessions(transaction: &mut Transaction, account: i64) -> Result<(), Error> {
    let sql = "DELETE FROM session WHERE account_id = $1";
    transaction.execute(sql, [account.into()]).await?;
    Ok(())
}

pub(crate) fn account(row: &Row) -> Result<Account, Error> {
    Ok(Account {
        id: row.integer("account_id")?,
        name: row.text("account_name")?,
        role: Role::read(&row.text("account_role")?),
        disabled: row.flag("disabled")?,
        created: row.integer("account_created")?,
        last_login: row.maybe_integer("last_login")?,
        time_zone: row.maybe_text("time_zone")?,
        email: row.maybe_text("email")?,
        has_password: row.flag("has_password")?,
    })
}
