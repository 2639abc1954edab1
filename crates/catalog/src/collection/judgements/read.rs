//! Judgements looked up and listed.

use serde::Serialize;

use super::entry::{COLUMNS, Judgement, KnownContent, maybe};
use crate::database::Row;
use crate::database::conditions::Conditions;
use crate::{Catalog, Error};

/// A content that lies in the collection, and what is known of its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JudgedContent {
    /// The number under which it lies there.
    pub number: i64,
    /// Its SHA-1, in hexadecimal.
    pub sha1: String,
    /// How the name of its file ends, without a dot.
    pub extension: String,
    /// Its media type.
    pub media_type: String,
    /// The URL of a document that has it, or had it once.
    pub url: String,
    /// The judgement of its text, if there is one.
    pub judgement: Option<Judgement>,
}

/// Which contents are wanted.
#[derive(Debug, Clone)]
pub struct JudgementQuery {
    /// Those with a greater number, for the next page.
    pub after: i64,
    /// Those that consist of images and that nobody has recognised or decided on yet.
    pub only_unrecognised: bool,
    /// Those of which a librarian has said something.
    pub only_corrected: bool,
    /// How many at most.
    pub limit: u64,
}

impl Default for JudgementQuery {
    fn default() -> Self {
        Self {
            after: 0,
            only_unrecognised: false,
            only_corrected: false,
            limit: 100,
        }
    }
}

impl Catalog {
    /// Returns the facts about bytes with this SHA-1, in hexadecimal.
    pub async fn known_content(&self, sha1: &str) -> Result<Option<KnownContent>, Error> {
        let sql = format!(
            "SELECT {COLUMNS}, (SELECT stored FROM content WHERE content.sha1 = judgement.sha1) AS stored
             FROM judgement WHERE judgement.sha1 = $1"
        );
        let row = self.database.read().await?.row(&sql, [sha1.into()]).await?;
        let Some(row) = row else { return Ok(None) };
        let is_stored = row.maybe_integer("stored")? == Some(1);
        let known = maybe(&row)?.map(|judgement| KnownContent {
            judgement,
            is_stored,
        });
        Ok(known)
    }

    /// Contents that lie in the collection, in the order of their numbers, and what is known of their texts.
    pub async fn judged_contents(
        &self,
        query: &JudgementQuery,
    ) -> Result<Vec<JudgedContent>, Error> {
        let mut conditions = Conditions::default();
        conditions.only("content.id > $n", Some(query.after));
        conditions.always("content.stored = 1");
        if query.only_unrecognised {
            conditions.always(
                "judgement.aside = 1 AND judgement.outcome = 'image-only' AND judgement.decision IS NULL \
                 AND judgement.corrected_at IS NULL AND (judgement.engine IS NULL \
                 OR judgement.engine NOT LIKE '%tesseract%')",
            );
        }
        if query.only_corrected {
            conditions.always("judgement.corrected_at IS NOT NULL");
        }
        let select = format!(
            "SELECT content.id, content.sha1, content.extension, content.media_type,
                 COALESCE((SELECT url FROM document WHERE document.content_id = content.id ORDER BY document.id
                     LIMIT 1), judgement.url, '') AS content_url, {COLUMNS}
             FROM content LEFT JOIN judgement ON judgement.sha1 = content.sha1"
        );
        let (sql, values) = conditions.some(&select, "ORDER BY content.id", query.limit);
        let rows = self.database.read().await?.rows(&sql, values).await?;
        rows.iter().map(judged).collect()
    }
}

fn judged(row: &Row) -> Result<JudgedContent, Error> {
    Ok(JudgedContent {
        number: row.integer("id")?,
        sha1: row.text("sha1")?,
        extension: row.text("extension")?,
        media_type: row.text("media_type")?,
        url: row.text("content_url")?,
        judgement: maybe(row)?,
    })
}
