//! Lists of runs in another order than that of their numbers, and how many runs there are.
//!
//! Each table is asked for the first rows in the order that is wanted, up to the end of the page, and the page is put
//! together from these.

use std::cmp::{Ordering, Reverse};
use std::collections::HashSet;

use super::RunRow;
use super::list::{RunQuery, Source};
use super::load::load;
use crate::database::{Row, Transaction, Value};
use crate::{Catalog, Error};

/// By what runs are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOrder {
    /// The name of the repository.
    Title,
    /// When they began.
    Started,
    /// How long they took.
    Took,
    /// When they are due.
    Due,
    /// How often they were begun.
    Attempt,
}

/// By what a run is sorted; one without it comes last.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Text(String),
    Number(i64),
}

impl Catalog {
    /// How many runs there are, counted up to `most`.
    pub async fn count_runs(&self, query: &RunQuery, most: u64) -> Result<u64, Error> {
        let mut transaction = self.database.list().await?;
        let mut count = 0;
        for (source, condition) in query.parts() {
            let conditions = source.conditions(query, &condition);
            let select = format!(
                "SELECT count(*) AS number FROM (SELECT DISTINCT {} FROM {}",
                source.id, source.from
            );
            let (sql, values) =
                conditions.all(&select, &format!("LIMIT {}) AS counted", most.min(1 << 40)));
            if let Some(row) = transaction.row(&sql, values).await? {
                count += row.count("number")?;
            }
        }
        Ok(count.min(most))
    }
}

/// The runs of a page in the order that is asked for, and whether there are more.
pub(super) async fn sorted(
    transaction: &mut Transaction,
    query: &RunQuery,
    order: RunOrder,
) -> Result<(Vec<RunRow>, Option<i64>), Error> {
    let mut keyed = Vec::new();
    for (source, condition) in query.parts() {
        let (sql, values) = statement(source, query, &condition, order);
        for row in transaction.rows(&sql, values).await? {
            keyed.push((order.key(&row)?, row.integer("number")?));
        }
    }
    keyed.sort_by(|a, b| compare(&a.0, &b.0, query.descending).then_with(|| b.1.cmp(&a.1)));
    let mut seen = HashSet::new();
    let mut ids: Vec<i64> = keyed.into_iter().map(|(_, id)| id).collect();
    ids.retain(|id| seen.insert(*id));
    let as_index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    ids.drain(..as_index(query.offset).min(ids.len()));
    let is_more = ids.len() > as_index(query.limit);
    ids.truncate(as_index(query.limit));
    let next = ids.last().copied().filter(|_| is_more);
    let mut runs = load(transaction, &ids).await?;
    runs.retain(|run| query.wants(run.state()));
    Ok((runs, next))
}

fn statement(
    source: Source,
    query: &RunQuery,
    condition: &str,
    order: RunOrder,
) -> (String, Vec<Value>) {
    let (key, id, from) = (order.expression(source), source.id, source.from);
    let direction = if query.descending { "DESC" } else { "ASC" };
    source.conditions(query, condition).some(
        &format!("SELECT {id} AS number, {key} AS sort_key FROM {from}"),
        &format!(
            "ORDER BY CASE WHEN {key} IS NULL THEN 1 ELSE 0 END, {key} {direction}, {id} DESC"
        ),
        query.offset.saturating_add(query.limit).saturating_add(1),
    )
}

fn compare(a: &Option<Key>, b: &Option<Key>, descending: bool) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if descending => Reverse(a).cmp(&Reverse(b)),
        (Some(a), Some(b)) => a.cmp(b),
        (None, None) => Ordering::Equal,
        (None, _) => Ordering::Greater,
        (_, None) => Ordering::Less,
    }
}

impl RunOrder {
    /// All there are.
    pub const ALL: [Self; 5] = [
        Self::Title,
        Self::Started,
        Self::Took,
        Self::Due,
        Self::Attempt,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Started => "started",
            Self::Took => "took",
            Self::Due => "due",
            Self::Attempt => "attempt",
        }
    }

    /// The order with a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.name() == name)
    }

    fn expression(self, source: Source) -> String {
        let Source { from, .. } = source;
        let is_job = from == "job";
        match self {
            Self::Title if source.has_repository => format!(
                "(SELECT lower(COALESCE(NULLIF(repository.name, ''), repository.base_url)) {{in_bytes}}
                  FROM repository WHERE repository.id = {from}.repository_id)"
            ),
            Self::Title => "CAST(NULL AS TEXT)".to_owned(),
            Self::Started => source.started.to_owned(),
            Self::Took => {
                let end = if is_job { "finished" } else { "ended" };
                format!("COALESCE({from}.{end}, {{now}}) - {from}.started")
            }
            Self::Due if is_job => "job.run_at".to_owned(),
            Self::Attempt if is_job => "job.attempt".to_owned(),
            Self::Due | Self::Attempt => "CAST(NULL AS BIGINT)".to_owned(),
        }
    }

    fn key(self, row: &Row) -> Result<Option<Key>, Error> {
        Ok(match self {
            Self::Title => row.maybe_text("sort_key")?.map(Key::Text),
            _ => row.maybe_integer("sort_key")?.map(Key::Number),
        })
    }
}
