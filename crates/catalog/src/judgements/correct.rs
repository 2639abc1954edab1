//! What librarians say of documents. It outweighs what a classifier says, now and whenever the same bytes are met again.

use super::repeat;
use crate::bounded::clean;
use crate::imports::{changed, lock_collection};
use crate::{Catalog, Error, Judgement};

/// What a librarian says of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// Whether it is wanted.
    pub is_wanted: bool,
    /// Which kind it is, if that is said.
    pub kind: Option<String>,
    /// Who says so.
    pub by: Option<String>,
}

impl Catalog {
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
        let sql = "SELECT content.sha1, document.url FROM document JOIN content ON content.id = document.content_id
             WHERE document.id = $1 AND document.id > 0";
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
        changed(&mut transaction).await?;
        transaction.commit().await?;
        let known = self.known_content(&sha1).await?;
        Ok(known.map(|known| known.judgement))
    }
}
