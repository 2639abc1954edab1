//! Runs by their numbers, with all that belongs to them.

use std::collections::HashMap;

use super::RunRow;
use crate::database::rows::batch;
use crate::database::{Transaction, Value};
use crate::harvests::history;
use crate::imports::{entries_of_runs, run_of_import};
use crate::queue::job;
use crate::{Catalog, Error, HistoryEntry, ImportEntry};

impl Catalog {
    /// The run with this number.
    pub async fn run(&self, id: i64) -> Result<Option<RunRow>, Error> {
        let mut transaction = self.database.read().await?;
        Ok(load(&mut transaction, &[id]).await?.pop())
    }

    /// The run that resumed the harvest or import of another.
    pub async fn resumed_by(&self, run: i64) -> Result<Option<i64>, Error> {
        let sql = "SELECT resumed_by FROM former_run WHERE run_id = $1";
        let row = self.database.read().await?.row(sql, [run.into()]).await?;
        row.map(|row| row.integer("resumed_by")).transpose()
    }

    /// The number of the run that a harvest belongs to.
    pub async fn run_of_harvest(&self, harvest: i64) -> Result<Option<i64>, Error> {
        let sql = "SELECT run_id FROM history WHERE id = $1";
        let row = self
            .database
            .read()
            .await?
            .row(sql, [harvest.into()])
            .await?;
        row.map(|row| row.integer("run_id")).transpose()
    }

    /// The number of the run that an import belongs to.
    pub async fn run_of_import(&self, import: i64) -> Result<Option<i64>, Error> {
        run_of_import(&mut self.database.read().await?, import).await
    }

    /// The runs of the same before and after this one: of the same repository, format and set, or of the same import.
    pub async fn neighbours(&self, run: &RunRow) -> Result<[Option<i64>; 2], Error> {
        let (table, same, values): (_, _, Vec<Value>) = match (&run.harvest, &run.import) {
            (Some(harvest), _) => {
                let set = harvest.set.as_deref().unwrap_or_default();
                let prefix = harvest.metadata_prefix.as_str();
                let values = vec![harvest.repository.into(), prefix.into(), set.into()];
                (
                    "history",
                    "repository_id = $2 AND metadata_prefix = $3 AND set_spec = $4",
                    values,
                )
            }
            (None, Some(import)) => match import.schedule {
                Some(schedule) => ("import", "schedule_id = $2", vec![schedule.into()]),
                None => {
                    let same = "target = (SELECT target FROM import WHERE id = $2)";
                    ("import", same, vec![import.id.into()])
                }
            },
            (None, None) => return Ok([None, None]),
        };
        let mut transaction = self.database.read().await?;
        let mut found = [None, None];
        for (at, (side, order)) in [("<", "DESC"), (">", "ASC")].into_iter().enumerate() {
            let sql = format!(
                "SELECT run_id FROM {table} WHERE {same} AND run_id {side} $1 ORDER BY run_id {order} LIMIT 1"
            );
            let mut all = vec![run.id.into()];
            all.extend(values.iter().cloned());
            let row = transaction.row(&sql, all).await?;
            found[at] = row.map(|row| row.integer("run_id")).transpose()?;
        }
        Ok(found)
    }
}

/// The runs with these numbers, in this order. Numbers of nothing are skipped.
pub(super) async fn load(transaction: &mut Transaction, ids: &[i64]) -> Result<Vec<RunRow>, Error> {
    let numbers: Vec<_> = ids.iter().map(|id| (id,)).collect();
    let numbers = || [batch(&numbers)];
    let sql = format!("{} WHERE job.id {{integers($1)}}", job::SELECT);
    let mut jobs = HashMap::new();
    for row in transaction.rows(&sql, numbers()).await? {
        let job = job::job(&row)?;
        jobs.insert(job.id, job);
    }
    let sql = history::SELECT.replacen("SELECT ", "SELECT history.run_id, ", 1);
    // The last attempt comes last, and takes the place of the ones before.
    let sql = format!("{sql} WHERE history.run_id {{integers($1)}} ORDER BY history.id");
    let mut harvests: HashMap<i64, HistoryEntry> = HashMap::new();
    for row in transaction.rows(&sql, numbers()).await? {
        harvests.insert(row.integer("run_id")?, history::entry(&row)?);
    }
    let mut imports: HashMap<i64, ImportEntry> = entries_of_runs(transaction, numbers()).await?;
    let run = |id: &i64| {
        let run = RunRow {
            id: *id,
            job: jobs.remove(id),
            harvest: harvests.remove(id),
            import: imports.remove(id),
        };
        let is_known = run.job.is_some() || run.harvest.is_some() || run.import.is_some();
        is_known.then_some(run)
    };
    Ok(ids.iter().filter_map(run).collect())
}
