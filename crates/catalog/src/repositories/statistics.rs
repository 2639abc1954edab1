//! Totals, and activity over time.

use serde::Serialize;

use crate::{Catalog, Error};

/// Totals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Repositories.
    pub repositories: u64,
    /// Records that are not deleted.
    pub records: u64,
    /// Records that are.
    pub deleted: u64,
    /// Records that cannot be found by their words, because their files could not be read.
    pub unread: u64,
    /// Bytes of the answers to all harvests of the history.
    pub bytes: u64,
    /// Harvests of the history.
    pub harvests: u64,
    /// Jobs, by how they stand.
    pub jobs: JobCounts,
}

/// How many jobs stand so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct JobCounts {
    /// Those that wait.
    pub scheduled: u64,
    /// Those that run.
    pub running: u64,
    /// Those that came to their end.
    pub finished: u64,
    /// Those that did not.
    pub failed: u64,
    /// Those that somebody withdrew or stopped.
    pub cancelled: u64,
}

/// The activity of a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Bucket {
    /// When it begins, in seconds; it ends where the next begins.
    pub from: i64,
    /// Records of the harvests that began in it, changed or not.
    pub records: u64,
    /// Bytes of their answers.
    pub bytes: u64,
    /// How many harvests began in it.
    pub harvests: u64,
    /// How many of these failed.
    pub failed: u64,
}

/// How many buckets anybody can look at; of more, the last are given.
const MOST_BUCKETS: i64 = 2_000;

/// How much the document collection has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CollectionFigures {
    /// Documents.
    pub documents: u64,
    /// Whether the number of documents is exact; it is estimated for large collections.
    pub is_exact: bool,
    /// Contents whose decision is `unsure`, counted up to 1000.
    pub unsure: u64,
    /// Imports.
    pub imports: u64,
}

/// The most documents that are counted; above, their last number is the estimate.
const COUNTED_DOCUMENTS: u64 = 100_000;

impl Catalog {
    /// How much the document collection has, without reading all of it.
    pub async fn collection_figures(&self) -> Result<CollectionFigures, Error> {
        let mut transaction = self.database.list().await?;
        let sql = "SELECT (SELECT count(*) FROM (SELECT 1 AS one FROM document LIMIT $1) AS counted) AS documents,
                 COALESCE((SELECT max(id) FROM document), 0) AS last,
                 (SELECT count(*) FROM (SELECT 1 AS one FROM content WHERE decision = 'unsure' LIMIT 1000) AS counted) AS unsure,
                 (SELECT count(*) FROM import) AS imports";
        let Some(row) = transaction.row(sql, [COUNTED_DOCUMENTS.into()]).await? else {
            return Ok(CollectionFigures::default());
        };
        let documents = row.count("documents")?;
        let is_exact = documents < COUNTED_DOCUMENTS;
        Ok(CollectionFigures {
            documents: match is_exact {
                true => documents,
                false => row.count("last")?.max(documents),
            },
            is_exact,
            unsure: row.count("unsure")?,
            imports: row.count("imports")?,
        })
    }

    /// Totals.
    pub async fn totals(&self) -> Result<Totals, Error> {
        let mut transaction = self.database.list().await?;
        let sql = "SELECT (SELECT count(*) FROM repository) AS repositories,
                 CAST(COALESCE((SELECT sum(records) FROM holding), 0) AS BIGINT) AS records,
                 CAST(COALESCE((SELECT sum(deleted) FROM holding), 0) AS BIGINT) AS deleted,
                 (SELECT count(*) FROM unread_record) AS unread,
                 CAST(COALESCE(sum(bytes), 0) AS BIGINT) AS bytes, count(*) AS harvests
             FROM history";
        let mut totals = Totals::default();
        if let Some(row) = transaction.row(sql, []).await? {
            totals.repositories = row.count("repositories")?;
            totals.records = row.count("records")?;
            totals.deleted = row.count("deleted")?;
            totals.unread = row.count("unread")?;
            totals.bytes = row.count("bytes")?;
            totals.harvests = row.count("harvests")?;
        }
        let sql = "SELECT state, count(*) AS number FROM job GROUP BY state";
        for row in transaction.rows(sql, []).await? {
            let number = row.count("number")?;
            match row.text("state")?.as_str() {
                "scheduled" => totals.jobs.scheduled = number,
                "running" => totals.jobs.running = number,
                "finished" => totals.jobs.finished = number,
                "failed" => totals.jobs.failed = number,
                "cancelled" => totals.jobs.cancelled = number,
                _ => {}
            }
        }
        Ok(totals)
    }

    /// Activity from `since` to now, in steps of `step_seconds`. Empty steps are included. The first
    /// begins at the last full step of a clock that is `offset` seconds ahead of UTC, so that days begin at its midnight.
    pub async fn activity(
        &self,
        since: i64,
        step_seconds: i64,
        offset: i64,
    ) -> Result<Vec<Bucket>, Error> {
        let step = step_seconds.max(1);
        let mut transaction = self.database.list().await?;
        let row = transaction.row("SELECT {now} AS now", []).await?;
        let now = row.map_or(Ok(since), |row| row.integer("now"))?;
        let last = (now + offset).div_euclid(step).max(0);
        let first = (since + offset)
            .div_euclid(step)
            .clamp((last - MOST_BUCKETS + 1).max(0), last);
        let empty = |number| Bucket {
            from: number * step - offset,
            ..Bucket::default()
        };
        let mut buckets: Vec<_> = (first..=last).map(empty).collect();
        let sql = "SELECT (started + $3) / $2 AS step, count(*) AS harvests, CAST(sum(bytes) AS BIGINT) AS bytes,
                 CAST(sum(new_records + updated + unchanged + deleted) AS BIGINT) AS records,
                 CAST(sum(CASE WHEN state = 'failed' THEN 1 ELSE 0 END) AS BIGINT) AS failed
             FROM history WHERE started >= $1 GROUP BY (started + $3) / $2";
        let values = [(first * step - offset).into(), step.into(), offset.into()];
        for row in transaction.rows(sql, values).await? {
            let at = usize::try_from(row.integer("step")? - first).unwrap_or_default();
            // A start in the future, after a clock was set back, is shown in the last bucket.
            let at = at.min(buckets.len() - 1);
            buckets[at].records += row.count("records")?;
            buckets[at].bytes += row.count("bytes")?;
            buckets[at].harvests += row.count("harvests")?;
            buckets[at].failed += row.count("failed")?;
        }
        Ok(buckets)
    }
}
