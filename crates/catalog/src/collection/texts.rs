//! The words of documents, by which they are found, and texts that say nearly the same.
//!
//! A content whose text is stored is noted in `unread_text` by the transaction that brings it, and stays there until
//! somebody has read the text and handed its words over: an import when it ends, the manager, or a repair.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Serialize;

use super::outdated::outdate;
use crate::changes::stamp_contents;
use crate::database::bounded::clean;
use crate::database::rows::{BATCH, batch};
use crate::database::{Row, Transaction};
use crate::imports::{changed, lock_collection};
use crate::records::words::{for_postgres, for_sqlite, words};
use crate::{Catalog, Error};

/// A content whose text cannot be searched for yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadText {
    /// The number of the content.
    pub content: i64,
    /// How the name of its file ends, without a dot.
    pub extension: String,
    /// Its media type.
    pub media_type: String,
    /// Whether its title, language and sketch are known.
    pub has_facts: bool,
    /// Its sketch, if one is known.
    pub sketch: Option<String>,
    /// Its title, if one is known.
    pub title: Option<String>,
}

/// The words of a content, and what its text is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedText {
    /// The number of the content.
    pub content: i64,
    /// The title of the text.
    pub title: Option<String>,
    /// Its language.
    pub language: Option<String>,
    /// Its sketch.
    pub sketch: Option<String>,
    /// The bands of the sketch: texts that agree in one are compared.
    pub bands: Vec<i64>,
    /// The text itself.
    pub text: String,
}

/// A content whose text says nearly the same as another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearDocument {
    /// A document that has it.
    pub document: i64,
    /// Its sketch.
    pub sketch: Option<String>,
}

impl Catalog {
    /// Contents whose texts are to be read, those that were never tried first.
    pub async fn unread_texts(&self, limit: u64) -> Result<Vec<UnreadText>, Error> {
        let sql = "SELECT content.id, content.extension, content.media_type, judgement.title, judgement.sketch,
                 judgement.language
             FROM unread_text JOIN content ON content.id = unread_text.content_id
             LEFT JOIN judgement ON judgement.sha1 = content.sha1
             WHERE tried <= {now} - $1 ORDER BY tried, content_id LIMIT $2";
        let values = [TRY_AGAIN_SECONDS.into(), limit.into()];
        let rows = self.database.read().await?.rows(sql, values).await?;
        rows.iter().map(unread).collect()
    }

    /// Those of the contents whose text was read. A document that is text is its own. Where `stored`, only those whose text
    /// was stored beside them: a judgement alone stores none for documents that were held without their texts before.
    pub async fn with_text(&self, contents: &[i64], stored: bool) -> Result<HashSet<i64>, Error> {
        let sql = "SELECT content.id FROM content JOIN judgement ON judgement.sha1 = content.sha1
             WHERE content.id {integers($1)} AND judgement.outcome = 'text' AND content.extension <> 'txt'
                 AND ($2 = 0 OR content.searchable = 1
                     OR EXISTS (SELECT 1 FROM unread_text WHERE unread_text.content_id = content.id))";
        let keys: Vec<_> = contents.iter().map(|id| (id,)).collect();
        let values = [batch(&keys), i64::from(stored).into()];
        let rows = self.database.read().await?.rows(sql, values).await?;
        rows.iter().map(|row| row.integer("id")).collect()
    }

    /// Notes that the text of a content is to be read, if it is not searchable.
    pub async fn queue_text(&self, sha1: &str) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        queue(&mut transaction, &[(&sha1,)]).await?;
        transaction.commit().await
    }

    /// How many contents with a text cannot be searched for yet, counted up to `most`.
    pub async fn count_unread_texts(&self, most: u64) -> Result<u64, Error> {
        let sql =
            "SELECT count(*) AS number FROM (SELECT 1 AS one FROM unread_text LIMIT $1) AS unread";
        let row = self.database.read().await?.row(sql, [most.into()]).await?;
        row.map_or(Ok(0), |row| row.count("number"))
    }

    /// Notes texts that could not be read. They are tried again later; those of `gone` are not there at all, and are not.
    pub async fn note_unread_texts(&self, unread: &[i64], gone: &[i64]) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        let keys = |ids: &[i64]| batch(&ids.iter().map(|id| (id,)).collect::<Vec<_>>());
        let sql = "UPDATE unread_text SET tried = {now} WHERE content_id {integers($1)}";
        transaction.execute(sql, [keys(unread)]).await?;
        let sql = "DELETE FROM unread_text WHERE content_id {integers($1)}";
        transaction.execute(sql, [keys(gone)]).await?;
        transaction.commit().await
    }

    /// Takes the words of texts over, with what they are like, and finds those that say nearly the same: `is_near`
    /// compares two sketches.
    pub async fn index_texts(
        &self,
        texts: &[IndexedText],
        is_near: &(dyn Fn(&str, &str) -> bool + Sync),
    ) -> Result<(), Error> {
        for texts in texts.chunks(BATCH) {
            let mut transaction = self.database.write().await?;
            // Imports write the same rows, in an order of their own.
            lock_collection(&mut transaction).await?;
            let known = known(&mut transaction, texts).await?;
            let known: Vec<_> = texts
                .iter()
                .filter(|text| known.contains(&text.content))
                .collect();
            describe(&mut transaction, &known).await?;
            self.write_document_words(&mut transaction, &known).await?;
            for text in &known {
                group(&mut transaction, text, is_near).await?;
            }
            let keys: Vec<_> = texts.iter().map(|text| (text.content,)).collect();
            let sql = "DELETE FROM unread_text WHERE content_id {integers($1)}";
            transaction.execute(sql, [batch(&keys)]).await?;
            changed(&mut transaction).await?;
            transaction.commit().await?;
        }
        Ok(())
    }

    /// Takes the words of contents out of the search, for documents that are not to be found any more; they come back
    /// with [`Catalog::requeue_texts`].
    pub async fn forget_texts(&self, contents: &[i64]) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        lock_collection(&mut transaction).await?;
        forget(&mut transaction, self.database.is_sqlite(), contents).await?;
        transaction.commit().await
    }

    /// Has the texts of contents read again.
    pub async fn requeue_texts(&self, contents: &[i64]) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        lock_collection(&mut transaction).await?;
        for part in contents.chunks(BATCH) {
            let keys: Vec<_> = part.iter().map(|id| (id,)).collect();
            let sql = "INSERT INTO unread_text (content_id) SELECT id FROM content WHERE id {integers($1)}
                 ON CONFLICT (content_id) DO UPDATE SET tried = 0";
            transaction.execute(sql, [batch(&keys)]).await?;
        }
        transaction.commit().await
    }

    /// Contents whose texts say nearly the same as that of a content, at most `limit`, each by its first document.
    pub async fn near_documents(
        &self,
        content: i64,
        limit: u64,
    ) -> Result<Vec<NearDocument>, Error> {
        let sql = "SELECT (SELECT min(document.id) FROM document WHERE document.content_id = other.id) AS document_id,
                 judgement.sketch
             FROM content AS own JOIN content AS other ON other.near = own.near
             LEFT JOIN judgement ON judgement.sha1 = other.sha1
             WHERE own.id = $1 AND other.id <> $1 AND own.near IS NOT NULL
                 AND EXISTS (SELECT 1 FROM document WHERE document.content_id = other.id)
             ORDER BY other.id LIMIT $2";
        let values = [content.into(), limit.into()];
        let rows = self.database.read().await?.rows(sql, values).await?;
        let near = |row: &Row| {
            Ok(NearDocument {
                document: row.integer("document_id")?,
                sketch: row.maybe_text("sketch")?,
            })
        };
        rows.iter().map(near).collect()
    }

    async fn write_document_words(
        &self,
        transaction: &mut Transaction,
        texts: &[&IndexedText],
    ) -> Result<(), Error> {
        let is_sqlite = self.database.is_sqlite();
        let (mut rows, mut bytes) = (Vec::new(), 0);
        for text in texts {
            let title = words(text.title.as_deref().unwrap_or_default());
            let mut said = words(&text.text);
            bound(&mut said);
            let (title, said) = match is_sqlite {
                true => (for_sqlite(&title), for_sqlite(&said)),
                false => (for_postgres(&title), weighted(&title, &said)),
            };
            bytes += said.len();
            rows.push((text.content, title, said));
            if bytes > MOST_BYTES {
                reword(transaction, &std::mem::take(&mut rows)).await?;
                bytes = 0;
            }
        }
        reword(transaction, &rows).await
    }
}

/// Notes that the texts of these contents are to be read, by their SHA-1, as far as they have some that nobody has read.
pub(crate) async fn queue(transaction: &mut Transaction, sha1s: &[(&&str,)]) -> Result<(), Error> {
    let sql = "INSERT INTO unread_text (content_id)
         SELECT content.id FROM content JOIN judgement ON judgement.sha1 = content.sha1
         WHERE content.sha1 {texts($1)} AND content.searchable = 0
             AND (judgement.outcome = 'text' OR judgement.outcome LIKE 'limit-%')
         ON CONFLICT (content_id) DO NOTHING";
    transaction.execute(sql, [batch(sha1s)]).await?;
    Ok(())
}

/// Takes the words of contents out of the search, and the contents out of their groups.
pub(crate) async fn forget(
    transaction: &mut Transaction,
    is_sqlite: bool,
    contents: &[i64],
) -> Result<(), Error> {
    for part in contents.chunks(BATCH) {
        let keys: Vec<_> = part.iter().map(|id| (id,)).collect();
        let key = if is_sqlite { "rowid" } else { "content_id" };
        for sql in [
            &format!("DELETE FROM document_search WHERE {key} {{integers($1)}}"),
            "DELETE FROM text_band WHERE content_id {integers($1)}",
            "DELETE FROM unread_text WHERE content_id {integers($1)}",
            "UPDATE content SET searchable = 0, near = NULL WHERE id {integers($1)}",
        ] {
            transaction.execute(sql, [batch(&keys)]).await?;
        }
    }
    Ok(())
}

fn unread(row: &Row) -> Result<UnreadText, Error> {
    let (title, sketch) = (row.maybe_text("title")?, row.maybe_text("sketch")?);
    let language = row.maybe_text("language")?;
    Ok(UnreadText {
        content: row.integer("id")?,
        extension: row.text("extension")?,
        media_type: row.text("media_type")?,
        has_facts: title.is_some() || sketch.is_some() || language.is_some(),
        sketch,
        title,
    })
}

/// Those of the contents that are still there.
async fn known(
    transaction: &mut Transaction,
    texts: &[IndexedText],
) -> Result<BTreeSet<i64>, Error> {
    let keys: Vec<_> = texts.iter().map(|text| (text.content,)).collect();
    let sql = "SELECT id FROM content WHERE id {integers($1)}";
    let rows = transaction.rows(sql, [batch(&keys)]).await?;
    rows.iter().map(|row| row.integer("id")).collect()
}

/// Writes down what texts are like.
async fn describe(transaction: &mut Transaction, texts: &[&IndexedText]) -> Result<(), Error> {
    let rows: Vec<_> = texts
        .iter()
        .map(|text| {
            let title = text.title.as_deref().map(clean);
            (text.content, title, &text.language, &text.sketch)
        })
        .collect();
    let sql = "UPDATE judgement SET title = COALESCE(item.value->>1, judgement.title),
             language = COALESCE(item.value->>2, judgement.language), sketch = COALESCE(item.value->>3, judgement.sketch)
         FROM {each($1)} JOIN content ON content.id = CAST(item.value->>0 AS BIGINT)
         WHERE judgement.sha1 = content.sha1";
    transaction.execute(sql, [batch(&rows)]).await?;
    let sql = "UPDATE content SET title = COALESCE(item.value->>1, content.title),
             language = COALESCE(item.value->>2, content.language)
         FROM {each($1)} WHERE content.id = CAST(item.value->>0 AS BIGINT)
             AND (content.title IS DISTINCT FROM COALESCE(item.value->>1, content.title)
                 OR content.language IS DISTINCT FROM COALESCE(item.value->>2, content.language))
         RETURNING content.id AS id";
    let changed = transaction.rows(sql, [batch(&rows)]).await?;
    let changed = changed.iter().map(|row| row.integer("id"));
    let changed = changed.collect::<Result<Vec<_>, _>>()?;
    if !changed.is_empty() {
        stamp_contents(transaction, &changed).await?;
        outdate(transaction, &changed).await?;
    }
    let sql = "UPDATE content SET searchable = 1
         WHERE searchable = 0 AND id IN (SELECT CAST(item.value->>0 AS BIGINT) FROM {each($1)})";
    transaction.execute(sql, [batch(&rows)]).await?;
    Ok(())
}

/// Puts a text together with those that say nearly the same. Groups that it joins become one.
async fn group(
    transaction: &mut Transaction,
    text: &IndexedText,
    is_near: &(dyn Fn(&str, &str) -> bool + Sync),
) -> Result<(), Error> {
    let sql = "DELETE FROM text_band WHERE content_id = $1";
    transaction.execute(sql, [text.content.into()]).await?;
    let Some(sketch) = text.sketch.as_deref() else {
        return Ok(());
    };
    let bands: Vec<_> = text.bands.iter().map(|band| (band,)).collect();
    let sql = format!(
        "SELECT content.id, content.near, judgement.sketch FROM content
         JOIN judgement ON judgement.sha1 = content.sha1
         WHERE content.id IN (SELECT content_id FROM text_band WHERE band {{integers($1)}} LIMIT {MOST_COMPARED})"
    );
    let mut near = HashMap::new();
    for row in transaction.rows(&sql, [batch(&bands)]).await? {
        let other = row.maybe_text("sketch")?;
        if other.is_some_and(|other| is_near(sketch, &other)) {
            near.insert(row.integer("id")?, row.maybe_integer("near")?);
        }
    }
    if !near.is_empty() {
        let groups: BTreeSet<_> = near.values().copied().flatten().collect();
        let least = groups.iter().chain(near.keys()).min().copied();
        let least = least.unwrap_or(text.content).min(text.content);
        let members: Vec<_> = near.keys().chain([&text.content]).map(|id| (id,)).collect();
        let sql = "UPDATE content SET near = $1 WHERE id {integers($2)}";
        transaction
            .execute(sql, [least.into(), batch(&members)])
            .await?;
        let others: Vec<_> = groups
            .iter()
            .filter(|id| **id != least)
            .map(|id| (id,))
            .collect();
        if !others.is_empty() {
            let sql = "UPDATE content SET near = $1 WHERE near {integers($2)}";
            transaction
                .execute(sql, [least.into(), batch(&others)])
                .await?;
        }
    }
    let sql = "INSERT INTO text_band (band, content_id)
         SELECT CAST(item.value->>0 AS BIGINT), $1 FROM {each($2)} WHERE true ON CONFLICT DO NOTHING";
    transaction
        .execute(sql, [text.content.into(), batch(&bands)])
        .await?;
    Ok(())
}

/// The words of a title and of a text as PostgreSQL writes a `tsvector`, those of the title with more weight.
fn weighted(title: &[String], said: &[String]) -> String {
    let mut all = title.to_vec();
    // A phrase does not go from the title into the text.
    let gap = title.len() + 2;
    all.truncate(GREATEST_PLACE - 2);
    let mut vector = String::new();
    for (word, places) in places(&all, 1).into_iter() {
        let places: Vec<_> = places.iter().map(|place| format!("{place}A")).collect();
        vector.push_str(&format!(" '{word}':{}", places.join(",")));
    }
    for (word, places) in places(said, gap) {
        let places: Vec<_> = places
            .iter()
            .take(MOST_PLACES)
            .map(usize::to_string)
            .collect();
        vector.push_str(&format!(" '{word}':{}", places.join(",")));
    }
    vector
}

fn places(words: &[String], first: usize) -> HashMap<&str, Vec<usize>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, word) in (first..=GREATEST_PLACE).zip(words) {
        places.entry(word).or_default().push(place);
    }
    places
}

/// Keeps as many words as PostgreSQL takes for one text. SQLite gets the same, so that both find the same.
fn bound(words: &mut Vec<String>) {
    let mut bytes = 0;
    let end = words.iter().position(|word| {
        bytes += word.len() + 8;
        bytes > MOST_BYTES / 2
    });
    words.truncate(end.unwrap_or(words.len()));
}

async fn reword<T: Serialize>(transaction: &mut Transaction, rows: &[T]) -> Result<(), Error> {
    if !rows.is_empty() {
        transaction
            .execute("{reword_documents($1)}", [batch(rows)])
            .await?;
    }
    Ok(())
}

/// How many bytes of words a statement takes at most, unless a single text has more.
const MOST_BYTES: usize = 1 << 20;
/// How long a text that could not be read waits to be tried again.
const TRY_AGAIN_SECONDS: i64 = 600;
/// How many texts one is compared with at most. A text of which there are more is in one group with them all the same.
const MOST_COMPARED: usize = 200;
/// PostgreSQL does not tell places behind this one apart, and keeps so many of one word.
const GREATEST_PLACE: usize = 16_383;
const MOST_PLACES: usize = 255;
