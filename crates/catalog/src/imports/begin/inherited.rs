//! An import of a schedule: it begins where the last one of the same schedule ended, so that only what came since is read.

use std::collections::HashMap;

use crate::database::Transaction;
use crate::imports::{ImportCounters, NewImport, NewSource};
use crate::{Catalog, Error};

impl Catalog {
    /// The names of the sources that the last import of a schedule read to its end; none if there was no such import.
    pub async fn last_sources(&self, schedule: i64, limit: u64) -> Result<Vec<String>, Error> {
        let sql = "SELECT source FROM import_source WHERE import_id =
                 (SELECT max(id) FROM import WHERE schedule_id = $1 AND state IN ('ok', 'incomplete'))
             ORDER BY number DESC LIMIT $2";
        let mut transaction = self.database.read().await?;
        let rows = transaction
            .rows(sql, [schedule.into(), limit.into()])
            .await?;
        rows.iter().map(|row| row.text("source")).collect()
    }
}

/// Where each source begins, in their order; at 0 if nothing of it was read, or if the import belongs to no schedule.
pub(crate) async fn inherited(
    transaction: &mut Transaction,
    new: &NewImport,
) -> Result<Vec<i64>, Error> {
    let positions = match last(transaction, new).await? {
        Some(last) => positions(transaction, last).await?,
        None => HashMap::new(),
    };
    let start = |source: &NewSource| {
        let key = (source.name.clone(), source.beginning.clone());
        let position = positions.get(&key).filter(|_| source.is_appended_to);
        position.copied().unwrap_or_default()
    };
    Ok(new.sources.iter().map(start).collect())
}

/// The last import of the same schedule that was told the same. Documents that it could not save come again only if
/// everything is read again.
async fn last(transaction: &mut Transaction, new: &NewImport) -> Result<Option<i64>, Error> {
    let sql = "SELECT id, counters FROM import
         WHERE schedule_id = (SELECT schedule_id FROM job WHERE id = $1) AND parameters = $2 AND keep_versions = $3
         ORDER BY id DESC LIMIT 1";
    let values = [
        new.job.map(|lease| lease.job).into(),
        new.parameters.as_str().into(),
        new.keep_versions.into(),
    ];
    let Some(row) = transaction.row(sql, values).await? else {
        return Ok(None);
    };
    let counters: ImportCounters = serde_json::from_str(&row.text("counters")?).unwrap_or_default();
    match counters.failed_save {
        0 => Ok(Some(row.integer("id")?)),
        _ => Ok(None),
    }
}

async fn positions(
    transaction: &mut Transaction,
    import: i64,
) -> Result<HashMap<(String, String), i64>, Error> {
    let sql = "SELECT source, beginning, position FROM import_source WHERE import_id = $1";
    let mut positions = HashMap::new();
    for row in transaction.rows(sql, [import.into()]).await? {
        let source = (row.text("source")?, row.text("beginning")?);
        positions.insert(source, row.integer("position")?);
    }
    Ok(positions)
}
