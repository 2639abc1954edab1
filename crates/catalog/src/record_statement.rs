//! The statement of a list of records: from which side the database goes at it.
//!
//! A list is a page of a million records, so it has to be read along an index. Words come from the index of words, the
//! records of one set from that of sets, all others in the order of their numbers.

use crate::bounded::bounded;
use crate::conditions::Conditions;
use crate::database::{Transaction, Value};
use crate::rows::batch;
use crate::words::{Terms, of_repository};
use crate::{Catalog, Error, Order, RecordQuery};

/// A statement that only lacks its columns and its end.
pub(crate) struct RecordStatement {
    from: &'static str,
    /// The number of the record, in the table that is read first.
    id: &'static str,
    conditions: Conditions,
}

/// Up to so many records are gathered by an index before they are looked at in their order.
const FEW: u64 = 5_000;

const COLUMNS: &str = "SELECT record.id, record.repository_id, record.metadata_prefix, \
     COALESCE(record.identifier_in_full, record.identifier) AS identifier, record.datestamp, record.deleted, \
     record.file, record.sha256, record.harvested, record.validation, record.title, record.run_id, record.changed_by";

impl Catalog {
    /// The statement for a query, or `None` if nothing can be found by it.
    pub(crate) async fn record_statement(
        &self,
        transaction: &mut Transaction,
        query: &RecordQuery,
    ) -> Result<Option<RecordStatement>, Error> {
        let sets = match &query.set {
            Some(set) => Some(sets(transaction, query.repository, set).await?),
            None => None,
        };
        let among = Among::read(transaction, query).await?;
        if sets.as_ref().is_some_and(Vec::is_empty) || among.held == 0 {
            return Ok(None);
        }
        let mut statement = RecordStatement::over_records();
        if let Some(terms) = self.terms(query) {
            statement = RecordStatement::over_words(terms);
        } else if let Some([(set,)]) = sets.as_deref() {
            statement = RecordStatement::over_set(*set);
        } else if among.is_few() {
            statement.of_few(query);
        }
        if statement.from != OVER_SET
            && let Some(sets) = &sets
        {
            let few = hold_few(transaction, sets).await?;
            statement.in_sets(sets, few);
        }
        statement.only(query);
        Ok(Some(statement))
    }

    /// The words that are asked for, as this database wants them.
    fn terms(&self, query: &RecordQuery) -> Option<Value> {
        let mut terms = Terms::parse(query.text.as_deref()?);
        if terms.is_empty() {
            return None;
        }
        if let Some(repository) = query.repository {
            terms.and(of_repository(repository));
        }
        Some(if self.database.is_sqlite() {
            terms.for_sqlite().into()
        } else {
            terms.for_postgres().into()
        })
    }
}

const OVER_SET: &str = "record_set CROSS JOIN record";

impl RecordStatement {
    fn over_records() -> Self {
        Self {
            from: "record",
            id: "record.id",
            conditions: Conditions::default(),
        }
    }

    fn over_words(terms: Value) -> Self {
        let mut conditions = Conditions::default();
        conditions.only("{has_words($n)}", Some(terms));
        conditions.always("record.id = {word_of}");
        Self {
            from: "record_search CROSS JOIN record",
            id: "{word_of}",
            conditions,
        }
    }

    fn over_set(set: i64) -> Self {
        let mut conditions = Conditions::default();
        conditions.only("record_set.set_id = $n", Some(set));
        conditions.always("record.id = record_set.record_id");
        Self {
            from: OVER_SET,
            id: "record_set.record_id",
            conditions,
        }
    }

    /// Records of any of the sets. Of few records, their numbers are gathered at first; otherwise it is quicker to meet
    /// them on the way.
    fn in_sets(&mut self, sets: &[(i64,)], few: bool) {
        let condition = if few {
            "record.id IN (SELECT record_id FROM record_set WHERE set_id {integers($n)})"
        } else {
            "EXISTS (SELECT 1 FROM record_set WHERE record_id = record.id AND set_id + 0 {integers($n)})"
        };
        self.conditions.only(condition, Some(batch(sets)));
    }

    /// Records of a format or tombstones that are few among many. On the way they would be met too seldom.
    fn of_few(&mut self, query: &RecordQuery) {
        let repository = query
            .repository
            .map(|id| format!(" AND few.repository_id = {id}"));
        let repository = repository.unwrap_or_default();
        let prefix = query.metadata_prefix.as_deref().map(bounded);
        if query.deleted == Some(true) {
            self.conditions.always(&format!(
                "record.id IN (SELECT few.id FROM record AS few WHERE few.deleted = 1{repository})"
            ));
        } else if let Some(prefix) = prefix {
            let condition = format!(
                "record.id IN (SELECT few.id FROM record AS few WHERE few.metadata_prefix = $n{repository}
                     AND few.repository_id IN (SELECT repository_id FROM holding WHERE metadata_prefix = $n))"
            );
            self.conditions.only(&condition, Some(prefix.as_ref()));
        }
    }

    fn only(&mut self, query: &RecordQuery) {
        let id = self.id;
        let conditions = &mut self.conditions;
        conditions.only(&format!("{id} > $n"), Some(query.after));
        conditions.only(&format!("{id} < $n"), query.before);
        conditions.only("record.repository_id = $n", query.repository);
        let prefix = query.metadata_prefix.as_deref().map(bounded);
        conditions.only("record.metadata_prefix = $n", prefix.as_deref());
        conditions.only("record.datestamp >= $n", query.since);
        conditions.only("record.datestamp <= $n", query.until);
        conditions.only("record.changed_by = $n", query.changed_by);
        conditions.only("record.run_id <> $n", query.not_seen_by);
        // As a parameter it would not tell that the index of tombstones will do.
        match query.deleted {
            Some(true) => conditions.always("record.deleted = 1"),
            Some(false) => conditions.always("record.deleted = 0"),
            None => {}
        }
    }

    /// The statement that gives the records of a page.
    pub(crate) fn list(self, query: &RecordQuery) -> (String, Vec<Value>) {
        let direction = match query.order {
            Order::Oldest => "",
            Order::Newest => " DESC",
        };
        let order = format!("ORDER BY {}{direction}", self.id);
        let select = format!("{COLUMNS} FROM {}", self.from);
        self.conditions.some(&select, &order, query.limit)
    }

    /// The statement that counts, up to a number.
    pub(crate) fn count(self, at_most: u64) -> (String, Vec<Value>) {
        let select = format!("SELECT 1 AS one FROM {}", self.from);
        let (sql, values) = self.conditions.some(&select, "", at_most);
        (
            format!("SELECT count(*) AS number FROM ({sql}) AS found"),
            values,
        )
    }
}

/// How many records there are of the format and kind that is asked for, among how many.
struct Among {
    held: u64,
    all: u64,
}

impl Among {
    async fn read(transaction: &mut Transaction, query: &RecordQuery) -> Result<Self, Error> {
        let kind = match query.deleted {
            Some(true) => "deleted",
            Some(false) => "records",
            None => "records + deleted",
        };
        let mut conditions = Conditions::default();
        conditions.only("repository_id = $n", query.repository);
        let prefix = query.metadata_prefix.as_deref().map(bounded);
        let of_prefix = match prefix {
            Some(prefix) => {
                let prefix = conditions.parameter(prefix.as_ref());
                format!("CASE WHEN metadata_prefix = {prefix} THEN {kind} ELSE 0 END")
            }
            None => kind.to_owned(),
        };
        let select = format!(
            "SELECT CAST(COALESCE(sum({of_prefix}), 0) AS BIGINT) AS held,
                 CAST(COALESCE(sum(records + deleted), 0) AS BIGINT) AS among FROM holding"
        );
        let (sql, values) = conditions.all(&select, "");
        let row = transaction.row(&sql, values).await?;
        let count = |name| row.as_ref().map_or(Ok(0), |row| row.count(name));
        Ok(Self {
            held: count("held")?,
            all: count("among")?,
        })
    }

    fn is_few(&self) -> bool {
        self.held <= FEW && self.held < self.all / 10
    }
}

/// The numbers of a set and of all below it, in one repository or in all.
async fn sets(
    transaction: &mut Transaction,
    repository: Option<i64>,
    set: &str,
) -> Result<Vec<(i64,)>, Error> {
    let set = bounded(set);
    let mut conditions = Conditions::default();
    conditions.only("repository_id = $n", repository);
    conditions.only(
        "(set_spec = $n OR substr(set_spec, 1, length($n) + 1) = $n || ':')",
        Some(set.as_ref()),
    );
    let (sql, values) = conditions.all("SELECT id FROM oai_set", "ORDER BY id");
    let rows = transaction.rows(&sql, values).await?;
    rows.iter().map(|row| Ok((row.integer("id")?,))).collect()
}

async fn hold_few(transaction: &mut Transaction, sets: &[(i64,)]) -> Result<bool, Error> {
    let sql = format!(
        "SELECT count(*) AS number FROM
             (SELECT 1 AS one FROM record_set WHERE set_id {{integers($1)}} LIMIT {}) AS found",
        FEW + 1
    );
    let row = transaction.row(&sql, [batch(sets)]).await?;
    Ok(row.map_or(Ok(0), |row| row.count("number"))? <= FEW)
}
