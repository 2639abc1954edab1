//! Documents found by their words, the best first.

mod passages;
mod query;

pub use self::passages::{Passage, Segment};
pub use self::query::{QueryError, SearchQuery};

use crate::collection::documents::{document, select};
use crate::database::conditions::Conditions;
use crate::database::rows::batch;
use crate::database::{Transaction, Value};
use crate::records::rarity::{FEW, is_few};
use crate::{Catalog, DocumentEntry, DocumentQuery, Error};

/// Documents that were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Searched {
    /// The documents of the page, the best first.
    pub documents: Vec<FoundDocument>,
    /// How many there are, counted up to [`Searched::MOST_COUNTED`] and one more.
    pub total: u64,
    /// Whether only the newest [`Searched::MOST_RANKED`] of them were ranked.
    pub is_partly_ranked: bool,
}

/// A document that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundDocument {
    /// The document.
    pub document: DocumentEntry,
    /// How well it fits, in millionths; of one database only comparable among the documents of one search.
    pub score: i64,
}

/// The order of what a search found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SearchOrder {
    /// The best first.
    #[default]
    Rank,
    /// The last imported first.
    Newest,
    /// By the title, documents without one last.
    Title,
    /// By the host.
    Host,
}

impl Searched {
    /// Documents are counted up to here.
    pub const MOST_COUNTED: u64 = 10_000;
    /// The most documents that are ranked: the newest.
    pub const MOST_RANKED: u64 = 1_000;
}

impl Catalog {
    /// Documents with the words of a query, and of those the ones that a filter leaves, behind the first `offset`.
    pub async fn search_documents(
        &self,
        query: &SearchQuery,
        filter: &DocumentQuery,
        order: SearchOrder,
        offset: u64,
        limit: u64,
    ) -> Result<Searched, Error> {
        let mut transaction = self.database.long_list().await?;
        let few = few_contents(&mut transaction, filter).await?;
        let is_sqlite = self.database.is_sqlite();
        let hits = Hits {
            is_sqlite,
            query,
            filter,
            few: few.as_deref(),
        };
        let (sql, values) = hits.count();
        let row = transaction.row(&sql, values).await?;
        let total = row.map_or(Ok(0), |row| row.count("number"))?;
        let (sql, values) = hits.ranked();
        let mut ranked = Vec::new();
        for row in transaction.rows(&sql, values).await? {
            ranked.push((row.integer("score")?, row.integer("id")?));
        }
        match order {
            SearchOrder::Rank => ranked.sort_unstable_by(|one, other| other.cmp(one)),
            SearchOrder::Newest => ranked.sort_unstable_by_key(|(_, id)| -id),
            SearchOrder::Title | SearchOrder::Host => {
                sort(&mut transaction, order, &mut ranked).await?;
            }
        }
        let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
        let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
        let page: Vec<_> = ranked.into_iter().skip(skipped).take(wanted).collect();
        let ids: Vec<_> = page.iter().map(|(_, id)| (*id,)).collect();
        let sql = format!("{} WHERE document.id {{integers($1)}}", select());
        let mut found = std::collections::HashMap::new();
        for row in transaction.rows(&sql, [batch(&ids)]).await? {
            let document = document(&row)?;
            found.insert(document.id, document);
        }
        let documents = page.into_iter().filter_map(|(score, id)| {
            let document = found.remove(&id)?;
            Some(FoundDocument { document, score })
        });
        Ok(Searched {
            documents: documents.collect(),
            total,
            is_partly_ranked: total > Searched::MOST_RANKED,
        })
    }
}

impl Catalog {
    /// The statement for the facets of documents with the words of a query.
    pub(super) async fn found_facets(
        &self,
        transaction: &mut Transaction,
        query: &SearchQuery,
        filter: &DocumentQuery,
    ) -> Result<(String, Vec<Value>), Error> {
        let few = few_contents(transaction, filter).await?;
        let is_sqlite = self.database.is_sqlite();
        let hits = Hits {
            is_sqlite,
            query,
            filter,
            few: few.as_deref(),
        };
        let select = format!("SELECT {} {}", super::facets::COLUMNS, hits.tables());
        Ok(hits
            .conditions()
            .some(&select, "", Searched::MOST_COUNTED + 1))
    }
}

/// Sorts what was found, at most [`Searched::MOST_RANKED`] documents with their scores.
async fn sort(
    transaction: &mut Transaction,
    order: SearchOrder,
    ranked: &mut [(i64, i64)],
) -> Result<(), Error> {
    let ids: Vec<_> = ranked.iter().map(|(_, id)| (*id,)).collect();
    let sql = "SELECT document.id, document.rev_host, document.url, content.title FROM document
         JOIN content ON content.id = document.content_id WHERE document.id {integers($1)}";
    let mut keys = std::collections::HashMap::new();
    for row in transaction.rows(sql, [batch(&ids)]).await? {
        let title = row.maybe_text("title")?;
        let key = match order {
            SearchOrder::Host => (false, row.text("rev_host")?),
            _ => (
                title.is_none(),
                title.map_or_else(|| row.text("url"), Ok)?.to_lowercase(),
            ),
        };
        keys.insert(row.integer("id")?, key);
    }
    ranked.sort_by_cached_key(|(_, id)| (keys.get(id).cloned(), *id));
    Ok(())
}

/// The contents that the rarest condition of a filter leaves, if they are few.
async fn few_contents(
    transaction: &mut Transaction,
    filter: &DocumentQuery,
) -> Result<Option<Vec<(i64,)>>, Error> {
    for (sql, values) in filter.rare_contents() {
        let rows = transaction.rows(&sql, values).await?;
        if is_few(rows.len() as u64) {
            let numbers = rows.iter().map(|row| Ok((row.integer("id")?,)));
            return numbers.collect::<Result<_, _>>().map(Some);
        }
    }
    Ok(None)
}

impl SearchQuery {
    /// Asks for documents with its words, in a statement that does not rank them.
    pub(super) fn within(&self, is_sqlite: bool, conditions: &mut Conditions) {
        if !self.has_words() {
            return;
        }
        if is_sqlite {
            let contents = "document.content_id IN
                (SELECT rowid FROM document_search WHERE document_search MATCH $n)";
            return conditions.only(contents, Some(self.for_sqlite()));
        }
        let wanted = self.postgres_conditions(conditions).join(" AND ");
        conditions.always(&format!(
            "document.content_id IN (SELECT content_id FROM document_search WHERE {wanted})"
        ));
    }

    /// The conditions for PostgreSQL: each of them has to hold.
    fn postgres_conditions(&self, conditions: &mut Conditions) -> Vec<String> {
        let asked = self.for_postgres();
        let parts = [
            ("words @@", asked.words),
            ("title @@", asked.title),
            ("words @@", asked.excluded),
            ("title @@", asked.title_excluded),
        ];
        let mut wanted = Vec::new();
        for (at, (column, words)) in parts.into_iter().enumerate() {
            let Some(words) = words else { continue };
            let negation = if at < 2 { "" } else { "NOT " };
            let words = conditions.parameter(words);
            wanted.push(format!(
                "{negation}document_search.{column} CAST({words} AS tsquery)"
            ));
        }
        wanted
    }
}

/// The documents that have the words.
struct Hits<'a> {
    is_sqlite: bool,
    query: &'a SearchQuery,
    filter: &'a DocumentQuery,
    few: Option<&'a [(i64,)]>,
}

impl Hits<'_> {
    fn count(&self) -> (String, Vec<Value>) {
        let conditions = self.conditions();
        let select = format!("SELECT 1 AS one {}", self.tables());
        let (sql, values) = conditions.some(&select, "", Searched::MOST_COUNTED + 1);
        (
            format!("SELECT count(*) AS number FROM ({sql}) AS hits"),
            values,
        )
    }

    /// The newest documents, each with its score.
    fn ranked(&self) -> (String, Vec<Value>) {
        let mut conditions = self.conditions();
        let most = Searched::MOST_RANKED;
        if self.is_sqlite {
            // A title counts as much as eight words of the text. The function gives less to what fits better.
            let select = format!(
                "SELECT document.id, CAST(-1000000 * bm25(document_search, 8.0, 1.0) AS BIGINT) AS score {}",
                self.tables()
            );
            return conditions.some(&select, "ORDER BY document_search.rowid DESC", most);
        }
        let wanted = conditions.parameter(self.query.for_ranking());
        let select = format!(
            "SELECT document.id, document_search.words {}",
            self.tables()
        );
        let (sql, values) = conditions.some(&select, "ORDER BY document.id DESC", most);
        // Only these are unpacked: a long text takes its time.
        let sql = format!(
            "SELECT id, CAST(1000000 * ts_rank(words, CAST({wanted} AS tsquery), 1) AS BIGINT) AS score
             FROM ({sql}) AS hits"
        );
        (sql, values)
    }

    fn tables(&self) -> &'static str {
        match self.is_sqlite {
            // The words are read first, whatever the planner thinks.
            true => {
                "FROM document_search CROSS JOIN content ON content.id = document_search.rowid
                 CROSS JOIN document ON document.content_id = content.id"
            }
            false => {
                "FROM document_search JOIN content ON content.id = document_search.content_id
                 JOIN document ON document.content_id = content.id"
            }
        }
    }

    fn conditions(&self) -> Conditions {
        let mut conditions = Conditions::default();
        match self.is_sqlite {
            true => {
                conditions.only("document_search MATCH $n", Some(self.query.for_sqlite()));
                // The plus sign keeps SQLite from looking the words up once for each of them.
                conditions.only("+document_search.rowid {integers($n)}", self.few.map(batch));
            }
            false => {
                for condition in self.query.postgres_conditions(&mut conditions) {
                    conditions.always(&condition);
                }
                conditions.only(
                    "document_search.content_id {integers($n)}",
                    self.few.map(batch),
                );
            }
        }
        self.filter.narrow(&mut conditions);
        conditions
    }
}

const _: () = assert!(FEW > Searched::MOST_RANKED);
