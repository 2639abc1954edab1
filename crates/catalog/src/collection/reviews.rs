//! Documents that wait for a person: the content filter rejected them, or was not sure.

use serde::Serialize;

use super::judgements::{self, repeat};
use super::outdated::outdate;
use crate::database::bounded::clean;
use crate::database::conditions::{Conditions, containing};
use crate::database::rows::{BATCH, batch};
use crate::database::{Row, Transaction};
use crate::imports::{changed, lock_collection};
use crate::{Catalog, Correction, Error, Judgement, Superfluous};

/// A document that was rejected and is to be kept for review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReview {
    /// The SHA-1 of its bytes, in hexadecimal.
    pub sha1: String,
    /// Its URL.
    pub url: String,
    /// The host of the URL.
    pub host: String,
    /// Its media type.
    pub media_type: String,
    /// How the name of its file ends, without a dot.
    pub extension: String,
    /// How many bytes it has.
    pub size: u64,
    /// The data with which an import keeps it, as JSON.
    pub capture: String,
}

/// A document that waits for review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewEntry {
    /// Its number in the queue, under which its bytes lie in the review store if it was rejected.
    pub id: i64,
    /// The SHA-1 of its bytes, in hexadecimal.
    pub sha1: String,
    /// Its URL.
    pub url: String,
    /// The host of the URL.
    pub host: String,
    /// Its media type.
    pub media_type: String,
    /// How the name of its file ends, without a dot.
    pub extension: String,
    /// How many bytes it has.
    pub size: u64,
    /// The data with which an import keeps it; `None` if it is in the collection.
    pub capture: Option<String>,
    /// When it came into the queue, in seconds.
    pub added: i64,
    /// A document of the collection with these bytes.
    pub document: Option<i64>,
    /// Its content in the collection.
    pub content: Option<i64>,
    /// The judgement of its text.
    pub judgement: Option<Judgement>,
}

/// Which documents of the queue are wanted.
#[derive(Debug, Clone, Default)]
pub struct ReviewQuery {
    /// Those of one host.
    pub host: Option<String>,
    /// Those decided on so: `reject` or `unsure`.
    pub decision: Option<String>,
    /// Those of one kind.
    pub kind: Option<String>,
    /// Those at least so likely academic, in millionths.
    pub at_least: Option<i64>,
    /// Those at most so likely academic, in millionths.
    pub at_most: Option<i64>,
    /// Those with this in their URL or title.
    pub text: Option<String>,
    /// Whether those come first of which a correction would teach most; else they come in the order of their numbers.
    pub uncertain: bool,
    /// Those with a greater number; where uncertain ones come first, those behind the first `after`.
    pub after: i64,
    /// How many at most.
    pub limit: u64,
}

impl Catalog {
    /// Gives numbers to documents that are to be kept for review, under which their bytes are to be stored before
    /// [`Catalog::reviews_stored`] puts them into the queue. `None` for those that are in it, or were corrected.
    pub async fn reserve_reviews(&self, new: &[NewReview]) -> Result<Vec<Option<i64>>, Error> {
        let mut numbers = Vec::with_capacity(new.len());
        let mut transaction = self.database.write().await?;
        for review in new {
            let sql = "INSERT INTO review (sha1, url, host, media_type, extension, size, capture, stored, added)
                 SELECT $1, $2, $3, $4, $5, $6, $7, 0, {now}
                 WHERE NOT EXISTS (SELECT 1 FROM judgement WHERE sha1 = $1 AND corrected_at IS NOT NULL)
                     AND NOT EXISTS (SELECT 1 FROM content WHERE sha1 = $1)
                 ON CONFLICT (sha1) DO UPDATE SET added = excluded.added, capture = excluded.capture,
                     extension = excluded.extension, stored = 0 WHERE review.stored <> 1
                 RETURNING id";
            let values = [
                review.sha1.as_str().into(),
                clean(&review.url).as_ref().into(),
                clean(&review.host).as_ref().into(),
                review.media_type.as_str().into(),
                review.extension.as_str().into(),
                review.size.into(),
                clean(&review.capture).as_ref().into(),
            ];
            let row = transaction.row(sql, values).await?;
            numbers.push(row.map(|row| row.integer("id")).transpose()?);
        }
        transaction.commit().await?;
        Ok(numbers)
    }

    /// Puts documents into the queue whose bytes are stored.
    pub async fn reviews_stored(&self, ids: &[i64]) -> Result<(), Error> {
        let sql = "UPDATE review SET stored = 1 WHERE id {integers($1)}";
        self.change_reviews(sql, ids).await
    }

    /// Takes documents out of the queue; their bytes are removed later, see [`Catalog::reviews_to_remove`].
    pub async fn end_reviews(&self, ids: &[i64]) -> Result<(), Error> {
        self.change_reviews("UPDATE review SET stored = 2 WHERE id {integers($1)}", ids)
            .await
    }

    /// Forgets documents whose bytes are removed.
    pub async fn forget_reviews(&self, ids: &[i64]) -> Result<(), Error> {
        self.change_reviews("DELETE FROM review WHERE id {integers($1)}", ids)
            .await
    }

    async fn change_reviews(&self, sql: &str, ids: &[i64]) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        for part in ids.chunks(BATCH) {
            let keys: Vec<_> = part.iter().map(|id| (id,)).collect();
            transaction.execute(sql, [batch(&keys)]).await?;
        }
        transaction.commit().await
    }

    /// Documents of the queue, in the order of their numbers or, if `uncertain`, of what their correction would teach.
    pub async fn reviews(&self, query: &ReviewQuery) -> Result<Vec<ReviewEntry>, Error> {
        let mut conditions = Conditions::default();
        conditions.always("review.stored = 1");
        conditions.only(
            "review.id > $n",
            Some(query.after).filter(|_| !query.uncertain),
        );
        conditions.only("review.host = $n", query.host.as_deref());
        conditions.only("judgement.decision = $n", query.decision.as_deref());
        conditions.only("judgement.kind = $n", query.kind.as_deref());
        conditions.only("judgement.probability >= $n", query.at_least);
        conditions.only("judgement.probability <= $n", query.at_most);
        conditions.only(
            "(lower(review.url) LIKE $n ESCAPE '!' OR lower(COALESCE(judgement.title, '')) LIKE $n ESCAPE '!')",
            query.text.as_deref().map(containing),
        );
        let (sql, values) = match query.uncertain {
            false => conditions.some(&select(), "ORDER BY review.id", query.limit),
            true => {
                let limit = query.limit.min(i64::MAX.unsigned_abs());
                let order = uncertain_first();
                conditions.all(
                    &select(),
                    &format!("{order} LIMIT {limit} OFFSET {}", query.after.max(0)),
                )
            }
        };
        let rows = self.database.long_list().await?.rows(&sql, values).await?;
        rows.iter().map(entry).collect()
    }

    /// A document of the queue.
    pub async fn review(&self, id: i64) -> Result<Option<ReviewEntry>, Error> {
        let sql = format!("{} WHERE review.id = $1 AND review.stored = 1", select());
        let row = self.database.read().await?.row(&sql, [id.into()]).await?;
        row.as_ref().map(entry).transpose()
    }

    /// How many documents are in the queue, counted up to `most`.
    pub async fn count_reviews(&self, most: u64) -> Result<u64, Error> {
        let sql = "SELECT count(*) AS number FROM (SELECT 1 AS one FROM review WHERE stored = 1 LIMIT $1) AS waiting";
        let row = self.database.read().await?.row(sql, [most.into()]).await?;
        row.map_or(Ok(0), |row| row.count("number"))
    }

    /// Documents whose bytes in the review store nobody needs any more: those that were decided on, and those that wait
    /// for longer than `seconds`, or lie under the newest `bytes`.
    pub async fn reviews_to_remove(
        &self,
        seconds: i64,
        bytes: u64,
    ) -> Result<Vec<Superfluous>, Error> {
        let sql = "SELECT id, extension FROM (
                 SELECT id, extension, stored, added, capture, sum(size) OVER (ORDER BY id DESC) AS above
                 FROM review WHERE capture IS NOT NULL) AS waiting
             WHERE stored = 2 OR added < {now} - $1 OR above > $2
             UNION ALL SELECT id, extension FROM review WHERE capture IS NULL AND stored = 2
             ORDER BY id LIMIT 1000";
        let values = [seconds.into(), bytes.into()];
        let rows = self.database.read().await?.rows(sql, values).await?;
        let superfluous = |row: &Row| {
            Ok(Superfluous {
                number: row.integer("id")?,
                extension: row.text("extension")?,
            })
        };
        rows.iter().map(superfluous).collect()
    }

    /// Writes down what a librarian says of bytes, whether they are in the collection or not.
    pub async fn correct_bytes(&self, sha1: &str, correction: &Correction) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        lock_collection(&mut transaction).await?;
        let sql = "UPDATE judgement SET aside = $2, corrected_decision = $3,
                 corrected_kind = COALESCE($4, corrected_kind), corrected_at = {now}, corrected_by = $5
             WHERE sha1 = $1";
        let decision = if correction.is_wanted {
            "accept"
        } else {
            "reject"
        };
        let by = correction.by.as_deref().map(clean);
        let values = [
            sha1.into(),
            (!correction.is_wanted).into(),
            decision.into(),
            correction.kind.as_deref().into(),
            by.as_deref().into(),
        ];
        transaction.execute(sql, values).await?;
        repeat(&mut transaction, &[sha1]).await?;
        let sql = "SELECT id FROM content WHERE sha1 = $1";
        let content = transaction.row(sql, [sha1.into()]).await?;
        if let Some(content) = content {
            outdate(&mut transaction, &[content.integer("id")?]).await?;
        }
        changed(&mut transaction).await?;
        transaction.commit().await
    }
}

/// Keeps the queue in step with the judgements of contents of the collection: those that nobody is sure of come in, those
/// that were decided on go. One that is accepted stays until its bytes are in the collection.
pub(crate) async fn follow<T: Serialize>(
    transaction: &mut Transaction,
    sha1s: &[T],
) -> Result<(), Error> {
    let sql = "INSERT INTO review (sha1, url, host, media_type, extension, size, stored, added)
         SELECT content.sha1, judgement.url,
             COALESCE((SELECT min(document.host) FROM document WHERE document.content_id = content.id), ''),
             content.media_type, content.extension, content.size, 1, {now}
         FROM content JOIN judgement ON judgement.sha1 = content.sha1
         WHERE content.sha1 {texts($1)} AND judgement.decision = 'unsure' AND judgement.corrected_at IS NULL
         ON CONFLICT (sha1) DO NOTHING";
    transaction.execute(sql, [batch(sha1s)]).await?;
    let sql = "UPDATE review SET stored = 2
         WHERE sha1 {texts($1)} AND stored = 1 AND EXISTS (SELECT 1 FROM judgement
             JOIN content ON content.sha1 = judgement.sha1 WHERE judgement.sha1 = review.sha1
                 AND (judgement.corrected_at IS NOT NULL OR judgement.decision <> 'unsure'))";
    transaction.execute(sql, [batch(sha1s)]).await?;
    Ok(())
}

/// The order of what a correction would teach. A model learns most from what it is least sure of. The second document of
/// a host teaches less than the first, since documents of one host resemble each other.
fn uncertain_first() -> String {
    let doubt = "COALESCE(ABS(judgement.probability - 500000), 500000)";
    format!(
        "ORDER BY {doubt} + {LIKE_ANOTHER}
             * (row_number() OVER (PARTITION BY review.host ORDER BY {doubt}, review.id) - 1), review.id"
    )
}

/// How much surer, in millionths, each further document of a host counts.
const LIKE_ANOTHER: i64 = 50_000;

fn select() -> String {
    format!(
        "SELECT review.id, review.sha1, review.url, review.host, review.media_type, review.extension, review.size,
             review.capture, review.added, content.id AS content_id,
             (SELECT min(document.id) FROM document WHERE document.content_id = content.id) AS document_id, {}
         FROM review LEFT JOIN content ON content.sha1 = review.sha1
         LEFT JOIN judgement ON judgement.sha1 = review.sha1",
        judgements::COLUMNS
    )
}

fn entry(row: &Row) -> Result<ReviewEntry, Error> {
    Ok(ReviewEntry {
        id: row.integer("id")?,
        sha1: row.text("sha1")?,
        url: row.text("url")?,
        host: row.text("host")?,
        media_type: row.text("media_type")?,
        extension: row.text("extension")?,
        size: row.count("size")?,
        capture: row.maybe_text("capture")?,
        added: row.integer("added")?,
        document: row.maybe_integer("document_id")?,
        content: row.maybe_integer("content_id")?,
        judgement: judgements::maybe(row)?,
    })
}
