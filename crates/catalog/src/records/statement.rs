//! The statement of a list of records: from which side the database goes at it.
//!
//! A list is a page of a million records, so it has to be read along an index. What is rare is gathered by an index of
//! its own, what is frequent is met on the way along the numbers of records. The databases cannot be left to choose:
//! they know how frequent something is, but not how it is spread, nor how rare words are that they never counted.

use crate::database::bounded::bounded;
use crate::database::conditions::Conditions;
use crate::database::rows::batch;
use crate::database::{Transaction, Value};
use crate::records::rarity::{Among, dated, hits, hold_few, is_few, sets};
use crate::records::words::{Terms, of_repository};
use crate::{Catalog, Error, Order, RecordColumn, RecordQuery, Validation};

/// A statement that only lacks its columns and its end.
pub(crate) struct RecordStatement {
    from: &'static str,
    /// The number of the record, in the table that is read first.
    id: &'static str,
    conditions: Conditions,
    /// The end of a condition that is looked up for each record.
    looked_up: &'static str,
}

/// The condition for records that were gathered.
const ONE_OF: &str = "record.id {integers($n)}";

/// Keeps PostgreSQL from making a join of a condition, and from gathering everything for that.
const ON_THE_WAY: &str = "LIMIT 1 OFFSET 0";

pub(crate) const COLUMNS: &str = "SELECT record.id, record.repository_id, record.metadata_prefix, \
     COALESCE(record.identifier_in_full, record.identifier) AS identifier, record.datestamp, record.deleted, \
     record.file, record.sha256, record.harvested, record.validation, record.title, record.run_id, record.changed_by";

impl Catalog {
    /// The statement for a query, or `None` if nothing can be found by it. What is only counted needs no order.
    pub(crate) async fn record_statement(
        &self,
        transaction: &mut Transaction,
        query: &RecordQuery,
        ordered: bool,
    ) -> Result<Option<RecordStatement>, Error> {
        let sets = match &query.set {
            Some(set) => Some(sets(transaction, query.repository, set).await?),
            None => None,
        };
        let among = Among::read(transaction, query).await?;
        if sets.as_ref().is_some_and(Vec::is_empty) || among.held == 0 {
            return Ok(None);
        }
        let mut statement = RecordStatement::over_records(ordered);
        if let Some(terms) = self.terms(query) {
            if self.database.is_sqlite() {
                statement = RecordStatement::over_words(&terms);
            } else {
                let hits = hits(transaction, &terms).await?;
                statement.with_words(&terms, &hits);
            }
        } else if let Some([(set,)]) = sets.as_deref() {
            statement = RecordStatement::over_set(*set);
        } else if among.is_few() {
            statement.of_few(query);
        } else if query.since.is_some() || query.until.is_some() {
            let dated = dated(transaction, query).await?;
            statement.with_dates(&dated);
        }
        if statement.from != OVER_SET
            && let Some(sets) = &sets
        {
            let few = hold_few(transaction, sets).await?;
            statement.in_sets(sets, few);
        }
        statement.only(query);
        if let Some(behind) = query.behind {
            statement.behind(transaction, query, behind).await?;
        }
        Ok(Some(statement))
    }

    /// The words that are asked for, as this database wants them.
    fn terms(&self, query: &RecordQuery) -> Option<String> {
        let mut terms = Terms::parse(query.text.as_deref()?);
        if terms.is_empty() {
            return None;
        }
        if let Some(repository) = query.repository {
            terms.and(of_repository(repository));
        }
        Some(if self.database.is_sqlite() {
            terms.for_sqlite()
        } else {
            terms.for_postgres()
        })
    }
}

const OVER_SET: &str = "record_set CROSS JOIN record";

impl RecordStatement {
    fn over_records(ordered: bool) -> Self {
        Self {
            from: "record",
            id: "record.id",
            conditions: Conditions::default(),
            looked_up: if ordered { ON_THE_WAY } else { "" },
        }
    }

    /// SQLite keeps the records of a word in their order, and leaps over those that lack another.
    fn over_words(terms: &str) -> Self {
        let mut conditions = Conditions::default();
        conditions.only("{has_words($n)}", Some(terms));
        conditions.always("record.id = record_search.rowid");
        Self {
            from: "record_search CROSS JOIN record",
            id: "record_search.rowid",
            conditions,
            looked_up: "",
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
            looked_up: "",
        }
    }

    /// Records of a time, if they are few; otherwise they are met on the way.
    fn with_dates(&mut self, dated: &[(i64,)]) {
        if is_few(dated.len() as u64) {
            self.conditions.only(ONE_OF, Some(batch(dated)));
        }
    }

    /// PostgreSQL gathers all records of a word in no order. So it looks each record up, unless there are few.
    fn with_words(&mut self, terms: &str, hits: &[(i64,)]) {
        if is_few(hits.len() as u64) {
            self.conditions.only(ONE_OF, Some(batch(hits)));
        } else {
            let condition = format!(
                "EXISTS (SELECT 1 FROM record_search
                     WHERE record_id = record.id AND {{has_words($n)}} {})",
                self.looked_up
            );
            self.conditions.only(&condition, Some(terms));
        }
    }

    /// Records of any of the sets. Of few records, their numbers are gathered at first; otherwise it is quicker to meet
    /// them on the way.
    fn in_sets(&mut self, sets: &[(i64,)], few: bool) {
        let condition = if few {
            "record.id IN (SELECT record_id FROM record_set WHERE set_id {integers($n)})".to_owned()
        } else {
            // The sum keeps SQLite from looking each set up for each record.
            format!(
                "EXISTS (SELECT 1 FROM record_set
                     WHERE record_id = record.id AND set_id + 0 {{integers($n)}} {})",
                self.looked_up
            )
        };
        self.conditions.only(&condition, Some(batch(sets)));
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
        // A condition on numbers that all meet would keep the databases from going along another index.
        let after = query.by == RecordColumn::Number || query.after > 0;
        conditions.only(&format!("{id} > $n"), after.then_some(query.after));
        conditions.only(&format!("{id} < $n"), query.before);
        conditions.only("record.repository_id = $n", query.repository);
        let prefix = query.metadata_prefix.as_deref().map(bounded);
        conditions.only("record.metadata_prefix = $n", prefix.as_deref());
        conditions.only("record.datestamp >= $n", query.since);
        conditions.only("record.datestamp <= $n", query.until);
        conditions.only("record.changed_by = $n", query.changed_by);
        conditions.only("record.run_id <> $n", query.not_seen_by);
        conditions.only(
            "record.validation = $n",
            query.validation.map(Validation::name),
        );
        let among = query.among.as_ref();
        let among = among.map(|among| among.iter().map(|id| (*id,)).collect::<Vec<_>>());
        conditions.only(ONE_OF, among.as_deref().map(batch));
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
        let order = match query.by.sql() {
            None => format!("ORDER BY {}{direction}", self.id),
            Some(value) => format!("ORDER BY {value}{direction}, record.id{direction}"),
        };
        let select = format!("{COLUMNS} FROM {}", self.from);
        self.conditions.some(&select, &order, query.limit)
    }

    /// Passes over the pages before: up to the record `last` of the page before this one.
    async fn behind(
        &mut self,
        transaction: &mut Transaction,
        query: &RecordQuery,
        last: i64,
    ) -> Result<(), Error> {
        let than = match query.order {
            Order::Oldest => ">",
            Order::Newest => "<",
        };
        let Some(value) = query.by.sql() else {
            let condition = format!("{} {than} $n", self.id);
            self.conditions.only(&condition, Some(last));
            return Ok(());
        };
        let sql = format!("SELECT {value} AS value FROM record WHERE id = $1");
        let row = transaction.row(&sql, [last.into()]).await?;
        // Without it nobody knows where the page begins, and to begin elsewhere would pass over records.
        let row = row.ok_or_else(|| Error::Changed {
            what: format!("the list, which went on behind record {last},"),
        })?;
        let value_of_last: Value = match query.by {
            RecordColumn::Title => row.text("value")?.into(),
            RecordColumn::Number | RecordColumn::Datestamp => row.integer("value")?.into(),
        };
        let (first, second) = (
            self.conditions.parameter(value_of_last),
            self.conditions.parameter(last),
        );
        // The first condition finds the place in the index.
        self.conditions.always(&format!("{value} {than}= {first}"));
        self.conditions.always(&format!(
            "({value} {than} {first} OR record.id {than} {second})"
        ));
        Ok(())
    }

    /// The statement that counts records, up to a number, and the items among these.
    pub(crate) fn count_items(self, at_most: u64) -> (String, Vec<Value>) {
        let select = format!(
            "SELECT record.repository_id, record.identifier FROM {}",
            self.from
        );
        let (sql, values) = self.conditions.some(&select, "", at_most);
        let sql = format!(
            "SELECT count(*) AS items, CAST(COALESCE(sum(formats), 0) AS BIGINT) AS records FROM
                 (SELECT count(*) AS formats FROM ({sql}) AS found GROUP BY repository_id, identifier) AS item"
        );
        (sql, values)
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

impl RecordColumn {
    /// The value as indexes have it; none for the number.
    fn sql(self) -> Option<&'static str> {
        match self {
            Self::Number => None,
            Self::Datestamp => Some("COALESCE(record.datestamp, 0)"),
            Self::Title => Some("COALESCE(record.title, '')"),
        }
    }
}
