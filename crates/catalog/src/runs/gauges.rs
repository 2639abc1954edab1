//! Figures for monitoring, which are counted often and therefore cheaply.

use crate::{Catalog, Error};

/// How many there are of everything, by its state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gauges {
    /// Jobs that are due and wait.
    pub due: u64,
    /// For how many seconds the first of them has waited.
    pub oldest_due_seconds: u64,
    /// Jobs, by state.
    pub jobs: Vec<(String, u64)>,
    /// Harvests of the history, by state.
    pub harvests: Vec<(String, u64)>,
    /// Imports of the history, by state.
    pub imports: Vec<(String, u64)>,
    /// Documents.
    pub documents: u64,
    /// Contents.
    pub contents: u64,
    /// Bytes of the contents.
    pub content_bytes: u64,
}

impl Catalog {
    /// The figures of this moment.
    pub async fn gauges(&self) -> Result<Gauges, Error> {
        let mut transaction = self.database.list().await?;
        let sql = "SELECT count(*) AS number, COALESCE({now} - min(run_at), 0) AS age FROM job
             WHERE state = 'scheduled' AND run_at <= {now}";
        let mut gauges = Gauges::default();
        if let Some(row) = transaction.row(sql, []).await? {
            gauges.due = row.count("number")?;
            gauges.oldest_due_seconds = row.count("age")?;
        }
        for (table, states) in [
            ("job", &mut gauges.jobs),
            ("history", &mut gauges.harvests),
            ("import", &mut gauges.imports),
        ] {
            let sql = format!("SELECT state, count(*) AS number FROM {table} GROUP BY state");
            for row in transaction.rows(&sql, []).await? {
                states.push((row.text("state")?, row.count("number")?));
            }
        }
        let sql = "SELECT (SELECT count(*) FROM document) AS documents, count(*) AS contents,
                 CAST(COALESCE(sum(size), 0) AS BIGINT) AS bytes FROM content";
        if let Some(row) = transaction.row(sql, []).await? {
            gauges.documents = row.count("documents")?;
            gauges.contents = row.count("contents")?;
            gauges.content_bytes = row.count("bytes")?;
        }
        Ok(gauges)
    }
}
