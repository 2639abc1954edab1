//! The last harvests of repositories, for a small picture of each.

use crate::database::rows::batch;
use crate::{Catalog, Error, State};

/// One of the last harvests of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentHarvest {
    /// The number of its repository.
    pub repository: i64,
    /// The number of its history entry.
    pub id: i64,
    /// How it stands.
    pub state: State,
    /// When it began, in seconds.
    pub started: i64,
    /// Records that were new, updated or deleted.
    pub changes: u64,
}

impl Catalog {
    /// The last `each` harvests of repositories, for each of them the oldest first.
    pub async fn recent_harvests(
        &self,
        repositories: &[i64],
        each: u64,
    ) -> Result<Vec<RecentHarvest>, Error> {
        let ids: Vec<_> = repositories.iter().map(|id| (*id,)).collect();
        let sql = "SELECT repository_id, id, state, started, new_records + updated + deleted AS changes FROM
             (SELECT history.*, row_number() OVER (PARTITION BY repository_id ORDER BY id DESC) AS place
              FROM history WHERE repository_id {integers($1)}) AS recent
             WHERE place <= $2 ORDER BY repository_id, id";
        let each = i64::try_from(each).unwrap_or(i64::MAX);
        let mut transaction = self.database.list().await?;
        let rows = transaction.rows(sql, [batch(&ids), each.into()]).await?;
        let harvest = |row: &crate::database::Row| {
            Ok(RecentHarvest {
                repository: row.integer("repository_id")?,
                id: row.integer("id")?,
                state: State::parse(&row.text("state")?),
                started: row.integer("started")?,
                changes: row.count("changes")?,
            })
        };
        rows.iter().map(harvest).collect()
    }
}
