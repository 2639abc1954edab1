//! How an import begins: as a new one, or where an earlier one of the same was interrupted.

mod grown;
mod inherited;
mod others;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use self::grown::grown;
use self::inherited::inherited;
use self::others::others;
use super::entry::find;
use super::{Import, NewImport};
use crate::database::Transaction;
use crate::database::rows::batch;
use crate::queue::jobs::lock_queue;
use crate::queue::lease::{Lease, Leased, new_holder, seconds};
use crate::runs::{new_number, note_resumed};
use crate::{Catalog, Error};

/// The action on sources, in words.
const IMPORTED: &str = "being imported";
/// The name of the collection, in words.
const COLLECTION: &str = "the collection";

impl Catalog {
    /// Begins an import, or goes on with the last one of the same parameters and sources that did not come to its end. One
    /// of fewer sources is gone on with too: a directory may have grown. A new one of a schedule begins behind what the
    /// last one of the schedule read. Refused while another process is at it, or at a repair.
    pub async fn begin_import(&self, new: &NewImport) -> Result<Import, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        let begun = begin(&mut transaction, new, false).await?;
        transaction.commit().await?;
        Ok(begun)
    }
}

/// Begins an import; an exclusive one is refused while any other runs.
pub(super) async fn begin(
    transaction: &mut Transaction,
    new: &NewImport,
    is_exclusive: bool,
) -> Result<Import, Error> {
    let process = new_holder(transaction, new.job).await?;
    let target = new.target();
    for other in others(transaction, new.job).await? {
        if other.target == target && !is_exclusive {
            return Err(other.holder.refusal(new.described(), IMPORTED.to_owned()));
        }
        if other.is_exclusive {
            return Err(other
                .holder
                .refusal(COLLECTION.to_owned(), "being repaired".to_owned()));
        }
        if is_exclusive {
            let doing = format!("being filled (import {})", other.id);
            return Err(other.holder.refusal(COLLECTION.to_owned(), doing));
        }
    }
    let unfinished = unfinished(transaction, new).await?;
    let id = match unfinished {
        Some(id) => resume(transaction, new, id, &process).await?,
        None => insert(transaction, new, is_exclusive, &process).await?,
    };
    begun(transaction, new, id, unfinished.is_some()).await
}

impl NewImport {
    /// The digest of what is imported.
    pub(super) fn target(&self) -> String {
        let sources = self.sources.iter();
        let sources: Vec<_> = sources
            .map(|source| (&source.name, &source.beginning))
            .collect();
        let all = (&self.parameters, sources, self.keep_versions);
        let all = serde_json::to_vec(&all).expect("texts can be written");
        HEXLOWER.encode(&Sha256::digest(&all))
    }

    /// Describes the sources in words.
    fn described(&self) -> String {
        match &self.sources[..] {
            [] => "nothing".to_owned(),
            [source] => format!("`{}`", source.name),
            [source, others @ ..] => format!("`{}` and {} more", source.name, others.len()),
        }
    }
}

/// The last import of the same if it did not come to its end, or one of a part of its sources. Nobody is at it.
async fn unfinished(transaction: &mut Transaction, new: &NewImport) -> Result<Option<i64>, Error> {
    let sql = "SELECT id, state FROM import WHERE target = $1 ORDER BY id DESC LIMIT 1";
    let row = transaction.row(sql, [new.target().into()]).await?;
    match row {
        Some(row) if ["failed", "cancelled"].contains(&row.text("state")?.as_str()) => {
            Ok(Some(row.integer("id")?))
        }
        Some(_) => Ok(None),
        None => grown(transaction, new).await,
    }
}

async fn resume(
    transaction: &mut Transaction,
    new: &NewImport,
    id: i64,
    process: &str,
) -> Result<i64, Error> {
    if let Some(lease) = new.job {
        let sql = "SELECT run_id FROM import WHERE id = $1";
        if let Some(row) = transaction.row(sql, [id.into()]).await? {
            note_resumed(transaction, row.integer("run_id")?, lease.job).await?;
        }
    }
    let sql = "UPDATE import SET run_id = COALESCE($4, run_id), state = 'running', ended = NULL, reason = NULL, lease_owner = $2,
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
    is_exclusive: bool,
    process: &str,
) -> Result<i64, Error> {
    let starts = inherited(transaction, new).await?;
    let number = match new.job {
        Some(lease) => lease.job,
        None => new_number(transaction).await?,
    };
    let sql = "INSERT INTO import (target, parameters, keep_versions, job_id, schedule_id, state, started,
             lease_owner, lease_token, lease_until, exclusive, run_id)
         VALUES ($1, $2, $3, $4, (SELECT schedule_id FROM job WHERE id = $4), 'running', {now}, $5, 1, {now} + $6,
             $7, $8)
         RETURNING id";
    let values = [
        new.target().into(),
        new.parameters.as_str().into(),
        new.keep_versions.into(),
        new.job.map(|lease| lease.job).into(),
        process.into(),
        seconds(new.lease).into(),
        is_exclusive.into(),
        number.into(),
    ];
    let row = transaction.row(sql, values).await?;
    let id = row.map_or(Ok(0), |row| row.integer("id"))?;
    let sources = new.sources.iter().zip(starts).enumerate();
    let sources: Vec<_> = sources
        .map(|(at, (source, start))| (at, &source.name, &source.beginning, start))
        .collect();
    let sql = "INSERT INTO import_source (import_id, number, source, beginning, position)
         SELECT $1, CAST(item.value->>0 AS BIGINT), item.value->>1, item.value->>2, CAST(item.value->>3 AS BIGINT)
         FROM {each($2)} WHERE true";
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
    let sql = "SELECT reserved, superfluous, groups FROM import WHERE id = $1";
    let row = transaction.row(sql, [id.into()]).await?;
    let row = row.ok_or_else(lost)?;
    let reserved = row.maybe_text("reserved")?.unwrap_or_default();
    let superfluous = row.maybe_text("superfluous")?.unwrap_or_default();
    Ok(Import {
        lease: Lease {
            of: Leased::Import,
            id,
            token: entry.attempts,
            seconds: seconds(new.lease),
            job: new.job,
        },
        keep_versions: new.keep_versions,
        is_resumed,
        counters: entry.counters,
        groups: row.integer("groups")?,
        positions: entry.sources,
        reserved: serde_json::from_str(&reserved).unwrap_or_default(),
        superfluous: serde_json::from_str(&superfluous).unwrap_or_default(),
        preferred: Default::default(),
        preferred_contents: Default::default(),
        extraction: None,
        loaded: None,
    })
}
