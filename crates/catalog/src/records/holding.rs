//! How many records of a repository are held in a format: what a page changes of it.

use crate::database::Transaction;
use crate::database::rows::BATCH;
use crate::records::keeping::{IN_DATABASE, IN_PACKS, IN_STORE, remove_contents};
use crate::records::search::HELD_SECONDS;
use crate::{Error, Run};

/// The change that a page makes to the counts of held and deleted records.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Holding {
    records: i64,
    deleted: i64,
    /// How many records of packs were replaced or removed.
    replaced: i64,
    /// The names of XML in the catalog that is not wanted any more.
    released: Vec<String>,
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

    /// Notes that a record is not kept any more where it was.
    pub(crate) fn release(&mut self, file: &str) {
        if file.starts_with(IN_DATABASE) {
            self.released.push(file.to_owned());
        } else if file.starts_with(IN_PACKS) || file.starts_with(IN_STORE) {
            self.replaced += 1;
        }
    }

    /// Writes what was noted, and that there are words to be read.
    pub(crate) async fn write(self, transaction: &mut Transaction, run: &Run) -> Result<(), Error> {
        for released in self.released.chunks(BATCH) {
            remove_contents(transaction, released).await?;
        }
        if self.records != 0 || self.deleted != 0 || self.replaced != 0 {
            let sql = "INSERT INTO holding (repository_id, metadata_prefix, records, deleted, replaced)
                 VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (repository_id, metadata_prefix) DO UPDATE SET
                     records = holding.records + excluded.records, deleted = holding.deleted + excluded.deleted,
                     replaced = holding.replaced + excluded.replaced";
            let values = [
                run.repository.into(),
                run.metadata_prefix.as_str().into(),
                self.records.into(),
                self.deleted.into(),
                self.replaced.into(),
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
