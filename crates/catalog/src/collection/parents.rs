//! Pages that link to documents, listed.

use std::collections::HashMap;

use serde::Serialize;

use crate::database::bounded::bounded;
use crate::database::conditions::{Conditions, containing};
use crate::database::rows::{BATCH, batch};
use crate::database::{Row, Transaction};
use crate::{Catalog, Error};

/// A page that links to documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ParentEntry {
    /// Its number.
    pub id: i64,
    /// Its URL.
    pub url: String,
    /// The MD5 of the URL, in hexadecimal.
    pub md5: String,
    /// The host of the URL.
    pub host: String,
    /// When it was first seen to link to a document, in seconds.
    pub first_crawl_date: i64,
    /// When it was last seen to, in seconds.
    pub last_crawl_date: i64,
    /// How many documents have it as their parent.
    pub documents: u64,
    /// How many of these a search engine took in.
    pub ingested: u64,
    /// The result of the last link check, if there was one.
    pub link: Option<LinkCheck>,
}

/// The result of a link check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkCheck {
    /// When it was made, in seconds.
    pub checked: i64,
    /// The result.
    pub outcome: LinkOutcome,
    /// The status of the answer, or what is known beside.
    pub detail: Option<String>,
    /// Where redirects led.
    pub final_url: Option<String>,
}

/// Whether a link is alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkOutcome {
    /// A server answers for it.
    Alive,
    /// Nothing is there any more.
    Dead,
    /// The server failed or did not answer in time.
    Unknown,
    /// The robots.txt of the host does not allow to ask.
    Disallowed,
    /// It leads to an address that may not be asked.
    Inside,
}

/// A check of a link, to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedLink {
    /// The number of the parent.
    pub parent: i64,
    /// The result.
    pub outcome: LinkOutcome,
    /// The status of the answer, or what is known beside.
    pub detail: String,
    /// Where redirects led.
    pub final_url: Option<String>,
}

/// Which links are to be checked.
#[derive(Debug, Clone, Copy)]
pub struct LinkQuery {
    /// Those behind this number.
    pub after: i64,
    /// Those that were last checked longer ago, in seconds.
    pub older_than: i64,
    /// Those without a clear result are checked again if their check is older than this moment, in seconds.
    pub began: i64,
    /// How many at most.
    pub limit: u64,
}

/// Which pages are wanted.
#[derive(Debug, Clone)]
pub struct ParentQuery {
    /// Those of one host.
    pub host: Option<String>,
    /// Those with this in their URL.
    pub text: Option<String>,
    /// Those with a greater number, for the next page.
    pub after: i64,
    /// The order, if it is not that of their numbers.
    pub order: Option<ParentOrder>,
    /// Whether the largest come first in that order.
    pub descending: bool,
    /// How many are skipped, where there is an order.
    pub offset: u64,
    /// How many at most.
    pub limit: u64,
}

/// By what pages are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParentOrder {
    /// Their URLs.
    Url,
    /// How many documents they link to.
    Documents,
    /// How many of these a search engine took in.
    Ingested,
    /// When they were last seen.
    LastCrawlDate,
    /// The result of the last check of their links.
    Link,
}

impl ParentOrder {
    /// All there are.
    pub const ALL: [Self; 5] = [
        Self::Url,
        Self::Documents,
        Self::Ingested,
        Self::LastCrawlDate,
        Self::Link,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Documents => "documents",
            Self::Ingested => "ingested",
            Self::LastCrawlDate => "last_crawl_date",
            Self::Link => "link",
        }
    }

    /// Whether the documents of every parent are counted for it.
    pub fn counts_documents(self) -> bool {
        matches!(self, Self::Documents | Self::Ingested)
    }

    fn expression(self) -> &'static str {
        match self {
            Self::Url => "parent.url",
            Self::Documents => {
                "(SELECT count(*) FROM document WHERE document.parent_id = parent.id)"
            }
            Self::Ingested => {
                "(SELECT count(*) FROM document WHERE document.parent_id = parent.id AND document.state = 1)"
            }
            Self::LastCrawlDate => "parent.last_crawl_date",
            Self::Link => "COALESCE(link_check.outcome, '')",
        }
    }
}

impl ParentQuery {
    fn conditions(&self) -> Conditions {
        let mut conditions = Conditions::default();
        conditions.only("id > $n", Some(self.after));
        let host = self.host.as_deref().map(bounded);
        conditions.only("host = $n", host.as_deref());
        conditions.only(
            "lower(url) LIKE $n ESCAPE '!'",
            self.text.as_deref().map(containing),
        );
        conditions
    }
}

impl Default for ParentQuery {
    fn default() -> Self {
        Self {
            host: None,
            text: None,
            after: 0,
            order: None,
            descending: false,
            offset: 0,
            limit: 100,
        }
    }
}

impl Catalog {
    /// How many pages link to documents, counted up to `most`.
    pub async fn count_parents(&self, query: &ParentQuery, most: u64) -> Result<u64, Error> {
        let most = most.min(1 << 40);
        let select = "SELECT count(*) AS number FROM (SELECT id FROM parent";
        let (sql, values) = query
            .conditions()
            .all(select, &format!("LIMIT {most}) AS counted"));
        let row = self.database.long_list().await?.row(&sql, values).await?;
        row.map_or(Ok(0), |row| row.count("number"))
    }

    /// Pages that link to documents, in the order of their numbers if no other is asked for.
    pub async fn parents(&self, query: &ParentQuery) -> Result<Vec<ParentEntry>, Error> {
        let direction = if query.descending { "DESC" } else { "ASC" };
        let limit = query.limit.min(1 << 40);
        let order = match query.order {
            None => format!("ORDER BY id LIMIT {limit}"),
            Some(order) => format!(
                "ORDER BY {} {direction}, id LIMIT {limit} OFFSET {}",
                order.expression(),
                query.offset.min(1 << 40)
            ),
        };
        let (sql, values) = query.conditions().all(SELECT, &order);
        let mut transaction = self.database.long_list().await?;
        let rows = transaction.rows(&sql, values).await?;
        let mut parents: Vec<_> = rows.iter().map(parent).collect::<Result<_, _>>()?;
        count(&mut transaction, &mut parents).await?;
        Ok(parents)
    }

    /// The page of a URL, by the MD5 of the URL.
    pub async fn parent_at(&self, md5: &str) -> Result<Option<ParentEntry>, Error> {
        let sql = format!("{SELECT} WHERE md5 = $1");
        let row = self.database.read().await?.row(&sql, [md5.into()]).await?;
        row.as_ref().map(parent).transpose()
    }

    /// The page with this number.
    pub async fn parent(&self, id: i64) -> Result<Option<ParentEntry>, Error> {
        let sql = format!("{SELECT} WHERE id = $1");
        let mut transaction = self.database.read().await?;
        let Some(row) = transaction.row(&sql, [id.into()]).await? else {
            return Ok(None);
        };
        let mut found = [parent(&row)?];
        count(&mut transaction, &mut found).await?;
        let [found] = found;
        Ok(Some(found))
    }

    /// Hosts of parents, behind one of them, in the order of the database.
    pub async fn parent_hosts(&self, after: &str, limit: u64) -> Result<Vec<String>, Error> {
        let sql = "SELECT DISTINCT host FROM parent WHERE host > $1 ORDER BY host LIMIT $2";
        let values = [after.into(), limit.into()];
        let rows = self.database.read().await?.rows(sql, values).await?;
        rows.iter().map(|row| row.text("host")).collect()
    }

    /// Parents of a host that have documents and whose links are to be checked: their numbers and URLs. A refusal of our
    /// own is not kept: it depends on what a run allows.
    pub async fn links_to_check(
        &self,
        host: &str,
        query: &LinkQuery,
    ) -> Result<Vec<(i64, String)>, Error> {
        let sql = "SELECT parent.id, parent.url FROM parent LEFT JOIN link_check ON link_check.parent_id = parent.id
             WHERE parent.host = $1 AND parent.id > $2
                 AND (link_check.checked IS NULL OR link_check.checked < {now} - $3
                     OR link_check.outcome IN ('unknown', 'inside') AND link_check.checked <= $4)
                 AND EXISTS (SELECT 1 FROM document WHERE document.parent_id = parent.id)
             ORDER BY parent.id LIMIT $5";
        let values = [
            host.into(),
            query.after.into(),
            query.older_than.into(),
            query.began.into(),
            query.limit.into(),
        ];
        let rows = self.database.read().await?.rows(sql, values).await?;
        let links = rows.iter();
        links
            .map(|row| Ok((row.integer("id")?, row.text("url")?)))
            .collect()
    }

    /// Keeps what checks of links found.
    pub async fn keep_links(&self, links: &[CheckedLink]) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        for part in links.chunks(BATCH) {
            let values: Vec<_> = part
                .iter()
                .map(|link| {
                    let outcome = link.outcome.name();
                    (link.parent, outcome, &link.detail, &link.final_url)
                })
                .collect();
            // The parent may be gone by now.
            let sql = "INSERT INTO link_check (parent_id, checked, outcome, detail, final_url)
                 SELECT parent.id, {now}, item.value->>1, item.value->>2, item.value->>3
                 FROM {each($1)} JOIN parent ON parent.id = CAST(item.value->>0 AS BIGINT)
                 WHERE true
                 ON CONFLICT (parent_id) DO UPDATE SET checked = excluded.checked, outcome = excluded.outcome,
                     detail = excluded.detail, final_url = excluded.final_url";
            transaction.execute(sql, [batch(&values)]).await?;
        }
        transaction.commit().await
    }

    /// The parents of documents: the MD5 of the parent's URL, by the number or the MD5 of the document.
    pub async fn parents_of(
        &self,
        documents: &[i64],
        urls: &[String],
    ) -> Result<(HashMap<i64, String>, HashMap<String, String>), Error> {
        let mut transaction = self.database.read().await?;
        let (mut by_number, mut by_url) = (HashMap::new(), HashMap::new());
        const PARENT: &str = "SELECT document.id, document.md5, parent.md5 AS parent_md5
             FROM document JOIN parent ON parent.id = document.parent_id WHERE document.";
        for part in documents.chunks(BATCH) {
            let ids: Vec<_> = part.iter().map(|id| (id,)).collect();
            let sql = format!("{PARENT}id {{integers($1)}}");
            for row in transaction.rows(&sql, [batch(&ids)]).await? {
                by_number.insert(row.integer("id")?, row.text("parent_md5")?);
            }
        }
        for part in urls.chunks(BATCH) {
            let urls: Vec<_> = part.iter().map(|md5| (md5,)).collect();
            let sql = format!("{PARENT}md5 {{texts($1)}}");
            for row in transaction.rows(&sql, [batch(&urls)]).await? {
                by_url.insert(row.text("md5")?, row.text("parent_md5")?);
            }
        }
        Ok((by_number, by_url))
    }

    /// The MD5 of documents, by their numbers.
    pub async fn urls_of(&self, documents: &[i64]) -> Result<HashMap<i64, String>, Error> {
        let mut transaction = self.database.read().await?;
        let mut urls = HashMap::new();
        for part in documents.chunks(BATCH) {
            let ids: Vec<_> = part.iter().map(|id| (id,)).collect();
            let sql = "SELECT id, md5 FROM document WHERE id {integers($1)}";
            for row in transaction.rows(sql, [batch(&ids)]).await? {
                urls.insert(row.integer("id")?, row.text("md5")?);
            }
        }
        Ok(urls)
    }

    /// Keeps how often documents are cited, by their MD5.
    pub async fn keep_citations(&self, citations: &[(String, i64)]) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        for part in citations.chunks(BATCH) {
            // A statement may not meet a row twice; the last word counts.
            let last: HashMap<_, _> = part.iter().map(|(md5, number)| (md5, number)).collect();
            let values: Vec<_> = last.into_iter().collect();
            let sql = "INSERT INTO citation (md5, citations)
                 SELECT item.value->>0, CAST(item.value->>1 AS BIGINT) FROM {each($1)} WHERE true
                 ON CONFLICT (md5) DO UPDATE SET citations = excluded.citations";
            transaction.execute(sql, [batch(&values)]).await?;
        }
        transaction.commit().await
    }

    /// Citations that are kept, behind one of them by its MD5.
    pub async fn citations(&self, after: &str, limit: u64) -> Result<Vec<(String, i64)>, Error> {
        let sql = "SELECT md5, citations FROM citation WHERE md5 > $1 ORDER BY md5 LIMIT $2";
        let values = [after.into(), limit.into()];
        let rows = self.database.read().await?.rows(sql, values).await?;
        let citations = rows.iter();
        citations
            .map(|row| Ok((row.text("md5")?, row.integer("citations")?)))
            .collect()
    }
}

/// Counts the documents of parents.
async fn count(transaction: &mut Transaction, parents: &mut [ParentEntry]) -> Result<(), Error> {
    for part in parents.chunks_mut(BATCH) {
        let ids: Vec<_> = part.iter().map(|parent| (parent.id,)).collect();
        let sql = "SELECT parent_id, count(*) AS documents,
                 CAST(sum(CASE WHEN state = 1 THEN 1 ELSE 0 END) AS BIGINT) AS ingested
             FROM document WHERE parent_id {integers($1)} GROUP BY parent_id";
        let mut counts = HashMap::new();
        for row in transaction.rows(sql, [batch(&ids)]).await? {
            let counted = (row.count("documents")?, row.count("ingested")?);
            counts.insert(row.integer("parent_id")?, counted);
        }
        for parent in part {
            let counted = counts.get(&parent.id).copied().unwrap_or_default();
            (parent.documents, parent.ingested) = counted;
        }
    }
    Ok(())
}

impl LinkOutcome {
    /// All there are.
    pub const ALL: [Self; 5] = [
        Self::Alive,
        Self::Dead,
        Self::Unknown,
        Self::Disallowed,
        Self::Inside,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alive => "alive",
            Self::Dead => "dead",
            Self::Unknown => "unknown",
            Self::Disallowed => "disallowed",
            Self::Inside => "inside",
        }
    }
}

const SELECT: &str = "SELECT id, url, md5, host, first_crawl_date, last_crawl_date, link_check.checked, \
     link_check.outcome, link_check.detail, link_check.final_url \
     FROM parent LEFT JOIN link_check ON link_check.parent_id = parent.id";

fn parent(row: &Row) -> Result<ParentEntry, Error> {
    let link = match (row.maybe_integer("checked")?, row.maybe_text("outcome")?) {
        (Some(checked), Some(outcome)) => {
            let mut outcomes = LinkOutcome::ALL.into_iter();
            let known = outcomes.find(|known| known.name() == outcome);
            Some(LinkCheck {
                checked,
                outcome: known.unwrap_or(LinkOutcome::Unknown),
                detail: row.maybe_text("detail")?,
                final_url: row.maybe_text("final_url")?,
            })
        }
        _ => None,
    };
    Ok(ParentEntry {
        id: row.integer("id")?,
        url: row.text("url")?,
        md5: row.text("md5")?,
        host: row.text("host")?,
        first_crawl_date: row.integer("first_crawl_date")?,
        last_crawl_date: row.integer("last_crawl_date")?,
        documents: 0,
        ingested: 0,
        link,
    })
}
