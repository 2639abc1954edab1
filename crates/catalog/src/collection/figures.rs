//! Figures on the collection, or on the documents that one import brought: by type, host, year and so on.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::database::conditions::Conditions;
use crate::database::{Row, Transaction};
use crate::{Catalog, Error};

/// Figures on documents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DocumentFigures {
    /// When they were taken, in seconds.
    pub computed: i64,
    /// Documents.
    pub documents: u64,
    /// Contents: documents with the same bytes share one.
    pub contents: u64,
    /// Bytes of the contents.
    pub bytes: u64,
    /// Bytes that would lie twice if documents did not share them.
    pub bytes_saved: u64,
    /// Contents whose texts can be searched.
    pub searchable: u64,
    /// Groups of contents whose texts say nearly the same.
    pub near_groups: u64,
    /// Contents in these groups.
    pub near_contents: u64,
    /// Documents by media type, the most frequent first.
    pub types: Vec<Figure>,
    /// By host; the hundred most frequent.
    pub hosts: Vec<Figure>,
    /// By the month of the last crawl, such as `2011-06`, in its order.
    pub months: Vec<Figure>,
    /// By kind.
    pub kinds: Vec<Figure>,
    /// By decision.
    pub decisions: Vec<Figure>,
    /// By language.
    pub languages: Vec<Figure>,
    /// By the state in the search engine.
    pub states: Vec<Figure>,
    /// Documents whose declared type is not their real one, by both: `text/html → application/pdf`.
    pub declared: Vec<Figure>,
}

/// A value, and how many documents have it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figure {
    /// The value; empty where there is none.
    pub value: String,
    /// How many documents.
    pub documents: u64,
}

impl Catalog {
    /// Figures on the collection as they were last taken.
    pub async fn known_figures(&self) -> Result<Option<DocumentFigures>, Error> {
        let sql = "SELECT content FROM figures WHERE name = 'collection'";
        let row = self.database.read().await?.row(sql, []).await?;
        let text = row.map(|row| row.text("content")).transpose()?;
        // Those of another version of garner are taken anew.
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Takes the figures on the collection if it has changed since they were last taken; whether they were taken. They
    /// need a pass over all documents: some seconds for a million.
    pub async fn refresh_figures(&self) -> Result<bool, Error> {
        let sql =
            "SELECT generation, (SELECT generation FROM figures WHERE name = 'collection') AS known
             FROM collection_state";
        let row = self.database.read().await?.row(sql, []).await?;
        let Some(row) = row else { return Ok(false) };
        let generation = row.integer("generation")?;
        if row.maybe_integer("known")? == Some(generation) {
            return Ok(false);
        }
        let figures = self.figures_on_documents(None).await?;
        let content = serde_json::to_string(&figures).expect("texts and numbers can be written");
        let mut transaction = self.database.write().await?;
        let sql = "INSERT INTO figures (name, generation, computed, content) VALUES ('collection', $1, {now}, $2)
             ON CONFLICT (name) DO UPDATE SET generation = excluded.generation, computed = excluded.computed,
                 content = excluded.content";
        transaction
            .execute(sql, [generation.into(), content.as_str().into()])
            .await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Takes figures on all documents, or on those that one import brought.
    pub async fn figures_on_documents(
        &self,
        import: Option<i64>,
    ) -> Result<DocumentFigures, Error> {
        let mut transaction = self.database.read().await?;
        let taking = Taking { import };
        let mut figures = DocumentFigures {
            computed: self.now().await?,
            hosts: taking.hosts(&mut transaction).await?,
            months: taking.months(&mut transaction).await?,
            ..DocumentFigures::default()
        };
        taking.groups(&mut transaction, &mut figures).await?;
        figures.documents = figures.states.iter().map(|figure| figure.documents).sum();
        taking.contents(&mut transaction, &mut figures).await?;
        Ok(figures)
    }
}

/// The documents that figures are taken of.
struct Taking {
    import: Option<i64>,
}

impl Taking {
    fn conditions(&self) -> Conditions {
        let mut conditions = Conditions::default();
        conditions.only("document.import_id = $n", self.import);
        conditions
    }

    async fn hosts(&self, transaction: &mut Transaction) -> Result<Vec<Figure>, Error> {
        let select = "SELECT document.host AS value, count(*) AS number FROM document";
        let order = "GROUP BY 1 ORDER BY 2 DESC, 1";
        let (sql, values) = self.conditions().some(select, order, 100);
        let rows = transaction.rows(&sql, values).await?;
        rows.iter().map(figure).collect()
    }

    /// By all that has few values, in one pass over the documents.
    async fn groups(
        &self,
        transaction: &mut Transaction,
        figures: &mut DocumentFigures,
    ) -> Result<(), Error> {
        let select = format!(
            "SELECT document.media_type, document.declared_type, {STATE} AS state, content.kind, content.decision,
                 content.language, count(*) AS number
             FROM document JOIN content ON content.id = document.content_id"
        );
        let (sql, values) = self.conditions().all(&select, "GROUP BY 1, 2, 3, 4, 5, 6");
        let mut counts: [HashMap<String, u64>; 6] = Default::default();
        for row in transaction.rows(&sql, values).await? {
            let number = row.count("number")?;
            let media_type = row.maybe_text("media_type")?;
            let declared = row.maybe_text("declared_type")?;
            if let (Some(declared), Some(real)) = (&declared, &media_type)
                && declared != real
            {
                let both = format!("{declared} → {real}");
                *counts[0].entry(both).or_default() += number;
            }
            let values = [
                media_type,
                row.maybe_text("state")?,
                row.maybe_text("kind")?,
                row.maybe_text("decision")?,
                row.maybe_text("language")?,
            ];
            for (counts, value) in counts[1..].iter_mut().zip(values) {
                *counts.entry(value.unwrap_or_default()).or_default() += number;
            }
        }
        let mut most = counts.into_iter().map(most_frequent);
        for figures in [
            &mut figures.declared,
            &mut figures.types,
            &mut figures.states,
            &mut figures.kinds,
            &mut figures.decisions,
            &mut figures.languages,
        ] {
            *figures = most.next().unwrap_or_default();
        }
        figures.declared.truncate(100);
        Ok(())
    }

    /// By months. Days are counted by the database and put together here: the databases have no word for a month in common.
    async fn months(&self, transaction: &mut Transaction) -> Result<Vec<Figure>, Error> {
        let select = "SELECT document.update_date / 86400 AS day, count(*) AS number FROM document";
        let (sql, values) = self.conditions().all(select, "GROUP BY 1 ORDER BY 1");
        let mut months: Vec<Figure> = Vec::new();
        for row in transaction.rows(&sql, values).await? {
            let (value, number) = (month(row.integer("day")?), row.count("number")?);
            match months.last_mut().filter(|last| last.value == value) {
                Some(last) => last.documents += number,
                None => months.push(Figure {
                    value,
                    documents: number,
                }),
            }
        }
        Ok(months)
    }

    async fn contents(
        &self,
        transaction: &mut Transaction,
        figures: &mut DocumentFigures,
    ) -> Result<(), Error> {
        let (sql, values) = self.conditions().all(
            "SELECT count(*) AS number, CAST(COALESCE(sum(size), 0) AS BIGINT) AS bytes,
                 CAST(COALESCE(sum(size * (documents - 1)), 0) AS BIGINT) AS saved,
                 CAST(COALESCE(sum(searchable), 0) AS BIGINT) AS searchable
             FROM (SELECT content.size, content.searchable, count(*) AS documents
                 FROM document JOIN content ON content.id = document.content_id",
            "GROUP BY content.id, content.size, content.searchable) AS shared",
        );
        if let Some(row) = transaction.row(&sql, values).await? {
            figures.contents = row.count("number")?;
            figures.bytes = row.count("bytes")?;
            figures.bytes_saved = row.count("saved")?;
            figures.searchable = row.count("searchable")?;
        }
        let mut conditions = self.conditions();
        conditions.always("content.near IS NOT NULL");
        let (sql, values) = conditions.all(
            "SELECT count(*) AS number, CAST(COALESCE(sum(members), 0) AS BIGINT) AS members
             FROM (SELECT content.near, count(DISTINCT content.id) AS members
                 FROM content JOIN document ON document.content_id = content.id",
            "GROUP BY content.near HAVING count(DISTINCT content.id) > 1) AS near",
        );
        if let Some(row) = transaction.row(&sql, values).await? {
            figures.near_groups = row.count("number")?;
            figures.near_contents = row.count("members")?;
        }
        Ok(())
    }
}

/// Values, the most frequent first; at most a thousand.
fn most_frequent(counts: HashMap<String, u64>) -> Vec<Figure> {
    let figures = counts.into_iter();
    let figures = figures.map(|(value, documents)| Figure { value, documents });
    let mut figures: Vec<_> = figures.collect();
    figures.sort_by(|one, other| (other.documents, &one.value).cmp(&(one.documents, &other.value)));
    figures.truncate(1000);
    figures
}

fn figure(row: &Row) -> Result<Figure, Error> {
    Ok(Figure {
        value: row.text("value")?,
        documents: row.count("number")?,
    })
}

/// The month of a day, counted from 1970 (Howard Hinnant's `civil_from_days`).
pub(super) fn month(day: i64) -> String {
    let days = day + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}")
}

const STATE: &str = "CASE WHEN content.aside = 1 THEN 'set_aside' WHEN document.state = 1 THEN 'ingested' \
     WHEN document.state = 2 THEN 'failed' ELSE 'not_ingested' END";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_months() {
        for (day, expected) in [
            (0, "1970-01"),
            (59, "1970-03"),
            (11_016, "2000-02"),
            (11_017, "2000-03"),
            (-1, "1969-12"),
        ] {
            assert_eq!(month(day), expected, "{day}");
        }
    }
}
