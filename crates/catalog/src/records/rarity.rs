//! How rare what is asked for is among all records.

use crate::database::Transaction;
use crate::database::bounded::bounded;
use crate::database::conditions::Conditions;
use crate::database::rows::batch;
use crate::{Error, RecordQuery};

/// Up to so many records are gathered by an index before they are looked at in their order.
pub(crate) const FEW: u64 = 5_000;

/// Whether so many records are gathered.
pub(crate) fn is_few(number: u64) -> bool {
    number <= FEW
}

/// How many records there are of the format and kind that is asked for, among how many.
pub(crate) struct Among {
    pub(crate) held: u64,
    all: u64,
}

impl Among {
    pub(crate) async fn read(
        transaction: &mut Transaction,
        query: &RecordQuery,
    ) -> Result<Self, Error> {
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

    pub(crate) fn is_few(&self) -> bool {
        is_few(self.held) && self.held < self.all / 10
    }
}

/// The numbers of a set and of all below it, in one repository or in all.
pub(crate) async fn sets(
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

pub(crate) async fn hold_few(
    transaction: &mut Transaction,
    sets: &[(i64,)],
) -> Result<bool, Error> {
    let sql = format!(
        "SELECT count(*) AS number FROM
             (SELECT 1 AS one FROM record_set WHERE set_id {{integers($1)}} LIMIT {}) AS found",
        FEW + 1
    );
    let row = transaction.row(&sql, [batch(sets)]).await?;
    Ok(is_few(row.map_or(Ok(0), |row| row.count("number"))?))
}

/// The numbers of records with words, as PostgreSQL wants these; one more than are few, if there are so many.
pub(crate) async fn hits(transaction: &mut Transaction, terms: &str) -> Result<Vec<(i64,)>, Error> {
    let sql = format!(
        "SELECT record_id FROM record_search WHERE {{has_words($1)}} LIMIT {}",
        FEW + 1
    );
    let rows = transaction.rows(&sql, [terms.into()]).await?;
    rows.iter()
        .map(|row| Ok((row.integer("record_id")?,)))
        .collect()
}

/// The numbers of records of a time; one more than are few, if there are so many. All that is asked for here is in the
/// index by repository, so no rows are read for it.
pub(crate) async fn dated(
    transaction: &mut Transaction,
    query: &RecordQuery,
) -> Result<Vec<(i64,)>, Error> {
    let mut conditions = Conditions::default();
    conditions.only("repository_id = $n", query.repository);
    conditions.only("datestamp >= $n", query.since);
    conditions.only("datestamp <= $n", query.until);
    let (sql, values) = conditions.some("SELECT id FROM record", "", FEW + 1);
    let rows = transaction.rows(&sql, values).await?;
    rows.iter().map(|row| Ok((row.integer("id")?,))).collect()
}
