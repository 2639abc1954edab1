//! What documents lack of that which logs tell.

use std::collections::HashMap;

use crate::rows::batch;
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
    /// Those documents that lack something of what logs tell, of those that these are the MD5 of and that are known.
    pub async fn lacking(&self, documents: &[&str]) -> Result<HashMap<String, Lacking>, Error> {
        let sql = "SELECT document.md5, document.discover_date, document.update_date, document.parent_id,
                 document.depth, document.is_seed
             FROM {looked_up(document.md5)}
             WHERE document.parent_id IS NULL OR document.depth IS NULL OR document.is_seed IS NULL";
        let keys: Vec<_> = documents.iter().map(|md5| (md5,)).collect();
        let rows = self
            .database
            .read()
            .await?
            .rows(sql, [batch(&keys)])
            .await?;
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
