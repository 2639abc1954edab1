//! Records: looked up for a page, and listed.

use std::collections::HashMap;

use serde::Serialize;

use crate::bounded::bounded;
use crate::database::{Row, Transaction, Value};
use crate::rows::{BATCH, batch};
use crate::{Catalog, Error, Validation};

/// What is known of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its datestamp in seconds, if it could be read.
    pub datestamp: Option<i64>,
    /// Whether it is deleted.
    pub deleted: bool,
    /// Its file, as the store names it.
    pub file: Option<String>,
    /// The digest of its content.
    pub sha256: Option<String>,
    /// What validation made of it.
    pub validation: Validation,
    /// The harvest that saw it last.
    pub run: i64,
}

/// A record in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordEntry {
    /// Its number, by which lists are ordered.
    pub id: i64,
    /// The number of its repository.
    pub repository: i64,
    /// Its format.
    pub metadata_prefix: String,
    /// Its identifier.
    pub identifier: String,
    /// Its datestamp in seconds, if it could be read.
    pub datestamp: Option<i64>,
    /// Whether it is deleted.
    pub deleted: bool,
    /// Its file, as the store names it.
    pub file: Option<String>,
    /// The digest of its content.
    pub sha256: Option<String>,
    /// When it was harvested, in seconds.
    pub harvested: i64,
    /// What validation made of it.
    pub validation: Validation,
    /// The sets that it is in.
    pub set_specs: Vec<String>,
}

/// How many records of a repository are held in one format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FormatCounts {
    /// The format.
    pub metadata_prefix: String,
    /// Records that are not deleted.
    pub records: u64,
    /// Records that are.
    pub deleted: u64,
}

/// Which records are wanted.
#[derive(Debug, Clone)]
pub struct RecordQuery {
    /// Those of one repository.
    pub repository: Option<i64>,
    /// Those in one format.
    pub metadata_prefix: Option<String>,
    /// Those of a set or of one below it.
    pub set: Option<String>,
    /// Those with this datestamp or a later one, in seconds.
    pub since: Option<i64>,
    /// Those that this harvest found to be new or changed.
    pub changed_by: Option<i64>,
    /// Those that are deleted, or those that are not.
    pub deleted: Option<bool>,
    /// Those that this harvest has not seen: after a full one, they are gone.
    pub not_seen_by: Option<i64>,
    /// Those behind the record with this number, for the next page.
    pub after: i64,
    /// How many at most.
    pub limit: u64,
}

impl RecordEntry {
    /// Whether there is more of it than a header: it is not deleted and was not left out.
    pub fn is_held(&self) -> bool {
        !self.deleted && (self.validation != Validation::Skipped || self.file.is_some())
    }
}

impl Default for RecordQuery {
    fn default() -> Self {
        Self {
            repository: None,
            metadata_prefix: None,
            set: None,
            since: None,
            changed_by: None,
            deleted: None,
            not_seen_by: None,
            after: 0,
            limit: 500,
        }
    }
}

impl Catalog {
    /// What is known of the records with these identifiers; the others are missing in the answer.
    pub async fn known(
        &self,
        repository: i64,
        metadata_prefix: &str,
        identifiers: &[&str],
    ) -> Result<HashMap<String, Known>, Error> {
        let mut known = HashMap::with_capacity(identifiers.len());
        let mut transaction = self.database.read().await?;
        for identifiers in identifiers.chunks(BATCH) {
            let keys: Vec<_> = identifiers.iter().map(|text| (bounded(text),)).collect();
            let sql = "SELECT COALESCE(identifier_in_full, identifier) AS identifier, datestamp, deleted, file, sha256,
                     validation, run_id {found}";
            let prefix = bounded(metadata_prefix);
            let values = [repository.into(), prefix.as_ref().into(), batch(&keys)];
            for row in transaction.rows(sql, values).await? {
                let record = Known {
                    datestamp: row.maybe_integer("datestamp")?,
                    deleted: row.flag("deleted")?,
                    file: row.maybe_text("file")?,
                    sha256: row.maybe_text("sha256")?,
                    validation: Validation::parse(&row.text("validation")?),
                    run: row.integer("run_id")?,
                };
                known.insert(row.text("identifier")?, record);
            }
        }
        Ok(known)
    }

    /// How many records of a repository are held in each format that there is one of.
    pub async fn format_counts(&self, repository: i64) -> Result<Vec<FormatCounts>, Error> {
        let sql =
            "SELECT metadata_prefix, count(*) AS records, CAST(sum(deleted) AS BIGINT) AS deleted
             FROM record WHERE repository_id = $1 GROUP BY metadata_prefix";
        let mut transaction = self.database.read().await?;
        let rows = transaction.rows(sql, [repository.into()]).await?;
        let mut formats = rows
            .iter()
            .map(|row| {
                let deleted = row.count("deleted")?;
                Ok(FormatCounts {
                    metadata_prefix: row.text("metadata_prefix")?,
                    records: row.count("records")? - deleted,
                    deleted,
                })
            })
            .collect::<Result<Vec<_>, Error>>()?;
        // The databases order texts differently.
        formats.sort_by(|a, b| a.metadata_prefix.cmp(&b.metadata_prefix));
        Ok(formats)
    }

    /// Records in the order of their numbers. The next page begins after the number of the last.
    pub async fn records(&self, query: &RecordQuery) -> Result<Vec<RecordEntry>, Error> {
        let (sql, values) = query.statement();
        let mut transaction = self.database.read().await?;
        let rows = transaction.rows(&sql, values).await?;
        let mut records = rows.iter().map(record).collect::<Result<Vec<_>, _>>()?;
        for records in records.chunks_mut(BATCH) {
            add_sets(&mut transaction, records).await?;
        }
        Ok(records)
    }
}

impl RecordQuery {
    /// Only what is asked for stands in the statement, so that the database can use its indexes.
    fn statement(&self) -> (String, Vec<Value>) {
        let mut sql = "SELECT id, repository_id, metadata_prefix,
             COALESCE(identifier_in_full, identifier) AS identifier, datestamp, deleted, file, sha256, harvested,
             validation FROM record WHERE id > $1"
            .to_owned();
        let mut values = vec![Value::from(self.after)];
        let mut only = |condition: &str, value: Option<Value>| {
            if let Some(value) = value {
                values.push(value);
                sql.push_str(" AND ");
                sql.push_str(&condition.replace("$n", &format!("${}", values.len())));
            }
        };
        let prefix = self.metadata_prefix.as_deref().map(bounded);
        let set = self.set.as_deref().map(bounded);
        only("repository_id = $n", self.repository.map(Into::into));
        only(
            "metadata_prefix = $n",
            prefix.map(|text| text.as_ref().into()),
        );
        only("datestamp >= $n", self.since.map(Into::into));
        only("changed_by = $n", self.changed_by.map(Into::into));
        only("deleted = $n", self.deleted.map(Into::into));
        only("run_id <> $n", self.not_seen_by.map(Into::into));
        only(
            "EXISTS (SELECT 1 FROM record_set JOIN oai_set ON oai_set.id = record_set.set_id
                 WHERE record_set.record_id = record.id AND (oai_set.set_spec = $n
                 OR substr(oai_set.set_spec, 1, length($n) + 1) = $n || ':'))",
            set.map(|text| text.as_ref().into()),
        );
        values.push(self.limit.into());
        sql.push_str(&format!(" ORDER BY id LIMIT ${}", values.len()));
        (sql, values)
    }
}

fn record(row: &Row) -> Result<RecordEntry, Error> {
    Ok(RecordEntry {
        id: row.integer("id")?,
        repository: row.integer("repository_id")?,
        metadata_prefix: row.text("metadata_prefix")?,
        identifier: row.text("identifier")?,
        datestamp: row.maybe_integer("datestamp")?,
        deleted: row.flag("deleted")?,
        file: row.maybe_text("file")?,
        sha256: row.maybe_text("sha256")?,
        harvested: row.integer("harvested")?,
        validation: Validation::parse(&row.text("validation")?),
        set_specs: Vec::new(),
    })
}

async fn add_sets(transaction: &mut Transaction, records: &mut [RecordEntry]) -> Result<(), Error> {
    let ids: Vec<_> = records.iter().map(|record| (record.id,)).collect();
    let sql = "SELECT record_id, set_spec FROM record_set
         JOIN oai_set ON oai_set.id = record_set.set_id WHERE record_id {integers($1)}";
    let mut sets: HashMap<i64, Vec<String>> = HashMap::new();
    for row in transaction.rows(sql, [batch(&ids)]).await? {
        let record = sets.entry(row.integer("record_id")?).or_default();
        record.push(row.text("set_spec")?);
    }
    for record in records {
        record.set_specs = sets.remove(&record.id).unwrap_or_default();
        record.set_specs.sort();
    }
    Ok(())
}
