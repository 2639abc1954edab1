//! Writing: what was seen of the site becomes visible, with the right datestamps, in one step.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use rusqlite::{Connection, OptionalExtension, params};

use super::read::{ROW, row_from};
use super::{Index, MediaTypeTable, Row, State, locked};
use crate::horizon::Horizon;
use crate::{Error, Facts, SitePath};

/// Stands for the outcome of a plug-in that failed before this start.
pub const RETRY: &str = "retry";

/// How many rows are changed in one step.
const STEP: usize = 1000;

/// Something that was seen of a path.
#[derive(Debug)]
pub struct Observation {
    /// Where.
    pub path: SitePath,
    /// What.
    pub seen: Seen,
}

/// What was seen.
#[derive(Debug)]
pub enum Seen {
    /// A file that is offered.
    File {
        /// What the file system says of it.
        facts: Facts,
        /// Its media type.
        media_type: String,
        /// Whether a server would run it.
        dynamic: bool,
    },
    /// No file that is offered.
    Nothing,
}

/// How much was changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Applied {
    /// Items that are new or there again.
    pub created: u64,
    /// Items that changed.
    pub changed: u64,
    /// Items that are gone.
    pub deleted: u64,
}

impl Index {
    /// Makes observations visible, all at once.
    ///
    /// No answer can be given between the choice of the datestamps and the moment they are visible: that
    /// is what keeps updates from being missed.
    pub fn apply(&self, observations: &[Observation]) -> Result<Applied, Error> {
        self.write(|batch| {
            observations
                .iter()
                .try_for_each(|observation| batch.observe(observation))
        })
    }

    /// Stamps every live item within a path as changed now: something outside of the files has changed
    /// what their records say or who may see them.
    pub fn touch(&self, within: &SitePath) -> Result<(), Error> {
        self.for_each_within(within, |batch, row| match row.state {
            State::Live => batch.touch(row),
            _ => Ok(()),
        })
    }

    /// Marks items within a path, those that were public, as withdrawn for all who may not see them any longer.
    pub fn withdraw(
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
    pub fn note_shown(&self, shown: &[(i64, bool)]) -> Result<(), Error> {
        if shown.is_empty() {
            return Ok(());
        }
        let sql = "UPDATE item SET shown = ?2 WHERE id = ?1 AND shown IS NULL";
        self.write(|batch| {
            let mut statement = batch.connection.prepare_cached(sql)?;
            shown
                .iter()
                .try_for_each(|(id, shown)| statement.execute(params![id, shown]).map(drop))
        })
        .map(drop)
    }

    /// Takes note that items are shown to those without credentials from now on, or no longer.
    pub fn turn_shown(&self, turned: &[(SitePath, bool)]) -> Result<(), Error> {
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
            }
            Ok(())
        })
        .map(drop)
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
            let rows = self.reader()?.by_path(within, after.as_ref(), STEP)?;
            paths = rows.into_iter().map(|row| row.path).collect();
            match paths.last() {
                Some(last) => after = Some(last.clone()),
                None => return Ok(()),
            }
        }
    }

    /// Keeps the outcome of a plug-in for a file in its present state.
    pub fn keep_plugin_result(
        &self,
        item: i64,
        plugin: &str,
        mark: i64,
        outcome: &str,
    ) -> Result<(), Error> {
        let sql = "INSERT INTO plugin_result (item, plugin, mark, outcome) VALUES (?1, ?2, ?3, ?4)
                   ON CONFLICT (item, plugin) DO UPDATE SET mark = excluded.mark, outcome = excluded.outcome";
        let writer = locked(&self.writer);
        let kept = writer
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(params![item, plugin, mark, outcome]));
        kept.map(|_| ()).map_err(|source| self.error(source))
    }

    /// Gives plug-ins that failed another chance: their programs may be there by now.
    pub fn retry_failed_plugins(&self) -> Result<(), Error> {
        let sql = "UPDATE plugin_result SET outcome = ?1 WHERE outcome LIKE '{\"failed\"%'";
        let retried = locked(&self.writer).execute(sql, [RETRY]);
        retried.map(drop).map_err(|source| self.error(source))
    }

    fn write(
        &self,
        work: impl FnOnce(&mut Batch<'_>) -> rusqlite::Result<()>,
    ) -> Result<Applied, Error> {
        let mut writer = locked(&self.writer);
        let horizon = locked(&self.horizon);
        let run = || -> rusqlite::Result<(Applied, i64, MediaTypeTable)> {
            let transaction = writer.transaction()?;
            let mut batch = Batch {
                connection: &transaction,
                horizon: *horizon,
                media_types: (*self.media_types()).clone(),
                live: HashMap::new(),
                latest: self.latest(),
                applied: Applied::default(),
            };
            work(&mut batch)?;
            batch.settle()?;
            let (applied, latest, media_types) = (batch.applied, batch.latest, batch.media_types);
            transaction.commit()?;
            Ok((applied, latest, media_types))
        };
        let (applied, latest, media_types) = run().map_err(|source| self.error(source))?;
        self.latest.store(latest, Ordering::Release);
        *self
            .media_types
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(media_types);
        drop(horizon);
        Ok(applied)
    }
}

/// One transaction in the making.
struct Batch<'a> {
    connection: &'a Connection,
    horizon: Horizon,
    media_types: MediaTypeTable,
    /// By how much the number of live items of a media type changes.
    live: HashMap<i64, i64>,
    latest: i64,
    applied: Applied,
}

impl Batch<'_> {
    fn observe(&mut self, observation: &Observation) -> rusqlite::Result<()> {
        match &observation.seen {
            Seen::Nothing => match self.row(&observation.path)? {
                Some(row) => self.delete(&row),
                None => Ok(()),
            },
            Seen::File {
                facts,
                media_type,
                dynamic,
            } => {
                let media_type = self.media_types.intern(self.connection, media_type)?;
                match self.row(&observation.path)? {
                    None => self.create(&observation.path, facts, media_type, *dynamic),
                    Some(row) => self.update(&row, facts, media_type, *dynamic),
                }
            }
        }
    }

    fn create(
        &mut self,
        path: &SitePath,
        facts: &Facts,
        media_type: i64,
        dynamic: bool,
    ) -> rusqlite::Result<()> {
        let datestamp = self.horizon.of_file(facts.mtime, None);
        self.insert(path, State::Live, datestamp, media_type, facts, dynamic)?;
        *self.live.entry(media_type).or_default() += 1;
        self.applied.created += 1;
        Ok(())
    }

    fn insert(
        &mut self,
        path: &SitePath,
        state: State,
        datestamp: i64,
        media_type: i64,
        facts: &Facts,
        dynamic: bool,
    ) -> rusqlite::Result<()> {
        let datestamp = self.stamp(datestamp);
        let sql =
            "INSERT INTO item (path, datestamp, state, media_type, size, mtime, mark, dynamic)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        self.connection.prepare_cached(sql)?.execute(params![
            path.as_bytes(),
            datestamp,
            state as i64,
            media_type,
            facts.size as i64,
            facts.mtime,
            facts.mark,
            dynamic
        ])?;
        self.join_set(media_type, datestamp, self.connection.last_insert_rowid())
    }

    fn update(
        &mut self,
        row: &Row,
        facts: &Facts,
        media_type: i64,
        dynamic: bool,
    ) -> rusqlite::Result<()> {
        let same = row.mark == facts.mark && row.media_type == media_type && row.dynamic == dynamic;
        if same && row.state == State::Live {
            return Ok(());
        }
        let datestamp = match row.mark == facts.mark {
            true => self.horizon.of_notice(Some(row.datestamp)),
            false => self.horizon.of_file(facts.mtime, Some(row.datestamp)),
        };
        let datestamp = self.stamp(datestamp);
        self.leave_sets(row)?;
        if row.media_type != media_type {
            let sql = "UPDATE item SET former_types = coalesce(former_types || ',', '') || ?2 WHERE id = ?1";
            self.connection
                .prepare_cached(sql)?
                .execute([row.id, row.media_type])?;
        }
        let sql = "UPDATE item SET datestamp = ?2, state = 0, media_type = ?3, size = ?4, mtime = ?5, mark = ?6,
                   dynamic = ?7 WHERE id = ?1";
        self.connection.prepare_cached(sql)?.execute(params![
            row.id,
            datestamp,
            media_type,
            facts.size as i64,
            facts.mtime,
            facts.mark,
            dynamic
        ])?;
        self.join_set(media_type, datestamp, row.id)?;
        *self.live.entry(media_type).or_default() += 1;
        match row.state {
            State::Live => {
                *self.live.entry(row.media_type).or_default() -= 1;
                self.applied.changed += 1;
            }
            _ => self.applied.created += 1,
        }
        Ok(())
    }

    fn delete(&mut self, row: &Row) -> rusqlite::Result<()> {
        if row.state != State::Live {
            return Ok(());
        }
        let datestamp = self.horizon.of_notice(Some(row.datestamp));
        let datestamp = self.stamp(datestamp);
        self.leave_sets(row)?;
        let sql = "UPDATE item SET datestamp = ?2, state = 1, mark = 0 WHERE id = ?1";
        self.connection
            .prepare_cached(sql)?
            .execute([row.id, datestamp])?;
        self.connection
            .prepare_cached("DELETE FROM plugin_result WHERE item = ?1")?
            .execute([row.id])?;
        self.join_set(row.media_type, datestamp, row.id)?;
        for former in self.former_types(row.id)? {
            self.join_set(former, datestamp, row.id)?;
        }
        *self.live.entry(row.media_type).or_default() -= 1;
        self.applied.deleted += 1;
        Ok(())
    }

    fn touch(&mut self, row: &Row) -> rusqlite::Result<()> {
        self.applied.changed += 1;
        self.restamp(row, self.horizon.of_notice(Some(row.datestamp)))
    }

    fn restamp(&mut self, row: &Row, datestamp: i64) -> rusqlite::Result<()> {
        let datestamp = self.stamp(datestamp);
        self.leave_sets(row)?;
        self.connection
            .prepare_cached("UPDATE item SET datestamp = ?2 WHERE id = ?1")?
            .execute([row.id, datestamp])?;
        self.join_set(row.media_type, datestamp, row.id)
    }

    /// Leaves a tombstone for those who could see the item until now.
    fn withdraw(&mut self, row: &Row) -> rusqlite::Result<()> {
        let sql = format!("SELECT {ROW} FROM item i WHERE path = ?1 AND (state = 2) = 1");
        let known = self
            .connection
            .query_row(&sql, [row.path.as_bytes()], row_from)
            .optional()?;
        let datestamp = self.horizon.of_notice(Some(row.datestamp));
        if let Some(known) = known {
            // Open again in between: who saw that must hear of this as well.
            return self.restamp(&known, datestamp);
        }
        let facts = Facts {
            size: 0,
            mtime: 0,
            ctime_ns: 0,
            mark: 0,
        };
        self.insert(
            &row.path,
            State::Withdrawn,
            datestamp,
            row.media_type,
            &facts,
            false,
        )
    }

    fn row(&self, path: &SitePath) -> rusqlite::Result<Option<Row>> {
        let sql = format!("SELECT {ROW} FROM item i WHERE path = ?1 AND (state = 2) = 0");
        self.connection
            .prepare_cached(&sql)?
            .query_row([path.as_bytes()], row_from)
            .optional()
    }

    fn former_types(&self, id: i64) -> rusqlite::Result<Vec<i64>> {
        let sql = "SELECT coalesce(former_types, '') FROM item WHERE id = ?1";
        let text: String = self.connection.query_row(sql, [id], |row| row.get(0))?;
        Ok(text
            .split(',')
            .filter_map(|number| number.parse().ok())
            .collect())
    }

    fn leave_sets(&self, row: &Row) -> rusqlite::Result<()> {
        let mut types = self.former_types(row.id)?;
        types.push(row.media_type);
        let sql = "DELETE FROM membership WHERE media_type = ?1 AND datestamp = ?2 AND item = ?3";
        for media_type in types {
            self.connection
                .prepare_cached(sql)?
                .execute([media_type, row.datestamp, row.id])?;
        }
        Ok(())
    }

    fn join_set(&self, media_type: i64, datestamp: i64, item: i64) -> rusqlite::Result<()> {
        let sql =
            "INSERT OR IGNORE INTO membership (media_type, datestamp, item) VALUES (?1, ?2, ?3)";
        self.connection
            .prepare_cached(sql)?
            .execute([media_type, datestamp, item])?;
        Ok(())
    }

    /// Brings a datestamp into the range that can be written, and remembers the newest.
    fn stamp(&mut self, datestamp: i64) -> i64 {
        let datestamp = oai::Datestamp::from_seconds(datestamp).seconds();
        self.latest = self.latest.max(datestamp);
        datestamp
    }

    fn settle(&self) -> rusqlite::Result<()> {
        for (media_type, change) in self.live.iter().filter(|(_, change)| **change != 0) {
            self.connection
                .prepare_cached("UPDATE media_type SET live = live + ?2 WHERE id = ?1")?
                .execute([media_type, change])?;
        }
        Ok(())
    }
}

/// The paths below a directory lie between these two; none is longer than 4,096 bytes.
pub(super) fn bounds(path: &SitePath) -> (Vec<u8>, Vec<u8>) {
    if path.as_bytes().is_empty() {
        return (Vec::new(), vec![0xFF; 4097]);
    }
    let with = |byte: u8| [path.as_bytes(), &[byte]].concat();
    (with(b'/'), with(b'/' + 1))
}
