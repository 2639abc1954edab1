//! Pages that link to documents, listed.

use serde::Serialize;

use crate::database::Row;
use crate::database::bounded::bounded;
use crate::database::conditions::{Conditions, containing};
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
    /// How many at most.
    pub limit: u64,
}

impl Default for ParentQuery {
    fn default() -> Self {
        Self {
            host: None,
            text: None,
            after: 0,
            limit: 100,
        }
    }
}

impl Catalog {
    /// Pages that link to documents, in the order of their numbers.
    pub async fn parents(&self, query: &ParentQuery) -> Result<Vec<ParentEntry>, Error> {
        let mut conditions = Conditions::default();
        conditions.only("id > $n", Some(query.after));
        let host = query.host.as_deref().map(bounded);
        conditions.only("host = $n", host.as_deref());
        conditions.only(
            "lower(url) LIKE $n ESCAPE '!'",
            query.text.as_deref().map(containing),
        );
        let (sql, values) = conditions.some(SELECT, "ORDER BY id", query.limit);
        let rows = self.database.long_list().await?.rows(&sql, values).await?;
        rows.iter().map(parent).collect()
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
        let row = self.database.read().await?.row(&sql, [id.into()]).await?;
        row.as_ref().map(parent).transpose()
    }
}

const SELECT: &str = "SELECT id, url, md5, host, first_crawl_date, last_crawl_date, \
     (SELECT count(*) FROM document WHERE parent_id = parent.id) AS documents FROM parent";

fn parent(row: &Row) -> Result<ParentEntry, Error> {
    Ok(ParentEntry {
        id: row.integer("id")?,
        url: row.text("url")?,
        md5: row.text("md5")?,
        host: row.text("host")?,
        first_crawl_date: row.integer("first_crawl_date")?,
        last_crawl_date: row.integer("last_crawl_date")?,
        documents: row.count("documents")?,
    })
}
