//! Repositories: what they say of themselves, where their files lie, how much is held of them.

use serde::Serialize;

use crate::database::{Row, Transaction};
use crate::harvests::begin::refuse_while_harvested;
use crate::queue::jobs::lock_queue;
use crate::queue::running::Running;
use crate::repositories::host::host;
use crate::{Catalog, Error};

/// A repository's answer to Identify, as sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Identity {
    /// `repositoryName`
    pub name: Option<String>,
    /// `protocolVersion`
    pub protocol_version: Option<String>,
    /// `adminEmail`, each of them
    pub admin_emails: Vec<String>,
    /// `earliestDatestamp`
    pub earliest_datestamp: Option<String>,
    /// `deletedRecord`
    pub deleted_record: Option<String>,
    /// `granularity`
    pub granularity: Option<String>,
    /// `repositoryIdentifier` of the oai-identifier description
    pub repository_identifier: Option<String>,
}

/// A repository that is harvested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repository {
    /// Its number in this catalog.
    pub id: i64,
    /// Where it answers.
    pub base_url: String,
    /// Where its files lie, as it was given.
    pub base_directory: String,
    /// When it was added, in seconds.
    pub added: i64,
    /// When it last told about itself, in seconds.
    pub identified: i64,
    /// Its own description.
    #[serde(flatten)]
    pub identity: Identity,
}

/// How much is known of a repository.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RepositoryCounts {
    /// Records that are not deleted, in all formats.
    pub records: u64,
    /// Records that are.
    pub deleted: u64,
    /// Sets, listed or named by records.
    pub sets: u64,
    /// Metadata formats.
    pub formats: u64,
    /// Entries of the history.
    pub harvests: u64,
}

pub(crate) const COLUMNS: &str = "id, base_url, name, protocol_version, admin_emails, earliest_datestamp, deleted_record, \
     granularity, repository_identifier, base_directory, added, identified";

impl Catalog {
    /// Adds a repository, or takes over what a known one says of itself now. The directory of a known one stays. One that
    /// was removed and is added again has its number again, so that what was told of its records goes on.
    pub async fn add_repository(
        &self,
        base_url: &str,
        base_directory: &str,
        identity: &Identity,
    ) -> Result<Repository, Error> {
        let emails = serde_json::to_string(&identity.admin_emails).unwrap_or_default();
        let mut transaction = self.database.write().await?;
        let (column, number) = match former_number(&mut transaction, base_url).await? {
            Some(number) => ("id, ", format!("{number}, ")),
            None => ("", String::new()),
        };
        let sql = format!(
            "INSERT INTO repository ({column}base_url, base_directory, name, protocol_version, admin_emails,
                 earliest_datestamp, deleted_record, granularity, repository_identifier, host, added, identified)
             VALUES ({number}$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, {{now}}, {{now}})
             ON CONFLICT (base_url) DO UPDATE SET
                 name = excluded.name, protocol_version = excluded.protocol_version,
                 admin_emails = excluded.admin_emails, earliest_datestamp = excluded.earliest_datestamp,
                 deleted_record = excluded.deleted_record, granularity = excluded.granularity,
                 repository_identifier = excluded.repository_identifier, identified = excluded.identified
             RETURNING {COLUMNS}"
        );
        let values = [
            base_url.into(),
            base_directory.into(),
            identity.name.as_deref().into(),
            identity.protocol_version.as_deref().into(),
            emails.into(),
            identity.earliest_datestamp.as_deref().into(),
            identity.deleted_record.as_deref().into(),
            identity.granularity.as_deref().into(),
            identity.repository_identifier.as_deref().into(),
            host(base_url).into(),
        ];
        let rows = transaction.rows(&sql, values).await?;
        transaction.commit().await?;
        let row = rows.first().ok_or(Error::UnknownRepository { id: 0 })?;
        repository(row)
    }

    /// All repositories, the oldest first.
    pub async fn repositories(&self) -> Result<Vec<Repository>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM repository ORDER BY id");
        let rows = self.database.list().await?.rows(&sql, []).await?;
        rows.iter().map(repository).collect()
    }

    /// The repository with this number.
    pub async fn repository(&self, id: i64) -> Result<Option<Repository>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM repository WHERE id = $1");
        let row = self.database.read().await?.row(&sql, [id.into()]).await?;
        row.as_ref().map(repository).transpose()
    }

    /// The repository that answers at this base URL.
    pub async fn repository_at(&self, base_url: &str) -> Result<Option<Repository>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM repository WHERE base_url = $1");
        let mut transaction = self.database.read().await?;
        let row = transaction.row(&sql, [base_url.into()]).await?;
        row.as_ref().map(repository).transpose()
    }

    /// How much is known of a repository.
    pub async fn repository_counts(&self, id: i64) -> Result<RepositoryCounts, Error> {
        counts(&mut self.database.read().await?, id).await
    }

    /// Corrects where a repository answers. What is held of it stays. Refused while a job runs that is about it, and if
    /// another repository answers there.
    pub async fn change_base_url(&self, id: i64, base_url: &str) -> Result<Repository, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        let before = lock(&mut transaction, id).await?;
        // Waiting jobs follow, and no worker claims one of them meanwhile.
        let sql = "UPDATE job SET host = $2
             WHERE repository_id = $1 AND host IS NOT NULL AND state = 'scheduled'";
        let values = [id.into(), host(base_url).into()];
        transaction.execute(sql, values).await?;
        refuse_while_busy(&mut transaction, id, &before).await?;
        let sql = "SELECT id FROM repository WHERE base_url = $1 AND id <> $2";
        let values = [base_url.into(), id.into()];
        if transaction.row(sql, values).await?.is_some() {
            let name = base_url.to_owned();
            return Err(Error::NameTaken { name });
        }
        let sql = format!(
            "UPDATE repository SET base_url = $2, host = $3 WHERE id = $1 RETURNING {COLUMNS}"
        );
        let values = [id.into(), base_url.into(), host(base_url).into()];
        let row = transaction.row(&sql, values).await?;
        let repository = repository(&row.ok_or(Error::UnknownRepository { id })?)?;
        transaction.commit().await?;
        Ok(repository)
    }
}

/// Refuses to touch a repository while somebody works on it.
pub(crate) async fn refuse_while_busy(
    transaction: &mut Transaction,
    id: i64,
    base_url: &str,
) -> Result<(), Error> {
    for job in Running::of_repository(transaction, id).await? {
        if !job.holder.is_stale {
            return Err(job.refusal(format!("`{base_url}`")));
        }
    }
    refuse_while_harvested(transaction, id).await
}

/// The number that a repository had before it was removed.
async fn former_number(
    transaction: &mut Transaction,
    base_url: &str,
) -> Result<Option<i64>, Error> {
    let sql = "SELECT repository_id FROM former_repository WHERE base_url = $1
             AND NOT EXISTS (SELECT 1 FROM repository WHERE id = repository_id)";
    let row = transaction.row(sql, [base_url.into()]).await?;
    row.map(|row| row.integer("repository_id")).transpose()
}

/// Keeps a repository's rows from other writers until the end of the transaction, and gives its base URL.
pub(crate) async fn lock(transaction: &mut Transaction, id: i64) -> Result<String, Error> {
    let sql = "SELECT base_url FROM repository WHERE id = $1 {lock}";
    match transaction.row(sql, [id.into()]).await? {
        Some(row) => row.text("base_url"),
        None => Err(Error::UnknownRepository { id }),
    }
}

/// Fills in the hosts of repositories that were added before there were any.
pub(crate) async fn fill_hosts(transaction: &mut Transaction) -> Result<(), Error> {
    let sql = "SELECT id, base_url FROM repository WHERE host = ''";
    for row in transaction.rows(sql, []).await? {
        let sql = "UPDATE repository SET host = $2 WHERE id = $1";
        let values = [
            row.integer("id")?.into(),
            host(&row.text("base_url")?).into(),
        ];
        transaction.execute(sql, values).await?;
    }
    Ok(())
}

/// How much is known of a repository.
pub(crate) async fn counts(
    transaction: &mut Transaction,
    id: i64,
) -> Result<RepositoryCounts, Error> {
    let sql = "SELECT
            CAST(COALESCE((SELECT sum(records) FROM holding WHERE repository_id = $1), 0) AS BIGINT) AS records,
            CAST(COALESCE((SELECT sum(deleted) FROM holding WHERE repository_id = $1), 0) AS BIGINT) AS deleted,
            (SELECT count(*) FROM oai_set WHERE repository_id = $1) AS sets,
            (SELECT count(*) FROM format_mapping WHERE repository_id = $1) AS formats,
            (SELECT count(*) FROM history WHERE repository_id = $1) AS harvests
         FROM repository WHERE id = $1";
    let row = transaction.row(sql, [id.into()]).await?;
    let row = row.ok_or(Error::UnknownRepository { id })?;
    Ok(RepositoryCounts {
        records: row.count("records")?,
        deleted: row.count("deleted")?,
        sets: row.count("sets")?,
        formats: row.count("formats")?,
        harvests: row.count("harvests")?,
    })
}

pub(crate) fn repository(row: &Row) -> Result<Repository, Error> {
    let emails = row.text("admin_emails")?;
    Ok(Repository {
        id: row.integer("id")?,
        base_url: row.text("base_url")?,
        base_directory: row.text("base_directory")?,
        added: row.integer("added")?,
        identified: row.integer("identified")?,
        identity: Identity {
            name: row.maybe_text("name")?,
            protocol_version: row.maybe_text("protocol_version")?,
            admin_emails: serde_json::from_str(&emails).unwrap_or_default(),
            earliest_datestamp: row.maybe_text("earliest_datestamp")?,
            deleted_record: row.maybe_text("deleted_record")?,
            granularity: row.maybe_text("granularity")?,
            repository_identifier: row.maybe_text("repository_identifier")?,
        },
    })
}
