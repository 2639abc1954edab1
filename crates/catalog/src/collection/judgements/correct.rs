//! Corrections by librarians. They outweigh the classifier, now and whenever the same bytes are met again.

use super::repeat;
use crate::collection::outdate;
use crate::database::bounded::clean;
use crate::imports::{changed, lock_collection};
use crate::{Catalog, Corrected, Error, Judgement};

/// A librarian's correction of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// Whether it is wanted.
    pub is_wanted: bool,
    /// Which kind it is, if that is said.
    pub kind: Option<String>,
    /// The account that says so.
    pub by: Option<String>,
}

impl Catalog {
    /// Writes down what a librarian once said of a content, unless something later is known. For those who make a catalog
    /// again from what lies beside the documents.
    pub async fn restore_correction(&self, sha1: &str, corrected: &Corrected) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        lock_collection(&mut transaction).await?;
        let sql = "UPDATE judgement SET aside = $2, corrected_decision = $3, corrected_kind = $4, corrected_at = $5,
                 corrected_by = $6
             WHERE sha1 = $1 AND (corrected_at IS NULL OR corrected_at < $5)";
        let by = corrected.by.as_deref().map(clean);
        let values = [
            sha1.into(),
            (corrected.decision == "reject").into(),
            corrected.decision.as_str().into(),
            corrected.kind.as_deref().into(),
            corrected.at.into(),
            by.as_deref().into(),
        ];
        transaction.execute(sql, values).await?;
        repeat(&mut transaction, &[sha1]).await?;
        changed(&mut transaction).await?;
        transaction.commit().await
    }

    /// Writes down what a librarian says of a document, by its number; `None` if there is no such document.
    ///
    /// It holds for all documents with the same content. What is not wanted is set aside, and what is wanted is not.
    pub async fn correct(
        &self,
        document: i64,
        correction: &Correction,
    ) -> Result<Option<Judgement>, Error> {
        let mut transaction = self.database.write().await?;
        lock_collection(&mut transaction).await?;
        let sql = "SELECT content.sha1, document.content_id, document.url FROM document JOIN content ON content.id = document.content_id
             WHERE document.id = $1";
        let Some(row) = transaction.row(sql, [document.into()]).await? else {
            return Ok(None);
        };
        let (sha1, url) = (row.text("sha1")?, row.text("url")?);
        let sql = "INSERT INTO judgement (sha1, url, outcome, aside, corrected_decision, corrected_kind, corrected_at,
                 corrected_by)
             VALUES ($1, $2, 'unread', $3, $4, $5, {now}, $6)
             ON CONFLICT (sha1) DO UPDATE SET aside = excluded.aside,
                 corrected_decision = excluded.corrected_decision,
                 corrected_kind = COALESCE(excluded.corrected_kind, judgement.corrected_kind),
                 corrected_at = excluded.corrected_at, corrected_by = excluded.corrected_by";
        let decision = match correction.is_wanted {
            true => "accept",
            false => "reject",
        };
        let by = correction.by.as_deref().map(clean);
        let values = [
            sha1.as_str().into(),
            url.into(),
            (!correction.is_wanted).into(),
            decision.into(),
            correction.kind.as_deref().into(),
            by.as_deref().into(),
        ];
        transaction.execute(sql, values).await?;
        repeat(&mut transaction, &[&sha1]).await?;
        let content = row.integer("content_id")?;
        outdate(&mut transaction, &[content]).await?;
        changed(&mut transaction).await?;
        transaction.commit().await?;
        let known = self.known_content(&sha1).await?;
        Ok(known.map(|known| known.judgement))
    }
}
