//! A repair: an import of what lies in the collection already. No other runs meanwhile.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::begin::begin;
use super::lease::lock_collection;
use super::{Import, NewImport, Superfluous};
use crate::database::Transaction;
use crate::queue::jobs::lock_queue;
use crate::{Catalog, Error};

impl Catalog {
    /// Begins a repair of the collection, or goes on with one that was killed. Refused while an import is running, and no
    /// import begins before it is finished or its process is gone.
    ///
    /// It keeps older contents as versions. Imports that did not come to their end have no numbers any more: what they
    /// had placed is a file without a row like others. Tells which files they were about to remove.
    ///
    /// `is_behind` tells that files have numbers which the catalog did not give out: until the repair has come to its end,
    /// [`Catalog::is_behind`] holds, although the numbers are raised by then.
    pub async fn begin_repair(
        &self,
        lease: Duration,
        is_behind: bool,
    ) -> Result<(Import, Vec<Superfluous>), Error> {
        let new = NewImport {
            keep_versions: true,
            lease,
            ..NewImport::new("{\"verify\":\"repair\"}", vec!["the collection".to_owned()])
        };
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        lock_collection(&mut transaction).await?;
        let mut import = begin(&mut transaction, &new, true).await?;
        let superfluous = superfluous(&mut transaction).await?;
        let sql = "UPDATE import SET reserved = NULL, pinned = NULL
             WHERE reserved IS NOT NULL OR pinned IS NOT NULL";
        transaction.execute(sql, []).await?;
        import.reserved.clear();
        import.superfluous.clear();
        if is_behind {
            let sql = "UPDATE import_source SET position = $2 WHERE import_id = $1";
            transaction
                .execute(sql, [import.id().into(), BEHIND.into()])
                .await?;
            for source in &mut import.positions {
                source.position = BEHIND;
            }
        }
        transaction.commit().await?;
        Ok((import, superfluous))
    }

    /// Whether a repair of a catalog that was behind its collection began and did not come to its end.
    pub async fn is_behind(&self) -> Result<bool, Error> {
        let sql =
            "SELECT import.id FROM import JOIN import_source ON import_source.import_id = import.id
             WHERE import.id = (SELECT max(id) FROM import WHERE exclusive = 1)
                 AND import.state <> 'ok' AND import_source.position = $1";
        let row = self
            .database
            .read()
            .await?
            .row(sql, [BEHIND.into()])
            .await?;
        Ok(row.is_some())
    }

    /// Forgets which files imports were about to remove: they are removed.
    pub async fn forget_superfluous(&self) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        let sql = "UPDATE import SET superfluous = NULL
             WHERE superfluous IS NOT NULL AND (state <> 'running' OR exclusive = 1)";
        transaction.execute(sql, []).await?;
        transaction.commit().await
    }

    /// Numbers under which imports that did not come to their end, and do not run any more, may have placed files; and
    /// which import that was.
    pub async fn unfinished_numbers(&self) -> Result<HashMap<i64, i64>, Error> {
        let sql =
            "SELECT id, reserved FROM import WHERE state <> 'running' AND reserved IS NOT NULL";
        let rows = self.database.read().await?.rows(sql, []).await?;
        let mut numbers = HashMap::new();
        for row in rows {
            let import = row.integer("id")?;
            let reserved: HashMap<String, i64> =
                serde_json::from_str(&row.text("reserved")?).unwrap_or_default();
            numbers.extend(reserved.into_values().map(|number| (number, import)));
        }
        Ok(numbers)
    }

    /// Numbers whose files imports that are running are about to speak of, or to remove.
    pub async fn promised_numbers(&self) -> Result<HashSet<i64>, Error> {
        let sql = "SELECT reserved, superfluous FROM import WHERE state = 'running'";
        let rows = self.database.read().await?.rows(sql, []).await?;
        let mut numbers = HashSet::new();
        for row in rows {
            let reserved = row.maybe_text("reserved")?.unwrap_or_default();
            let reserved: HashMap<String, i64> =
                serde_json::from_str(&reserved).unwrap_or_default();
            numbers.extend(reserved.into_values());
            let superfluous = row.maybe_text("superfluous")?.unwrap_or_default();
            let superfluous: Vec<Superfluous> =
                serde_json::from_str(&superfluous).unwrap_or_default();
            numbers.extend(superfluous.iter().map(|file| file.number));
        }
        Ok(numbers)
    }
}

/// The position of a repair whose catalog was behind the collection when it began.
const BEHIND: u64 = 1;

/// Files that are to be removed, and that no content has.
async fn superfluous(transaction: &mut Transaction) -> Result<Vec<Superfluous>, Error> {
    let sql = "SELECT superfluous FROM import WHERE superfluous IS NOT NULL";
    let mut all: Vec<Superfluous> = Vec::new();
    for row in transaction.rows(sql, []).await? {
        let some: Vec<Superfluous> =
            serde_json::from_str(&row.text("superfluous")?).unwrap_or_default();
        all.extend(some);
    }
    let mut free = Vec::new();
    for file in all {
        let sql = "SELECT id FROM content WHERE id = $1";
        let row = transaction.row(sql, [file.number.into()]).await?;
        if row.is_none() {
            free.push(file);
        }
    }
    Ok(free)
}
