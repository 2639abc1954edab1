//! How an import begins: as a new one, or where an earlier one of the same was interrupted.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::entry::{SELECT, find};
use super::{Import, NewImport};
use crate::database::{Row, Transaction};
use crate::jobs::lock_queue;
use crate::rows::batch;
use crate::running::{Running, seconds};
use crate::{Catalog, Error, JobLease, owner};

/// What is done with sources.
const IMPORTED: &str = "being imported";

impl Catalog {
    /// Begins an import, or goes on with the last one of the same parameters and sources that did not come to its end.
    /// Refused while another process is at it.
    pub async fn begin_import(&self, new: &NewImport) -> Result<Import, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        let process = holder(&mut transaction, new.job).await?;
        let unfinished = unfinished(&mut transaction, new).await?;
        let id = match unfinished {
            Some(id) => resume(&mut transaction, new, id, &process).await?,
            None => insert(&mut transaction, new, &process).await?,
        };
        let begun = begun(&mut transaction, new, id, unfinished.is_some()).await?;
        transaction.commit().await?;
        Ok(begun)
    }
}

impl NewImport {
    /// The digest of what is imported.
    fn target(&self) -> String {
        let all = (&self.parameters, &self.sources, self.keep_versions);
        let all = serde_json::to_vec(&all).expect("texts can be written");
        let mut target = String::new();
        for byte in Sha256::digest(&all) {
            write!(target, "{byte:02x}").expect("a string takes everything");
        }
        target
    }

    /// What is imported, in words.
    fn described(&self) -> String {
        match &self.sources[..] {
            [] => "nothing".to_owned(),
            [source] => format!("`{source}`"),
            [source, others @ ..] => format!("`{source}` and {} more", others.len()),
        }
    }
}

/// The name of who begins: that of the job's worker, or of this process. Refused if the job is another's by now.
async fn holder(transaction: &mut Transaction, job: Option<JobLease>) -> Result<String, Error> {
    let Some(lease) = job else {
        return Ok(owner::this_process());
    };
    let sql =
        "SELECT lease_owner FROM job WHERE id = $1 AND lease_token = $2 AND state = 'running'";
    let values = [lease.job.into(), lease.token.into()];
    let row = transaction.row(sql, values).await?;
    let row = row.ok_or(Error::JobLost { job: lease.job })?;
    let worker = row.maybe_text("lease_owner")?;
    Ok(worker.unwrap_or_else(owner::this_process))
}

/// The last import of the same if it did not come to its end, and nobody is at it.
async fn unfinished(transaction: &mut Transaction, new: &NewImport) -> Result<Option<i64>, Error> {
    let sql = format!("{SELECT} WHERE target = $1 ORDER BY id DESC LIMIT 1");
    let Some(row) = transaction.row(&sql, [new.target().into()]).await? else {
        return Ok(None);
    };
    let id = row.integer("id")?;
    match row.text("state")?.as_str() {
        "failed" => Ok(Some(id)),
        "running" => {
            make_way(transaction, new, &row).await?;
            Ok(Some(id))
        }
        _ => Ok(None),
    }
}

/// Refuses if somebody else is at the import. A job whose worker is gone is put back.
async fn make_way(transaction: &mut Transaction, new: &NewImport, row: &Row) -> Result<(), Error> {
    let process = row.text("lease_owner")?;
    let is_held = match row.maybe_integer("job_id")? {
        Some(job) if new.job.is_some_and(|own| own.job == job) => false,
        Some(job) => match Running::one(transaction, job).await? {
            Some(running) => !(running.is_stale && running.release(transaction).await?),
            None => false,
        },
        None => row.integer("lease_left")? >= 0 && !owner::is_gone(&process),
    };
    if !is_held {
        return Ok(());
    }
    Err(Error::Busy {
        what: new.described(),
        doing: IMPORTED.to_owned(),
        owner: owner::described(&process),
    })
}

async fn resume(
    transaction: &mut Transaction,
    new: &NewImport,
    id: i64,
    process: &str,
) -> Result<i64, Error> {
    let sql = "UPDATE import SET state = 'running', ended = NULL, reason = NULL, lease_owner = $2,
             lease_token = lease_token + 1, lease_until = {now} + $3, job_id = $4,
             schedule_id = (SELECT schedule_id FROM job WHERE id = $4)
         WHERE id = $1";
    let values = [
        id.into(),
        process.into(),
        seconds(new.lease).into(),
        new.job.map(|lease| lease.job).into(),
    ];
    transaction.execute(sql, values).await?;
    Ok(id)
}

async fn insert(
    transaction: &mut Transaction,
    new: &NewImport,
    process: &str,
) -> Result<i64, Error> {
    let sql = "INSERT INTO import (target, parameters, keep_versions, job_id, schedule_id, state, started,
             lease_owner, lease_token, lease_until)
         VALUES ($1, $2, $3, $4, (SELECT schedule_id FROM job WHERE id = $4), 'running', {now}, $5, 1, {now} + $6)
         RETURNING id";
    let values = [
        new.target().into(),
        new.parameters.as_str().into(),
        new.keep_versions.into(),
        new.job.map(|lease| lease.job).into(),
        process.into(),
        seconds(new.lease).into(),
    ];
    let row = transaction.row(sql, values).await?;
    let id = row.map_or(Ok(0), |row| row.integer("id"))?;
    let sources: Vec<_> = new.sources.iter().enumerate().collect();
    let sql = "INSERT INTO import_source (import_id, number, source)
         SELECT $1, CAST(item.value->>0 AS BIGINT), item.value->>1 FROM {each($2)} WHERE true";
    transaction
        .execute(sql, [id.into(), batch(&sources)])
        .await?;
    Ok(id)
}

async fn begun(
    transaction: &mut Transaction,
    new: &NewImport,
    id: i64,
    is_resumed: bool,
) -> Result<Import, Error> {
    let lost = || Error::ImportLost { import: id };
    let entry = find(transaction, id).await?.ok_or_else(lost)?;
    let sql = "SELECT reserved, groups FROM import WHERE id = $1";
    let row = transaction.row(sql, [id.into()]).await?;
    let row = row.ok_or_else(lost)?;
    let reserved = row.maybe_text("reserved")?;
    Ok(Import {
        id,
        token: entry.attempts,
        lease: seconds(new.lease),
        job: new.job,
        keep_versions: new.keep_versions,
        is_resumed,
        counters: entry.counters,
        groups: row.integer("groups")?,
        positions: entry.sources,
        reserved: serde_json::from_str(&reserved.unwrap_or_default()).unwrap_or_default(),
        loaded: None,
    })
}
