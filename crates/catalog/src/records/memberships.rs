//! Which records are in which sets: what a batch of rows changes of it.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use crate::database::Transaction;
use crate::database::bounded::bounded;
use crate::database::rows::{BATCH, batch};
use crate::{Error, RecordRow};

/// The numbers of all sets that a batch of rows names.
pub(crate) struct Sets(HashMap<String, i64>);

/// Pairs of a record and a set that are to be written.
#[derive(Default)]
pub(crate) struct Memberships {
    added: Vec<(i64, i64)>,
    removed: Vec<(i64, i64)>,
}

impl Sets {
    /// Reads them, and makes those that are not known.
    pub(crate) async fn read(
        transaction: &mut Transaction,
        repository: i64,
        rows: &[RecordRow],
    ) -> Result<Self, Error> {
        let named: BTreeSet<Cow<'_, str>> = rows
            .iter()
            .flat_map(|row| &row.set_specs)
            .map(|set_spec| bounded(set_spec))
            .collect();
        let named: Vec<_> = named.into_iter().map(|set_spec| (set_spec,)).collect();
        let mut sets = Self(HashMap::with_capacity(named.len()));
        for named in named.chunks(BATCH) {
            sets.find(transaction, repository, named).await?;
            if named
                .iter()
                .all(|(set_spec,)| sets.0.contains_key(set_spec.as_ref()))
            {
                continue;
            }
            let sql = "INSERT INTO oai_set (repository_id, set_spec)
                 SELECT $1, item.value->>0 FROM {each($2)} WHERE true ON CONFLICT DO NOTHING";
            let values = [repository.into(), batch(named)];
            transaction.execute(sql, values).await?;
            sets.find(transaction, repository, named).await?;
        }
        Ok(sets)
    }

    /// The numbers of the sets that a row names.
    pub(crate) fn of(&self, row: &RecordRow) -> BTreeSet<i64> {
        let id = |set_spec: &String| self.0.get(bounded(set_spec).as_ref()).copied();
        row.set_specs.iter().filter_map(id).collect()
    }

    async fn find(
        &mut self,
        transaction: &mut Transaction,
        repository: i64,
        named: &[(Cow<'_, str>,)],
    ) -> Result<(), Error> {
        let sql =
            "SELECT id, set_spec FROM oai_set WHERE repository_id = $1 AND set_spec {texts($2)}";
        let values = [repository.into(), batch(named)];
        for row in transaction.rows(sql, values).await? {
            self.0.insert(row.text("set_spec")?, row.integer("id")?);
        }
        Ok(())
    }
}

impl Memberships {
    /// Notes what brings a record from the sets that it is in to those that it is to be in.
    pub(crate) fn change(&mut self, record: i64, held: &BTreeSet<i64>, wanted: &BTreeSet<i64>) {
        let pair = |set: &i64| (record, *set);
        self.added.extend(wanted.difference(held).map(pair));
        self.removed.extend(held.difference(wanted).map(pair));
    }

    /// Writes what was noted.
    pub(crate) async fn write(self, transaction: &mut Transaction) -> Result<(), Error> {
        for pairs in self.removed.chunks(BATCH) {
            let sql = "DELETE FROM record_set WHERE record_id {integers($1)} AND (record_id, set_id) IN
                 (SELECT CAST(item.value->>0 AS BIGINT), CAST(item.value->>1 AS BIGINT) FROM {each($1)})";
            transaction.execute(sql, [batch(pairs)]).await?;
        }
        for pairs in self.added.chunks(BATCH) {
            let sql = "INSERT INTO record_set (record_id, set_id)
                 SELECT CAST(item.value->>0 AS BIGINT), CAST(item.value->>1 AS BIGINT)
                 FROM {each($1)} WHERE true ON CONFLICT DO NOTHING";
            transaction.execute(sql, [batch(pairs)]).await?;
        }
        Ok(())
    }
}
