//! Contents: what should lie in the collection, for those who compare it with what does.

use std::collections::HashMap;

use serde::Serialize;

use crate::database::Row;
use crate::database::rows::{BATCH, batch};
use crate::imports::{changed, lock_collection};
use crate::{Catalog, Error, Superfluous};

/// Bytes of the collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContentEntry {
    /// The number under which they lie there.
    pub number: i64,
    /// Their SHA-1, in hexadecimal.
    pub sha1: String,
    /// Their SHA-256, in hexadecimal.
    pub sha256: String,
    /// How many there are.
    pub size: u64,
    /// The media type with which they first came.
    pub media_type: String,
    /// How the name of their file ends, without a dot.
    pub extension: String,
    /// Whether they are there, as far as is known.
    pub is_stored: bool,
    /// How many documents have them, now or as an older version.
    pub documents: u64,
}

/// An older content of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VersionEntry {
    /// The content.
    #[serde(flatten)]
    pub content: ContentEntry,
    /// When the document was last crawled with it, in seconds.
    pub crawl_date: i64,
}

impl Catalog {
    /// Contents behind a number, in the order of their numbers.
    pub async fn contents_from(&self, after: i64, limit: u64) -> Result<Vec<ContentEntry>, Error> {
        let sql = format!("{SELECT} WHERE content.id > $1 ORDER BY content.id LIMIT $2");
        let values = [after.into(), limit.into()];
        let rows = self.database.read().await?.rows(&sql, values).await?;
        rows.iter().map(content).collect()
    }

    /// How many contents there are.
    pub async fn count_contents(&self) -> Result<u64, Error> {
        let sql = "SELECT count(*) AS number FROM content";
        let row = self.database.read().await?.row(sql, []).await?;
        row.map_or(Ok(0), |row| row.count("number"))
    }

    /// The content with this number.
    pub async fn content(&self, number: i64) -> Result<Option<ContentEntry>, Error> {
        let sql = format!("{SELECT} WHERE content.id = $1");
        let row = self
            .database
            .read()
            .await?
            .row(&sql, [number.into()])
            .await?;
        row.as_ref().map(content).transpose()
    }

    /// The content with this SHA-1, in hexadecimal.
    pub async fn content_of(&self, sha1: &str) -> Result<Option<ContentEntry>, Error> {
        let sql = format!("{SELECT} WHERE content.sha1 = $1");
        let row = self.database.read().await?.row(&sql, [sha1.into()]).await?;
        row.as_ref().map(content).transpose()
    }

    /// Older contents of a document that are kept, the latest first.
    pub async fn versions(&self, document: i64) -> Result<Vec<VersionEntry>, Error> {
        let sql = format!(
            "{SELECT} JOIN version ON version.content_id = content.id WHERE version.document_id = $1
             ORDER BY version.crawl_date DESC, content.sha1 DESC"
        );
        let sql = sql.replacen(" FROM content", ", version.crawl_date FROM content", 1);
        let rows = self
            .database
            .read()
            .await?
            .rows(&sql, [document.into()])
            .await?;
        let version = |row: &Row| {
            Ok(VersionEntry {
                content: content(row)?,
                crawl_date: row.integer("crawl_date")?,
            })
        };
        rows.iter().map(version).collect()
    }

    /// Says whether the bytes of contents are there. Those that are not are asked for when an import meets them again.
    pub async fn set_stored(&self, numbers: &[i64], is_stored: bool) -> Result<u64, Error> {
        let mut transaction = self.database.write().await?;
        lock_collection(&mut transaction).await?;
        let mut known = 0;
        for part in numbers.chunks(BATCH) {
            let ids: Vec<_> = part.iter().map(|id| (id,)).collect();
            let sql = "UPDATE content SET stored = $2 WHERE id {integers($1)}";
            let values = [batch(&ids), is_stored.into()];
            known += transaction.execute(sql, values).await?;
        }
        changed(&mut transaction).await?;
        transaction.commit().await?;
        Ok(known)
    }

    /// Which of these numbers contents have, and how the names of their files end.
    pub async fn extensions_of(&self, numbers: &[i64]) -> Result<HashMap<i64, String>, Error> {
        let mut transaction = self.database.read().await?;
        let mut known = HashMap::new();
        for part in numbers.chunks(BATCH) {
            let ids: Vec<_> = part.iter().map(|id| (id,)).collect();
            let sql = "SELECT id, extension FROM content WHERE id {integers($1)}";
            for row in transaction.rows(sql, [batch(&ids)]).await? {
                known.insert(row.integer("id")?, row.text("extension")?);
            }
        }
        Ok(known)
    }

    /// A document that had this content once, by its number, and when it was last crawled with it.
    pub async fn kept_by(&self, content: i64) -> Result<Option<(i64, i64)>, Error> {
        let sql = "SELECT document_id, crawl_date FROM version WHERE content_id = $1
             ORDER BY document_id LIMIT 1";
        let mut transaction = self.database.read().await?;
        let row = transaction.row(sql, [content.into()]).await?;
        row.map(|row| Ok((row.integer("document_id")?, row.integer("crawl_date")?)))
            .transpose()
    }

    /// Forgets contents that no document has, whose files nothing in the catalog speaks of then. None while an import
    /// counts on some.
    pub async fn remove_unused_contents(&self) -> Result<Vec<Superfluous>, Error> {
        self.remove_unused("true").await
    }

    /// The same for those that were replaced, and whose files are to be removed now.
    pub async fn remove_doomed_contents(&self) -> Result<Vec<Superfluous>, Error> {
        self.remove_unused("doomed = 1").await
    }

    async fn remove_unused(&self, which: &str) -> Result<Vec<Superfluous>, Error> {
        let mut transaction = self.database.write().await?;
        lock_collection(&mut transaction).await?;
        let sql = format!(
            "DELETE FROM content WHERE {which}
                 AND NOT EXISTS (SELECT 1 FROM document WHERE content_id = content.id)
                 AND NOT EXISTS (SELECT 1 FROM version WHERE content_id = content.id)
                 AND NOT EXISTS (SELECT 1 FROM import WHERE state = 'running' AND pinned IS NOT NULL)
             RETURNING id, extension"
        );
        let rows = transaction.rows(&sql, []).await?;
        changed(&mut transaction).await?;
        transaction.commit().await?;
        let removed = |row: &Row| {
            Ok(Superfluous {
                number: row.integer("id")?,
                extension: row.text("extension")?,
            })
        };
        rows.iter().map(removed).collect()
    }
}

const SELECT: &str = "SELECT content.id, content.sha1, content.sha256, content.size, content.media_type, \
     content.extension, content.stored, \
     (SELECT count(*) FROM document WHERE document.content_id = content.id) \
         + (SELECT count(*) FROM version AS kept WHERE kept.content_id = content.id) AS documents FROM content";

fn content(row: &Row) -> Result<ContentEntry, Error> {
    Ok(ContentEntry {
        number: row.integer("id")?,
        sha1: row.text("sha1")?,
        sha256: row.text("sha256")?,
        size: row.count("size")?,
        media_type: row.text("media_type")?,
        extension: row.text("extension")?,
        is_stored: row.flag("stored")?,
        documents: row.count("documents")?,
    })
}
