//! How many records of a repository are held in a format: what a page changes of it.

use crate::database::Transaction;
use crate::records::search::HELD_SECONDS;
use crate::{Error, Run};

/// The change that a page makes to the counts of held and deleted records.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Holding {
    records: i64,
    deleted: i64,
    /// Whether there is anything that was not as it is.
    changed: bool,
}

impl Holding {
    /// Notes that a record was deleted or not, and is so or not; `None` if there is none.
    pub(crate) fn change(&mut self, before: Option<bool>, now: Option<bool>) {
        self.add(before, -1);
        self.add(now, 1);
        self.changed |= now.is_some();
    }

    /// Writes what was noted, and that there are words to be read.
    pub(crate) async fn write(self, transaction: &mut Transaction, run: &Run) -> Result<(), Error> {
        if self.records != 0 || self.deleted != 0 {
            let sql = "INSERT INTO holding (repository_id, metadata_prefix, records, deleted) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (repository_id, metadata_prefix) DO UPDATE SET
                     records = holding.records + excluded.records, deleted = holding.deleted + excluded.deleted";
            let values = [
                run.repository.into(),
                run.metadata_prefix.as_str().into(),
                self.records.into(),
                self.deleted.into(),
            ];
            transaction.execute(sql, values).await?;
        }
        if self.changed {
            let sql = "INSERT INTO unindexed (harvest_id, pages, held_until)
                 VALUES ($1, 1, CASE WHEN $2 = 0 THEN 0 ELSE {now} + $2 END)
                 ON CONFLICT (harvest_id) DO UPDATE SET pages = unindexed.pages + 1, held_until = excluded.held_until";
            let held = match run.lease.job {
                Some(_) => HELD_SECONDS,
                None => 0,
            };
            transaction
                .execute(sql, [run.id().into(), held.into()])
                .await?;
        }
        Ok(())
    }

    fn add(&mut self, deleted: Option<bool>, number: i64) {
        match deleted {
            Some(true) => self.deleted += number,
            Some(false) => self.records += number,
            None => {}
        }
    }
}
