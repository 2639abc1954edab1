//! How documents that a filter leaves are spread over hosts, types, kinds, languages, decisions, states and years.

use std::collections::{BTreeMap, HashMap};

use super::documents::{DocumentQuery, FACET_TABLES};
use super::figures::month;
use super::search::{SearchQuery, Searched};
use crate::database::conditions::Conditions;
use crate::database::{Row, Transaction};
use crate::{Catalog, DocumentState, Error};

/// How many documents a filter leaves, and how they are spread.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facets {
    /// How many documents there are, counted up to [`Searched::MOST_COUNTED`] and one more.
    pub total: u64,
    /// The documents that were looked at: all of them, or a sample spread over the whole list.
    pub counted: u64,
    /// For each facet its values, the most frequent first, at most [`Facets::MOST_VALUES`] of them.
    pub values: BTreeMap<&'static str, Vec<(String, u64)>>,
}

impl Facets {
    /// Values of a facet that are given at most.
    pub const MOST_VALUES: usize = 12;
    /// The facets.
    pub const NAMES: [&str; 7] = [
        "host", "type", "kind", "year", "decision", "state", "language",
    ];
}

impl Catalog {
    /// The facets of the documents that a filter leaves.
    ///
    /// Those of more than [`Searched::MOST_COUNTED`] documents are those of a sample: parts of equal length of the list,
    /// from beginnings spread over it.
    pub async fn facets_of_documents(
        &self,
        query: Option<&SearchQuery>,
        filter: &DocumentQuery,
    ) -> Result<Facets, Error> {
        let mut transaction = self.database.long_list().await?;
        let mut counts = Counts::default();
        if let Some(query) = query.filter(|query| query.has_words()) {
            let (sql, values) = self.found_facets(&mut transaction, query, filter).await?;
            counts.add(&transaction.rows(&sql, values).await?)?;
            let total = counts.counted;
            return Ok(counts.facets(total));
        }
        let all = DocumentQuery {
            after: 0,
            limit: Searched::MOST_COUNTED + 1,
            ..filter.clone()
        };
        let few = all.gather(&mut transaction).await?;
        let (sql, values) = all.facet_statement(few.as_deref());
        let rows = transaction.rows(&sql, values).await?;
        let total = rows.len() as u64;
        if total <= Searched::MOST_COUNTED {
            counts.add(&rows)?;
            return Ok(counts.facets(total));
        }
        drop(rows);
        let greatest = greatest(&mut transaction).await?;
        for part in 0..PARTS {
            let part = DocumentQuery {
                after: greatest / PARTS * part,
                limit: Searched::MOST_COUNTED / PARTS.unsigned_abs(),
                ..all.clone()
            };
            let (sql, values) = part.facet_statement(None);
            counts.add(&transaction.rows(&sql, values).await?)?;
        }
        Ok(counts.facets(total))
    }
}

async fn greatest(transaction: &mut Transaction) -> Result<i64, Error> {
    let row = transaction
        .row("SELECT max(id) AS number FROM document", [])
        .await?;
    row.map_or(Ok(None), |row| row.maybe_integer("number"))
        .map(Option::unwrap_or_default)
}

/// The columns of the facets, of the tables of [`FACET_TABLES`].
pub(super) const COLUMNS: &str = "document.host, document.media_type, content.kind, document.update_date, \
     content.decision, document.state, content.aside, content.language";

impl DocumentQuery {
    fn facet_statement(&self, few: Option<&[(i64,)]>) -> (String, Vec<crate::database::Value>) {
        let mut conditions = Conditions::default();
        conditions.only("document.id > $n", Some(self.after));
        conditions.only(
            "document.id {integers($n)}",
            few.map(crate::database::rows::batch),
        );
        self.narrow(&mut conditions);
        conditions.some(
            &format!("SELECT {COLUMNS} {FACET_TABLES}"),
            "ORDER BY document.id",
            self.limit,
        )
    }
}

#[derive(Default)]
struct Counts {
    counted: u64,
    values: HashMap<(&'static str, String), u64>,
}

impl Counts {
    fn add(&mut self, rows: &[Row]) -> Result<(), Error> {
        for row in rows {
            self.counted += 1;
            let is_aside = row.maybe_integer("aside")? == Some(1);
            let state = match is_aside {
                true => DocumentState::SetAside,
                false => DocumentState::of(row.integer("state")?),
            };
            let year = year(row.integer("update_date")?);
            for (name, value) in [
                ("host", Some(row.text("host")?)),
                ("type", row.maybe_text("media_type")?),
                ("kind", row.maybe_text("kind")?),
                ("year", Some(year)),
                ("decision", row.maybe_text("decision")?),
                ("state", Some(state.name().to_owned())),
                ("language", row.maybe_text("language")?),
            ] {
                if let Some(value) = value {
                    *self.values.entry((name, value)).or_default() += 1;
                }
            }
        }
        Ok(())
    }

    fn facets(self, total: u64) -> Facets {
        let mut values: BTreeMap<&'static str, Vec<(String, u64)>> = BTreeMap::new();
        for ((name, value), count) in self.values {
            values.entry(name).or_default().push((value, count));
        }
        for (name, values) in &mut values {
            match *name {
                "year" => values.sort_by(|one, other| other.0.cmp(&one.0)),
                _ => values.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0))),
            }
            values.truncate(Facets::MOST_VALUES);
        }
        Facets {
            total,
            counted: self.counted,
            values,
        }
    }
}

/// Beginnings of a sample.
const PARTS: i64 = 20;
/// The year of a moment in UTC.
fn year(seconds: i64) -> String {
    let mut month = month(seconds.div_euclid(86_400));
    month.truncate(month.len() - "-12".len());
    month
}
