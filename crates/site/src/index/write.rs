//! Writing: what was seen of the site becomes visible, with the right datestamps, in one step.

use std::ops::AddAssign;
use std::sync::atomic::Ordering;

use rusqlite::{Connection, TransactionBehavior, params};

use super::batch::Batch;
use super::row::{Row, State};
use super::{Index, locked};
use crate::follow::horizon::Horizon;
use crate::index::findings::Finding;
use crate::{Error, Facts, SitePath};

/// Something that was seen of a path.
#[derive(Debug)]
pub(crate) struct Observation {
    /// Where.
    pub(crate) path: SitePath,
    /// What.
    pub(crate) seen: Seen,
}

/// A sighting.
#[derive(Debug)]
pub(crate) enum Seen {
    /// A file that is offered.
    File {
        /// Its facts in the file system.
        facts: Facts,
        /// Its media type.
        media_type: String,
        /// Whether that is only what its name says, and an origin has the last word: an item that is known keeps
        /// the type it has.
        by_name: bool,
        /// Whether a server would run it.
        dynamic: bool,
    },
    /// No file that is offered.
    Nothing,
}

/// How much was changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Applied {
    /// Items that are new or there again.
    pub(crate) created: u64,
    /// Items that changed.
    pub(crate) changed: u64,
    /// Items that are gone.
    pub(crate) deleted: u64,
}

impl Index {
    /// Makes observations visible, all at once.
    ///
    /// No answer can be given between the choice of the datestamps and the moment they are visible: that
    /// is what keeps updates from being missed.
    pub(crate) fn apply(&self, observations: &[Observation]) -> Result<Applied, Error> {
        self.write(|batch| {
            observations
                .iter()
                .try_for_each(|observation| batch.observe(observation))
        })
    }

    /// Stamps every live item within a path as changed now: something outside of the files has changed
    /// what their records say or who may see them.
    pub(crate) fn touch(&self, within: &SitePath) -> Result<(), Error> {
        self.for_each_within(within, |batch, row| match row.state {
            State::Live => batch.touch(row),
            _ => Ok(()),
        })
    }

    /// Stamps live programs as changed now: who is given their source has changed.
    pub(crate) fn touch_programs(&self) -> Result<(), Error> {
        self.for_each_within(&SitePath::root(), |batch, row| {
            match row.dynamic && row.state == State::Live {
                true => batch.touch(row),
                false => Ok(()),
            }
        })
    }

    /// Stamps those live items within a path as changed now that are not known to be shown to all: who may see them
    /// has changed, or may have.
    pub(crate) fn touch_unshown(&self, within: &SitePath) -> Result<(), Error> {
        self.for_each_within(within, |batch, row| match (row.state, row.shown) {
            (State::Live, Some(false) | None) => batch.touch(row),
            _ => Ok(()),
        })
    }

    /// Takes note that somebody was given another version of a file than the index knows. Should the old one come
    /// back, with the same mark, the next look still finds a change.
    pub(crate) fn note_other_version(&self, item: i64, mark: i64) -> Result<(), Error> {
        let sql = "UPDATE item SET mark = ~mark WHERE id = ?1 AND mark = ?2";
        self.note(&[(item, mark)], |connection, (item, mark)| {
            connection
                .prepare_cached(sql)?
                .execute([item, mark])
                .map(drop)
        })
    }

    /// Marks programs that were public as withdrawn for all who may not see them any longer.
    pub(crate) fn withdraw_programs(
        &self,
        was_public: impl Fn(&SitePath) -> bool,
    ) -> Result<(), Error> {
        self.for_each_within(&SitePath::root(), |batch, row| {
            match row.dynamic && row.state == State::Live && was_public(&row.path) {
                true => batch.withdraw(row),
                false => Ok(()),
            }
        })
    }

    /// Marks items within a path, those that were public, as withdrawn for all who may not see them any longer.
    pub(crate) fn withdraw(
        &self,
        within: &SitePath,
        was_public: impl Fn(&SitePath) -> bool,
    ) -> Result<(), Error> {
        self.for_each_within(within, |batch, row| match was_public(&row.path) {
            true => batch.withdraw(row),
            false => Ok(()),
        })
    }

    /// Remembers for the first time whether items are shown to those without credentials.
    pub(crate) fn note_shown(&self, shown: &[(i64, bool)]) -> Result<(), Error> {
        if self.is_superseded() {
            return Ok(());
        }
        let sql = "UPDATE item SET shown = ?2 WHERE id = ?1 AND shown IS NULL";
        self.note(shown, |connection, (id, shown)| {
            connection
                .prepare_cached(sql)?
                .execute(params![id, shown])?;
            forget_who_saw(connection, *id, *shown)
        })
    }

    /// Remembers that somebody was given items that are not known to be shown to all.
    pub(crate) fn note_seen(&self, items: &[i64], who: i64) -> Result<(), Error> {
        let sql = "INSERT OR IGNORE INTO seen_by (item, who) VALUES (?1, ?2)";
        self.note(items, |connection, id| {
            connection
                .prepare_cached(sql)?
                .execute([*id, who])
                .map(drop)
        })
    }

    /// Remembers that a requester went without items because the origin did not serve them just then.
    pub(crate) fn note_missed(&self, items: &[i64]) -> Result<(), Error> {
        let sql = "UPDATE item SET missed = 1 WHERE id = ?1";
        self.note(items, |connection, id| {
            connection.prepare_cached(sql)?.execute([id]).map(drop)
        })
    }

    /// Stamps items anew that were missed and are served again.
    pub(crate) fn restamp_missed(&self, paths: &[SitePath]) -> Result<(), Error> {
        if paths.is_empty() {
            return Ok(());
        }
        self.write(|batch| {
            for path in paths {
                if let Some(row) = batch.row(path)?.filter(|row| row.missed) {
                    batch.touch(&row)?;
                    let sql = "UPDATE item SET missed = 0 WHERE id = ?1";
                    batch.connection.execute(sql, [row.id])?;
                }
            }
            Ok(())
        })
        .map(drop)
    }

    /// Writes notes in one transaction that leaves datestamps alone. What was given to whom is noted by a process
    /// with an older configuration too: it is true in any case.
    fn note<T>(
        &self,
        notes: &[T],
        mut write: impl FnMut(&Connection, &T) -> rusqlite::Result<()>,
    ) -> Result<(), Error> {
        if notes.is_empty() {
            return Ok(());
        }
        let mut connection = locked(&self.notes);
        let mut run = || {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            notes
                .iter()
                .try_for_each(|note| write(&transaction, note))?;
            transaction.commit()
        };
        run().map_err(|source| self.error(source))
    }

    /// Takes note that items are shown to those without credentials from now on, or no longer.
    pub(crate) fn turn_shown(&self, turned: &[(SitePath, bool)]) -> Result<(), Error> {
        if turned.is_empty() {
            return Ok(());
        }
        self.write(|batch| {
            for (path, shown) in turned {
                let Some(row) = batch.row(path)?.filter(|row| row.state == State::Live) else {
                    continue;
                };
                if !shown {
                    batch.withdraw(&row)?;
                }
                batch.touch(&row)?;
                let sql = "UPDATE item SET shown = ?2 WHERE id = ?1";
                batch.connection.execute(sql, params![row.id, shown])?;
                forget_who_saw(batch.connection, row.id, *shown)?;
            }
            Ok(())
        })
        .map(drop)
    }

    /// Takes note that items are of another media type than they were.
    pub(crate) fn retype(&self, retyped: &[(SitePath, String)]) -> Result<(), Error> {
        if retyped.is_empty() {
            return Ok(());
        }
        self.write(|batch| {
            for (path, media_type) in retyped {
                if let Some(row) = batch.row(path)?.filter(|row| row.state == State::Live) {
                    batch.retype(&row, media_type)?;
                }
            }
            Ok(())
        })
        .map(drop)
    }

    /// Keeps what plug-ins said of files in their present state, and their digests.
    pub(crate) fn keep_findings(&self, findings: &[Finding]) -> Result<(), Error> {
        let sql = "INSERT INTO plugin_result (item, plugin, mark, outcome) VALUES (?1, ?2, ?3, ?4)
                   ON CONFLICT (item, plugin) DO UPDATE SET mark = excluded.mark, outcome = excluded.outcome";
        if self.is_superseded() {
            return Ok(());
        }
        self.note(findings, |connection, finding| {
            let mut statement = connection.prepare_cached(sql)?;
            let Finding {
                item,
                key,
                mark,
                outcome,
            } = finding;
            statement.execute(params![item, key, mark, outcome])?;
            Ok(())
        })
    }

    /// Gives plug-ins that failed another chance: their programs may be there by now.
    ///
    /// A failure is told by how [`crate::plugin::PluginOutcome`] is written in JSON.
    pub(crate) fn retry_failed_plugins(&self) -> Result<(), Error> {
        let sql = "UPDATE plugin_result SET outcome = ?1 WHERE outcome LIKE '{\"failed\"%'";
        let mut writer = locked(&self.writer);
        let _held = self.agree_with(&mut writer)?;
        if self.is_superseded() {
            return Ok(());
        }
        let retried = writer.execute(sql, [RETRY]);
        retried.map(drop).map_err(|source| self.error(source))
    }

    /// Works on every row within a path, withdrawn ones aside, in small steps between which answers are given.
    fn for_each_within(
        &self,
        within: &SitePath,
        mut work: impl FnMut(&mut Batch<'_>, &Row) -> rusqlite::Result<()>,
    ) -> Result<(), Error> {
        let mut paths = vec![within.clone()];
        let mut after = None;
        loop {
            self.write(|batch| {
                for path in &paths {
                    if let Some(row) = batch.row(path)? {
                        work(batch, &row)?;
                    }
                }
                Ok(())
            })?;
            if self.is_superseded() {
                return Ok(());
            }
            let rows = self.reader()?.by_path(within, after.as_ref(), STEP)?;
            paths = rows.into_iter().map(|row| row.path).collect();
            match paths.last() {
                Some(last) => after = Some(last.clone()),
                None => return Ok(()),
            }
        }
    }

    /// Runs one transaction. The horizon is held until the change is visible, so that no answer comes between.
    /// Nothing is done if another process has a newer configuration.
    fn write(
        &self,
        work: impl FnOnce(&mut Batch<'_>) -> rusqlite::Result<()>,
    ) -> Result<Applied, Error> {
        let mut writer = locked(&self.writer);
        let mut held = self.agree_with(&mut writer)?;
        if self.is_superseded() {
            return Ok(Applied::default());
        }
        let error = |source| self.error(source);
        let transaction = writer
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(error)?;
        let known = self.media_types();
        let mut batch = Batch::new(
            &transaction,
            Horizon::new(held.agreed.answered),
            (*known).clone(),
            held.agreed.latest,
        );
        work(&mut batch).map_err(error)?;
        batch.settle().map_err(error)?;
        let (applied, latest, media_types) = (batch.applied, batch.latest, batch.media_types);
        let met_types = media_types.len() > known.len();
        // Told before it is true: if this process is killed in between, others look once in vain.
        if latest != held.agreed.latest || met_types {
            held.agreed.latest = latest;
            held.agreed.media_types = held.agreed.media_types.wrapping_add(i64::from(met_types));
            held.keep().map_err(|source| self.data_error(source))?;
        }
        transaction.commit().map_err(error)?;
        self.latest.store(latest, Ordering::Release);
        if met_types {
            self.set_media_types(media_types);
            held.agreement.media_types = held.agreed.media_types;
        }
        Ok(applied)
    }
}

/// Files that are shown to all need not be kept for each requester.
fn forget_who_saw(connection: &Connection, item: i64, shown: bool) -> rusqlite::Result<()> {
    if shown {
        let sql = "DELETE FROM seen_by WHERE item = ?1";
        connection.prepare_cached(sql)?.execute([item])?;
    }
    Ok(())
}

impl AddAssign for Applied {
    fn add_assign(&mut self, other: Self) {
        self.created += other.created;
        self.changed += other.changed;
        self.deleted += other.deleted;
    }
}

/// Stands for the outcome of a plug-in that failed before this start.
pub(crate) const RETRY: &str = "retry";

/// The key of the sets of the webmaster's own that plug-ins ever put an item into; they outlive the item.
pub(crate) const OWN_SETS: &str = "own sets";

/// The mark of a result that is about all versions of a file.
pub(crate) const ANY_MARK: i64 = 0;

/// How many rows are changed in one step.
const STEP: usize = 1000;
