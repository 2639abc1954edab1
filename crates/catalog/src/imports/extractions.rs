//! Extractions that are loaded: each counts once, whoever loads it and however often.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Import, Superfluous};
use crate::database::Transaction;
use crate::database::rows::{BATCH, batch};
use crate::queue::jobs::lock_queue;
use crate::{Catalog, Error};

/// The outcome of claiming an extraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtractionClaim {
    /// The import loads it.
    Claimed,
    /// It was loaded before.
    Loaded,
    /// Another import that is running loads it.
    Elsewhere,
}

impl Catalog {
    /// Those of some extractions that need no loading any more. One that an interrupted import loaded is not among them:
    /// the import is resumed with the same sources, and reads on behind it.
    pub async fn loaded_extractions(&self, keys: &[String]) -> Result<HashSet<String>, Error> {
        let sql = "SELECT key FROM extraction
             WHERE key IN (SELECT item.value->>0 FROM {each($1)} WHERE true) AND done = 1
                 AND NOT EXISTS (SELECT 1 FROM import WHERE import.id = extraction.import_id
                     AND import.state IN ('failed', 'cancelled'))";
        self.extractions(sql, keys).await
    }

    /// Notes that documents of the extraction that an import loads could not be read: it does not count as loaded when the
    /// import has come to its end, and can be loaded again.
    pub async fn note_unread_bytes(&self, import: &Import) -> Result<(), Error> {
        let Some(key) = &import.extraction else {
            return Ok(());
        };
        let mut transaction = self.database.write().await?;
        let sql = "UPDATE extraction SET done = $3 WHERE key = $1 AND import_id = $2 AND done = 0";
        let values = [key.as_str().into(), import.id().into(), UNREAD.into()];
        transaction.execute(sql, values).await?;
        transaction.commit().await
    }

    /// Imports of these extractions that were interrupted and that nobody resumes, since others have loaded all of their
    /// sources; with the numbers under which they may have placed files, or were about to remove some.
    pub async fn abandoned_imports(&self, keys: &[String]) -> Result<Vec<(i64, Vec<i64>)>, Error> {
        let sql = "SELECT DISTINCT import.id, import.reserved, import.superfluous FROM import
             JOIN import_source ON import_source.import_id = import.id
             WHERE import.state IN ('failed', 'cancelled')
                 AND (import.reserved IS NOT NULL OR import.superfluous IS NOT NULL)
                 AND import_source.beginning IN (SELECT item.value->>0 FROM {each($1)} WHERE true)
                 AND NOT EXISTS (SELECT 1 FROM import_source AS other WHERE other.import_id = import.id
                     AND NOT EXISTS (SELECT 1 FROM extraction WHERE extraction.key = other.beginning AND extraction.done = 1))
             ORDER BY import.id";
        let mut found = BTreeMap::new();
        let mut transaction = self.database.read().await?;
        for keys in keys.chunks(BATCH) {
            let keys: Vec<_> = keys.iter().map(|key| (key,)).collect();
            for row in transaction.rows(sql, [batch(&keys)]).await? {
                let [reserved, superfluous] = ["reserved", "superfluous"]
                    .map(|name| row.maybe_text(name).map(Option::unwrap_or_default));
                let reserved: HashMap<String, i64> =
                    serde_json::from_str(&reserved?).unwrap_or_default();
                let superfluous: Vec<Superfluous> =
                    serde_json::from_str(&superfluous?).unwrap_or_default();
                let superfluous = superfluous.iter().map(|file| file.number);
                let numbers = reserved.into_values().chain(superfluous);
                found.insert(row.integer("id")?, numbers.collect());
            }
        }
        Ok(found.into_iter().collect())
    }

    /// Forgets the numbers of an import that nobody resumes: its files are removed.
    pub async fn forget_reserved(&self, import: i64) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        let sql = "UPDATE import SET reserved = NULL, superfluous = NULL WHERE id = $1 AND state <> 'running'";
        transaction.execute(sql, [import.into()]).await?;
        transaction.commit().await
    }

    /// Those of some extractions that imports load which are running.
    pub async fn claimed_extractions(&self, keys: &[String]) -> Result<HashSet<String>, Error> {
        let sql = "SELECT key FROM extraction
             WHERE key IN (SELECT item.value->>0 FROM {each($1)} WHERE true) AND done <> 1
                 AND EXISTS (SELECT 1 FROM import WHERE import.id = extraction.import_id AND import.state = 'running')";
        self.extractions(sql, keys).await
    }

    async fn extractions(&self, sql: &str, keys: &[String]) -> Result<HashSet<String>, Error> {
        let mut found = HashSet::new();
        let mut transaction = self.database.read().await?;
        for keys in keys.chunks(BATCH) {
            let keys: Vec<_> = keys.iter().map(|key| (key,)).collect();
            for row in transaction.rows(sql, [batch(&keys)]).await? {
                found.insert(row.text("key")?);
            }
        }
        Ok(found)
    }

    /// Claims an extraction for an import, which notes it as loaded when it commits the last group of its source. One
    /// that an import claimed and did not load to its end is taken over once that import is not running any more.
    pub async fn claim_extraction(
        &self,
        import: &mut Import,
        key: &str,
    ) -> Result<ExtractionClaim, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        import.lease.check(&mut transaction).await?;
        let sql = "SELECT extraction.import_id, extraction.done, import.state FROM extraction
             LEFT JOIN import ON import.id = extraction.import_id WHERE key = $1";
        if let Some(row) = transaction.row(sql, [key.into()]).await? {
            let is_own = row.integer("import_id")? == import.id();
            if row.integer("done")? == 1 {
                return Ok(ExtractionClaim::Loaded);
            }
            if !is_own && row.maybe_text("state")?.as_deref() == Some("running") {
                return Ok(ExtractionClaim::Elsewhere);
            }
        }
        let sql = "INSERT INTO extraction (key, import_id) VALUES ($1, $2)
             ON CONFLICT (key) DO UPDATE SET import_id = excluded.import_id,
                 done = CASE WHEN extraction.import_id = excluded.import_id THEN extraction.done ELSE 0 END";
        transaction
            .execute(sql, [key.into(), import.id().into()])
            .await?;
        import.lease.keep(&mut transaction).await?;
        transaction.commit().await?;
        import.extraction = Some(key.to_owned());
        Ok(ExtractionClaim::Claimed)
    }
}

/// Notes the extraction that an import has loaded to its end. If another import has taken it over, this one is lost.
pub(super) async fn note_loaded(
    transaction: &mut Transaction,
    import: &Import,
) -> Result<(), Error> {
    let Some(key) = &import.extraction else {
        return Ok(());
    };
    let sql = "UPDATE extraction SET done = CASE WHEN done = $3 THEN done ELSE 1 END
         WHERE key = $1 AND import_id = $2";
    let values = [key.as_str().into(), import.id().into(), UNREAD.into()];
    match transaction.execute(sql, values).await? {
        0 => Err(Error::ImportLost {
            import: import.id(),
        }),
        _ => Ok(()),
    }
}

/// The state of an extraction whose documents could not all be read.
const UNREAD: i64 = 2;
