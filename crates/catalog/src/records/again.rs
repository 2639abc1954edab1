//! Records whose files are lost: asked for again by the next harvest.

use crate::database::bounded::{bounded, clean};
use crate::database::rows::{BATCH, batch};
use crate::repositories::entry::lock;
use crate::{Catalog, Error};

impl Catalog {
    /// Has the next harvest of a repository in a format ask for these records one by one, and write their files anew.
    /// Tells whether there is a harvest that the next one builds upon; without one it asks for everything anyway.
    pub async fn ask_again(
        &self,
        repository: i64,
        metadata_prefix: &str,
        identifiers: &[&str],
        reason: &str,
    ) -> Result<bool, Error> {
        let mut transaction = self.database.write().await?;
        lock(&mut transaction, repository).await?;
        let prefix = bounded(metadata_prefix);
        // The harvest of everything knows most records.
        let sql = "SELECT id FROM history WHERE repository_id = $1 AND metadata_prefix = $2
                 AND state IN ('ok', 'incomplete') AND next_from IS NOT NULL
             ORDER BY CASE WHEN set_spec = '' THEN 0 ELSE 1 END, id DESC LIMIT 1";
        let values = [repository.into(), metadata_prefix.into()];
        let last = transaction.row(sql, values).await?;
        let last = last.map(|row| row.integer("id")).transpose()?;
        for identifiers in identifiers.chunks(BATCH) {
            let keys: Vec<_> = identifiers.iter().map(|text| (bounded(text),)).collect();
            let sql = "UPDATE record SET sha256 = NULL WHERE id IN (SELECT record.id {found})";
            let values = [repository.into(), prefix.as_ref().into(), batch(&keys)];
            transaction.execute(sql, values).await?;
            let Some(last) = last else { continue };
            let rows: Vec<_> = identifiers.iter().map(|text| (clean(text),)).collect();
            let sql = "INSERT INTO warning (history_id, identifier, reason, lost)
                 SELECT $1, item.value->>0, $3, 1 FROM {each($2)} WHERE true";
            let values = [last.into(), batch(&rows), reason.into()];
            transaction.execute(sql, values).await?;
        }
        transaction.commit().await?;
        Ok(last.is_some())
    }
}
