//! Repositories are removed, a few thousand rows at a time, so that whoever harvests others is not kept waiting.
//!
//! Harvests stay away meanwhile. The history goes first: without it, a harvest that comes after a removal that was
//! killed begins from the start and misses nothing. A second removal finishes what the first left.

use std::collections::HashMap;
use std::time::Duration;

use crate::changes::bury_records;
use crate::database::Transaction;
use crate::database::rows::batch;
use crate::harvests::begin::make_way;
use crate::queue::jobs::lock_queue;
use crate::queue::lease::{Lease, Leased, seconds};
use crate::queue::owner;
use crate::queue::quiet;
use crate::repositories::entry::{counts, lock, refuse_while_busy};
use crate::{Catalog, Error, JobEnd, JobLease, RepositoryCounts};

/// How many rows a transaction removes, not counting those that hang on them.
const STEP: u64 = 2_000;

/// How long a removal may be silent. Every step makes it longer.
const LEASE: Duration = Duration::from_secs(120);

/// The rows that are removed before the records, and after them, in this order.
const BEFORE: [&str; 2] = [
    "DELETE FROM warning WHERE id IN (SELECT warning.id FROM warning
         JOIN history ON history.id = warning.history_id WHERE history.repository_id = $1 LIMIT $2)",
    "DELETE FROM history WHERE id IN (SELECT id FROM history WHERE repository_id = $1 LIMIT $2)",
];
const AFTER: [&str; 3] = [
    "DELETE FROM record_content WHERE name IN
         (SELECT name FROM record_content WHERE repository_id = $1 LIMIT $2)",
    "DELETE FROM oai_set WHERE id IN (SELECT id FROM oai_set WHERE repository_id = $1 LIMIT $2)",
    "DELETE FROM job WHERE id IN
         (SELECT id FROM job WHERE repository_id = $1 AND state <> 'running' LIMIT $2)",
];

impl Catalog {
    /// Removes a repository with all that belongs to it, and tells how much that was. Files are not touched. Refused
    /// while a job runs that is about it; those that wait are gone with it.
    pub async fn remove_repository(&self, id: i64) -> Result<RepositoryCounts, Error> {
        let (lease, counts) = self.begin_removal(id).await?;
        if let Err(error) = self.remove_all(id, lease).await {
            // A second attempt need not wait for the lease. The first error is reported, this one is not.
            let end = JobEnd::Failed {
                reason: error.to_string(),
                retry_in: None,
            };
            let _ = self.end_job(&lease, &end, &[]).await;
            return Err(error);
        }
        Ok(counts)
    }

    /// Keeps everybody away, and withdraws what is yet to be done.
    async fn begin_removal(&self, id: i64) -> Result<(JobLease, RepositoryCounts), Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        let base_url = lock(&mut transaction, id).await?;
        // No worker claims one of them meanwhile.
        let sql = "SELECT id FROM job WHERE repository_id = $1 AND state = 'scheduled' {lock}";
        transaction.rows(sql, [id.into()]).await?;
        refuse_while_busy(&mut transaction, id, &base_url).await?;
        make_way(&mut transaction, id, None).await?;
        let counts = counts(&mut transaction, id).await?;
        // Nothing is to be harvested again if this is killed.
        for sql in [
            "DELETE FROM job WHERE repository_id = $1 AND state = 'scheduled'",
            "DELETE FROM schedule WHERE repository_id = $1",
        ] {
            transaction.execute(sql, [id.into()]).await?;
        }
        let process = owner::this_process();
        let lease = quiet::insert(&mut transaction, id, "being removed", LEASE, process).await?;
        transaction.commit().await?;
        Ok((lease, counts))
    }

    async fn remove_all(&self, id: i64, lease: JobLease) -> Result<(), Error> {
        loop {
            let mut transaction = self.database.write().await?;
            lock(&mut transaction, id).await?;
            keep(&mut transaction, lease).await?;
            let removed = remove_some(&mut transaction, id).await?;
            transaction.commit().await?;
            if removed < STEP {
                break;
            }
        }
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        lock(&mut transaction, id).await?;
        keep(&mut transaction, lease).await?;
        let sql = "INSERT INTO former_repository (base_url, repository_id, name)
             SELECT base_url, id, name FROM repository WHERE id = $1
             ON CONFLICT (base_url) DO UPDATE SET repository_id = excluded.repository_id, name = excluded.name";
        transaction.execute(sql, [id.into()]).await?;
        let sql = "DELETE FROM repository WHERE id = $1";
        transaction.execute(sql, [id.into()]).await?;
        transaction.commit().await
    }
}

/// Makes the lease longer. Refused if it was lost, or somebody wants the removal to end.
async fn keep(transaction: &mut Transaction, lease: JobLease) -> Result<(), Error> {
    let sql = "SELECT id FROM job WHERE id = $1 AND cancel_requested = 0";
    let row = transaction.row(sql, [lease.job.into()]).await?;
    row.ok_or(Error::JobLost { job: lease.job })?;
    let lease = Lease {
        of: Leased::Job,
        id: lease.job,
        token: lease.token,
        seconds: seconds(LEASE),
        job: None,
    };
    lease.renew(transaction).await
}

/// Removes as much as a step may, and tells how much that was.
async fn remove_some(transaction: &mut Transaction, id: i64) -> Result<u64, Error> {
    let mut removed = 0;
    for sql in BEFORE {
        let limit = STEP.saturating_sub(removed);
        removed += transaction.execute(sql, [id.into(), limit.into()]).await?;
    }
    removed += remove_records(transaction, id, STEP.saturating_sub(removed)).await?;
    for sql in AFTER {
        let limit = STEP.saturating_sub(removed);
        removed += transaction.execute(sql, [id.into(), limit.into()]).await?;
    }
    Ok(removed)
}

/// Records of one format that are removed.
#[derive(Default)]
struct Removed {
    ids: Vec<i64>,
    records: i64,
    deleted: i64,
}

/// Removes records, of which tombstones stay, and takes them from what is counted.
async fn remove_records(transaction: &mut Transaction, id: i64, limit: u64) -> Result<u64, Error> {
    let sql = "SELECT id, metadata_prefix, deleted FROM record WHERE repository_id = $1 ORDER BY id LIMIT $2";
    let rows = transaction.rows(sql, [id.into(), limit.into()]).await?;
    let mut formats: HashMap<String, Removed> = HashMap::new();
    for row in &rows {
        let removed = formats.entry(row.text("metadata_prefix")?).or_default();
        removed.ids.push(row.integer("id")?);
        match row.flag("deleted")? {
            true => removed.deleted += 1,
            false => removed.records += 1,
        }
    }
    for (prefix, removed) in formats {
        bury_records(transaction, (id, &prefix), &removed.ids).await?;
        let ids: Vec<_> = removed.ids.iter().map(|id| (id,)).collect();
        let sql = "DELETE FROM record WHERE id {integers($1)}";
        transaction.execute(sql, [batch(&ids)]).await?;
        let sql = "UPDATE holding SET records = records - $3, deleted = deleted - $4
             WHERE repository_id = $1 AND metadata_prefix = $2";
        let values = [
            id.into(),
            prefix.into(),
            removed.records.into(),
            removed.deleted.into(),
        ];
        transaction.execute(sql, values).await?;
    }
    Ok(rows.len() as u64)
}
