//! How documents that a filter leaves are spread over hosts, types, kinds, languages, decisions, states and years.

use std::collections::{BTreeMap, HashMap};

use super::documents::{DocumentQuery, Lead};
use super::figures::month;
use super::search::{SearchQuery, Searched};
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
        drop(transaction);
        let most = Searched::MOST_COUNTED;
        let counted = self.count_documents(filter, most + 1).await?;
        let mut transaction = self.database.long_list().await?;
        if counted.is_none_or(|total| total <= most) {
            let (sql, values) = filter.leading(&select(), None, most + 1);
            let rows = transaction.rows(&sql, values).await?;
            if rows.len() as u64 <= most {
                counts.add(&rows)?;
                return Ok(counts.facets(rows.len() as u64));
            }
        }
        let (first, last) = filter.spread(&mut transaction).await?;
        for part in 0..PARTS {
            let from = first + (last - first) / PARTS * part;
            let limit = most / PARTS.unsigned_abs();
            let (sql, values) = filter.leading(&select(), Some(from), limit);
            counts.add(&transaction.rows(&sql, values).await?)?;
        }
        Ok(counts.facets(most + 1))
    }
}

fn select() -> String {
    format!("SELECT {COLUMNS}")
}

/// The columns of the facets, of documents and their contents.
pub(super) const COLUMNS: &str = "document.host, document.media_type, content.kind, document.update_date, \
     content.decision, document.state, content.aside, content.language";

impl DocumentQuery {
    /// The least and the greatest value of what the documents are read by.
    async fn spread(&self, transaction: &mut Transaction) -> Result<(i64, i64), Error> {
        let is_by_dates = self.lead() == Lead::Dates;
        let column = if is_by_dates { "update_date" } else { "id" };
        // Each of the two is read from an index; both in one statement are not.
        let sql = format!(
            "SELECT (SELECT min({column}) FROM document) AS least, (SELECT max({column}) FROM document) AS greatest"
        );
        let row = transaction.row(&sql, []).await?;
        let value = |name| row.as_ref().map_or(Ok(None), |row| row.maybe_integer(name));
        let (least, greatest) = (value("least")?, value("greatest")?);
        let (least, greatest) = (least.unwrap_or_default(), greatest.unwrap_or_default());
        Ok(match is_by_dates {
            true => (
                self.since.unwrap_or(least).max(least),
                self.until.unwrap_or(greatest).min(greatest),
            ),
            false => (least, greatest),
        })
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
