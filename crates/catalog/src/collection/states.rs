//! Whether a search engine has taken a document in. It says so itself; a new content begins anew.

use serde::{Deserialize, Serialize};

use super::outdated::outdate;
use crate::changes::stamp_documents;
use crate::database::rows::{BATCH, batch};
use crate::imports::{changed, lock_collection};
use crate::{Catalog, Error};

/// The state of a document in the search engine that ingests it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentState {
    /// Nobody has said anything of it.
    #[default]
    NotIngested,
    /// It was taken in.
    Ingested,
    /// It could not be taken in.
    Failed,
    /// It is not to be taken in: the content filter was not sure of it, or a librarian does not want it.
    SetAside,
}

impl Catalog {
    /// Says what became of documents, and tells how many of them there are. What is set aside stays so, whatever is said
    /// of it here: see [`Catalog::count_aside`].
    pub async fn set_state(&self, documents: &[i64], state: DocumentState) -> Result<u64, Error> {
        if state == DocumentState::SetAside {
            return Ok(0);
        }
        let mut transaction = self.database.write().await?;
        // Imports write the same rows, in an order of their own.
        lock_collection(&mut transaction).await?;
        let mut known = 0;
        for part in documents.chunks(BATCH) {
            let ids: Vec<_> = part.iter().map(|id| (id,)).collect();
            let sql = "UPDATE document SET state = $2 WHERE id {integers($1)} RETURNING content_id";
            let values = [batch(&ids), state.number().into()];
            let rows = transaction.rows(sql, values).await?;
            known += rows.len() as u64;
            let contents = rows.iter().map(|row| row.integer("content_id"));
            outdate(&mut transaction, &contents.collect::<Result<Vec<_>, _>>()?).await?;
            // That a search engine took a document in is no news for it; that it is to do so again is.
            if state == DocumentState::NotIngested {
                stamp_documents(&mut transaction, part).await?;
            }
        }
        changed(&mut transaction).await?;
        transaction.commit().await?;
        Ok(known)
    }
}

impl Catalog {
    /// How many of these documents are set aside, whatever else was said of them.
    pub async fn count_aside(&self, documents: &[i64]) -> Result<u64, Error> {
        let mut transaction = self.database.read().await?;
        let mut aside = 0;
        for part in documents.chunks(BATCH) {
            let ids: Vec<_> = part.iter().map(|id| (id,)).collect();
            let sql = "SELECT count(*) AS number FROM document JOIN content ON content.id = document.content_id
                 WHERE document.id {integers($1)} AND document.id > 0 AND content.aside = 1";
            let row = transaction.row(sql, [batch(&ids)]).await?;
            aside += row.map_or(Ok(0), |row| row.count("number"))?;
        }
        Ok(aside)
    }
}

impl DocumentState {
    /// All there are.
    pub const ALL: [Self; 4] = [
        Self::NotIngested,
        Self::Ingested,
        Self::Failed,
        Self::SetAside,
    ];

    /// Those that a search engine may say a document is in.
    pub const SAID: [Self; 3] = [Self::NotIngested, Self::Ingested, Self::Failed];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotIngested => "not_ingested",
            Self::Ingested => "ingested",
            Self::Failed => "failed",
            Self::SetAside => "set_aside",
        }
    }

    /// Parses the word.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// As it stands in the catalog.
    pub(super) fn number(self) -> i64 {
        match self {
            Self::NotIngested => 0,
            Self::Ingested => 1,
            Self::Failed => 2,
            // Never written: it follows from the judgement of the content.
            Self::SetAside => 3,
        }
    }

    pub(crate) fn of(number: i64) -> Self {
        let found = Self::SAID
            .into_iter()
            .find(|state| state.number() == number);
        found.unwrap_or_default()
    }
}
