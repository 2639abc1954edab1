//! Records: looked up for a page, and listed.

use std::collections::HashMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::database::bounded::bounded;
use crate::database::rows::{BATCH, batch};
use crate::database::{Row, Transaction};
use crate::{Catalog, Error, Validation};

/// A record's row.
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
    /// The result of validation.
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
    /// The result of validation.
    pub validation: Validation,
    /// Its title, if its words were read.
    pub title: Option<String>,
    /// The harvest that saw it last.
    pub seen_by: i64,
    /// The harvest that found it to be new or changed.
    pub changed_by: i64,
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

/// In which order records are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Those first that the catalog has known for longest.
    #[default]
    Oldest,
    /// Those first that it came to know last.
    Newest,
}

/// By which of their values records are listed; those that are alike in it go by their numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RecordColumn {
    /// Their numbers.
    #[default]
    Number,
    /// Their datestamps; none is the earliest.
    Datestamp,
    /// Their titles; none is the first.
    Title,
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
    /// Those with this datestamp or an earlier one, in seconds.
    pub until: Option<i64>,
    /// Those with these words: all of them, `"a phrase"`, `begin*`. Any text is understood; without a word in it,
    /// nothing is asked for.
    pub text: Option<String>,
    /// Those that this harvest found to be new or changed.
    pub changed_by: Option<i64>,
    /// Those that are deleted, or those that are not.
    pub deleted: Option<bool>,
    /// Those that validation and filters made this of.
    pub validation: Option<Validation>,
    /// Those that this harvest has not seen: after a full one, they are gone.
    pub not_seen_by: Option<i64>,
    /// Those with a larger number than this: the next page of a list from the oldest.
    pub after: i64,
    /// Those with a smaller number than this: the next page of a list from the newest.
    pub before: Option<i64>,
    /// By which value they are ordered.
    pub by: RecordColumn,
    /// In which order.
    pub order: Order,
    /// Those behind this record, whatever they are ordered by: the next page.
    pub behind: Option<i64>,
    /// Those of these numbers.
    pub among: Option<Vec<i64>>,
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
            until: None,
            text: None,
            changed_by: None,
            deleted: None,
            validation: None,
            not_seen_by: None,
            after: 0,
            before: None,
            by: RecordColumn::Number,
            order: Order::Oldest,
            behind: None,
            among: None,
            limit: 500,
        }
    }
}

impl Catalog {
    /// Returns the rows of records with these identifiers, as far as they are known.
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

    /// The formats in which records of a repository are held, or were before they were removed.
    pub async fn formats_held(&self, repository: i64) -> Result<Vec<String>, Error> {
        let sql = "SELECT metadata_prefix FROM holding WHERE repository_id = $1";
        let mut transaction = self.database.read().await?;
        let rows = transaction.rows(sql, [repository.into()]).await?;
        rows.iter().map(|row| row.text("metadata_prefix")).collect()
    }

    /// How many records of a repository are held in each format that there is one of.
    pub async fn format_counts(&self, repository: i64) -> Result<Vec<FormatCounts>, Error> {
        let sql = "SELECT metadata_prefix, records, deleted FROM holding
             WHERE repository_id = $1 AND records + deleted > 0";
        let mut transaction = self.database.read().await?;
        let rows = transaction.rows(sql, [repository.into()]).await?;
        let mut formats = rows
            .iter()
            .map(|row| {
                Ok(FormatCounts {
                    metadata_prefix: row.text("metadata_prefix")?,
                    records: row.count("records")?,
                    deleted: row.count("deleted")?,
                })
            })
            .collect::<Result<Vec<_>, Error>>()?;
        // The databases order texts differently.
        formats.sort_by(|a, b| a.metadata_prefix.cmp(&b.metadata_prefix));
        Ok(formats)
    }

    /// Records in the order of their numbers. The next page begins after the number of the last, or before it.
    pub async fn records(&self, query: &RecordQuery) -> Result<Vec<RecordEntry>, Error> {
        let transaction = self.searching(query).await?;
        self.records_by(transaction, query).await
    }

    async fn records_by(
        &self,
        mut transaction: Transaction,
        query: &RecordQuery,
    ) -> Result<Vec<RecordEntry>, Error> {
        let statement = self.record_statement(&mut transaction, query, true);
        let Some(statement) = statement.await? else {
            return Ok(Vec::new());
        };
        let (sql, values) = statement.list(query);
        let rows = transaction.rows(&sql, values).await?;
        let mut records = rows.iter().map(record).collect::<Result<Vec<_>, _>>()?;
        for records in records.chunks_mut(BATCH) {
            add_sets(&mut transaction, records).await?;
        }
        Ok(records)
    }

    /// How many records there are for a query, whatever its page. It stops to count at `at_most`.
    pub async fn count_records(&self, query: &RecordQuery, at_most: u64) -> Result<u64, Error> {
        let mut transaction = self.searching(query).await?;
        let query = RecordQuery {
            after: 0,
            before: None,
            ..query.clone()
        };
        let statement = self.record_statement(&mut transaction, &query, false);
        let Some(statement) = statement.await? else {
            return Ok(0);
        };
        let (sql, values) = statement.count(at_most);
        let row = transaction.row(&sql, values).await?;
        row.map_or(Ok(0), |row| row.count("number"))
    }

    /// How many items there are for a query, whatever its page: records of one repository with one identifier. It stops
    /// at `at_most` records, and tells whether there are more.
    pub async fn count_items(
        &self,
        query: &RecordQuery,
        at_most: u64,
    ) -> Result<(u64, bool), Error> {
        let mut transaction = self.searching(query).await?;
        let query = RecordQuery {
            after: 0,
            before: None,
            behind: None,
            ..query.clone()
        };
        let statement = self.record_statement(&mut transaction, &query, false);
        let Some(statement) = statement.await? else {
            return Ok((0, false));
        };
        let (sql, values) = statement.count_items(at_most + 1);
        let row = transaction.row(&sql, values).await?;
        let count = |name| row.as_ref().map_or(Ok(0), |row| row.count(name));
        Ok((count("items")?, count("records")? > at_most))
    }

    /// The numbers of the records that have the repository and the identifier of one of these, in any format.
    pub async fn records_of_items(&self, records: &[RecordEntry]) -> Result<Vec<i64>, Error> {
        let mut keys: Vec<_> = records
            .iter()
            .map(|record| (record.repository, bounded(&record.identifier)))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        let mut numbers = Vec::with_capacity(records.len());
        let mut transaction = self.database.list().await?;
        for keys in keys.chunks(BATCH) {
            // Formats are few, and each is looked up by the key of records.
            let sql = "SELECT record.id FROM {each($1)} CROSS JOIN holding CROSS JOIN record
                 WHERE holding.repository_id = CAST(item.value->>0 AS BIGINT)
                     AND record.repository_id = holding.repository_id
                     AND record.metadata_prefix = holding.metadata_prefix
                     AND record.identifier = item.value->>1";
            for row in transaction.rows(sql, [batch(keys)]).await? {
                numbers.push(row.integer("id")?);
            }
        }
        Ok(numbers)
    }

    /// The record with this number.
    pub async fn record(&self, id: i64) -> Result<Option<RecordEntry>, Error> {
        let query = RecordQuery {
            after: id.saturating_sub(1),
            before: id.checked_add(1),
            limit: 1,
            ..RecordQuery::default()
        };
        let transaction = self.database.read().await?;
        Ok(self.records_by(transaction, &query).await?.pop())
    }

    /// A transaction for a query. Whoever types in words gets an answer soon, or none: few readers are let in at once.
    async fn searching(&self, query: &RecordQuery) -> Result<Transaction, Error> {
        let mut transaction = self.database.long_list().await?;
        if query.text.is_some() {
            transaction.limit(SEARCHING).await?;
        }
        Ok(transaction)
    }
}

/// How long a search may take.
const SEARCHING: Duration = Duration::from_secs(10);

pub(crate) fn record(row: &Row) -> Result<RecordEntry, Error> {
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
        title: row.maybe_text("title")?,
        seen_by: row.integer("run_id")?,
        changed_by: row.integer("changed_by")?,
        set_specs: Vec::new(),
    })
}

pub(crate) async fn add_sets(
    transaction: &mut Transaction,
    records: &mut [RecordEntry],
) -> Result<(), Error> {
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
