//! The sets of a repository.

use std::collections::HashMap;

use serde::Serialize;

use crate::database::Row;
use crate::database::bounded::{bounded, clean};
use crate::database::conditions::{Conditions, containing};
use crate::database::rows::{BATCH, batch};
use crate::repositories::entry::lock;
use crate::{Catalog, Error};

/// A set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Set {
    /// Its `setSpec`.
    pub set_spec: String,
    /// Its `setName`, if ListSets told it.
    pub name: Option<String>,
    /// Whether the last ListSets had it; the others are named by records alone.
    pub listed: bool,
}

impl Catalog {
    /// Takes over what ListSets answered: pairs of `setSpec` and `setName`. Sets that are not there any more and hold
    /// no records are forgotten.
    pub async fn replace_sets(
        &self,
        repository: i64,
        sets: &[(String, Option<String>)],
    ) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        lock(&mut transaction, repository).await?;
        let sql = "UPDATE oai_set SET listed = 0 WHERE repository_id = $1 AND listed = 1";
        transaction.execute(sql, [repository.into()]).await?;
        // One statement must not have the same set twice; the last name counts.
        let mut unique = std::collections::BTreeMap::new();
        for (set_spec, name) in sets {
            unique.insert(bounded(set_spec), name.as_deref().map(clean));
        }
        let rows: Vec<_> = unique.iter().collect();
        for rows in rows.chunks(BATCH) {
            let sql = "INSERT INTO oai_set (repository_id, set_spec, name, listed)
                 SELECT $1, item.value->>0, item.value->>1, 1 FROM {each($2)} WHERE true
                 ON CONFLICT (repository_id, set_spec) DO UPDATE SET name = excluded.name, listed = 1";
            let values = [repository.into(), batch(rows)];
            transaction.execute(sql, values).await?;
        }
        let sql = "DELETE FROM oai_set WHERE repository_id = $1 AND listed = 0
             AND NOT EXISTS (SELECT 1 FROM record_set WHERE record_set.set_id = oai_set.id)";
        transaction.execute(sql, [repository.into()]).await?;
        transaction.commit().await
    }

    /// The sets of a repository, in the order of their `setSpec`.
    pub async fn sets(&self, repository: i64) -> Result<Vec<Set>, Error> {
        let sql = "SELECT set_spec, name, listed FROM oai_set WHERE repository_id = $1";
        let mut transaction = self.database.read().await?;
        let rows = transaction.rows(sql, [repository.into()]).await?;
        let mut sets = rows.iter().map(set).collect::<Result<Vec<_>, Error>>()?;
        // The databases order texts differently.
        sets.sort_by(|a, b| a.set_spec.cmp(&b.set_spec));
        Ok(sets)
    }

    /// The set of a repository with this `setSpec`.
    pub async fn set(&self, repository: i64, set_spec: &str) -> Result<Option<Set>, Error> {
        let sql = "SELECT set_spec, name, listed FROM oai_set
             WHERE repository_id = $1 AND set_spec = $2";
        let values = [repository.into(), (&*bounded(set_spec)).into()];
        let row = self.database.read().await?.row(sql, values).await?;
        row.as_ref().map(set).transpose()
    }

    /// At most `limit` sets of a repository, with `text` in their `setSpec` or `setName` if given, in about the
    /// order of their `setSpec`. Some repositories have a set for every author.
    pub async fn some_sets(
        &self,
        repository: i64,
        text: Option<&str>,
        limit: u64,
    ) -> Result<Vec<Set>, Error> {
        let mut conditions = Conditions::default();
        conditions.only("repository_id = $n", Some(repository));
        let text = text.map(str::trim).filter(|text| !text.is_empty());
        conditions.only(
            "(lower(set_spec) LIKE $n ESCAPE '!' OR lower(COALESCE(name, '')) LIKE $n ESCAPE '!')",
            text.map(containing),
        );
        let select = "SELECT set_spec, name, listed FROM oai_set";
        let (sql, values) = conditions.some(select, "ORDER BY set_spec", limit);
        let rows = self.database.list().await?.rows(&sql, values).await?;
        rows.iter().map(set).collect()
    }

    /// The number of records in each of these sets of a repository, in their order, each counted up to `at_most`.
    pub async fn count_set_records(
        &self,
        repository: i64,
        set_specs: &[&str],
        at_most: u64,
    ) -> Result<Vec<u64>, Error> {
        let mut counts = HashMap::with_capacity(set_specs.len());
        let mut transaction = self.database.list().await?;
        for set_specs in set_specs.chunks(BATCH) {
            let keys: Vec<_> = set_specs.iter().map(|set| (bounded(set),)).collect();
            let sql = format!(
                "SELECT set_spec, (SELECT count(*) FROM
                     (SELECT 1 FROM record_set WHERE record_set.set_id = oai_set.id LIMIT {at_most}) AS some) AS records
                 FROM oai_set WHERE repository_id = $1 AND set_spec {{texts($2)}}"
            );
            let values = [repository.into(), batch(&keys)];
            for row in transaction.rows(&sql, values).await? {
                counts.insert(row.text("set_spec")?, row.count("records")?);
            }
        }
        let count = |set: &&str| counts.get(bounded(set).as_ref()).copied();
        Ok(set_specs
            .iter()
            .map(|set| count(set).unwrap_or_default())
            .collect())
    }
}

fn set(row: &Row) -> Result<Set, Error> {
    Ok(Set {
        set_spec: row.text("set_spec")?,
        name: row.maybe_text("name")?,
        listed: row.flag("listed")?,
    })
}
