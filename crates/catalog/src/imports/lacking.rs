//! Facts about documents that crawl logs have and the catalog lacks.

use std::collections::{HashMap, HashSet};

use crate::database::rows::batch;
use crate::{Catalog, Error};

/// A document that something more may be heard of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lacking {
    /// When it was first crawled, in seconds.
    pub discover_date: i64,
    /// When it was last crawled, in seconds.
    pub update_date: i64,
    /// Whether no page is known that links to it.
    pub parent: bool,
    /// Whether it is not known how far from a seed it is.
    pub depth: bool,
    /// Whether it is not known if it is a seed.
    pub is_seed: bool,
}

impl Catalog {
    /// Those documents whose bytes are known, by their MD5, of some.
    pub async fn with_content(&self, documents: &[&str]) -> Result<HashSet<String>, Error> {
        let sql = "SELECT document.md5 FROM {looked_up(document.md5)} WHERE document.content_id IS NOT NULL";
        let keys: Vec<_> = documents.iter().map(|md5| (md5,)).collect();
        let mut transaction = self.database.read().await?;
        let rows = transaction.rows(sql, [batch(&keys)]).await?;
        rows.iter().map(|row| row.text("md5")).collect()
    }

    /// Those documents that lack something of what logs tell, of those that these are the MD5 of and that are known.
    pub async fn lacking(&self, documents: &[&str]) -> Result<HashMap<String, Lacking>, Error> {
        let keys: Vec<_> = documents.iter().map(|md5| (md5,)).collect();
        let mut transaction = self.database.read().await?;
        let mut rows = Vec::new();
        // A URL that was only heard of may become a document.
        for table in ["document", "heard"] {
            let sql = format!(
                "SELECT {table}.md5, {table}.discover_date, {table}.update_date, {table}.parent_id,
                     {table}.depth, {table}.is_seed
                 FROM {{looked_up({table}.md5)}}
                 WHERE {table}.parent_id IS NULL OR {table}.depth IS NULL OR {table}.is_seed IS NULL"
            );
            rows.append(&mut transaction.rows(&sql, [batch(&keys)]).await?);
        }
        let mut lacking = HashMap::new();
        for row in rows {
            let document = Lacking {
                discover_date: row.integer("discover_date")?,
                update_date: row.integer("update_date")?,
                parent: row.maybe_integer("parent_id")?.is_none(),
                depth: row.maybe_integer("depth")?.is_none(),
                is_seed: row.maybe_integer("is_seed")?.is_none(),
            };
            lacking.insert(row.text("md5")?, document);
        }
        Ok(lacking)
    }
}
