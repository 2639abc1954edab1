//! One transaction that changes items: each gets the datestamp that no harvester is past, and stays in its sets.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::OWN_SETS;
use super::media_type_table::MediaTypeTable;
use super::row::{self, COLUMNS, Row, State};
use super::write::{Applied, Observation, Seen};
use crate::follow::horizon::Horizon;
use crate::{Facts, SitePath};

/// One transaction in the making.
pub(super) struct Batch<'a> {
    pub(super) connection: &'a Connection,
    pub(super) horizon: Horizon,
    pub(super) media_types: MediaTypeTable,
    /// The newest datestamp there is.
    pub(super) latest: i64,
    pub(super) applied: Applied,
    /// By how much the number of live items of a media type changes.
    live: HashMap<i64, i64>,
}

/// A row that is not in the index yet.
struct NewRow<'a> {
    path: &'a SitePath,
    datestamp: i64,
    state: State,
    media_type: i64,
    facts: Facts,
    dynamic: bool,
}

impl<'a> Batch<'a> {
    pub(super) fn new(
        connection: &'a Connection,
        horizon: Horizon,
        media_types: MediaTypeTable,
        latest: i64,
    ) -> Self {
        Self {
            connection,
            horizon,
            media_types,
            latest,
            applied: Applied::default(),
            live: HashMap::new(),
        }
    }

    pub(super) fn observe(&mut self, observation: &Observation) -> rusqlite::Result<()> {
        match &observation.seen {
            Seen::Nothing => match self.row(&observation.path)? {
                Some(row) => self.delete(&row),
                None => Ok(()),
            },
            Seen::File {
                facts,
                media_type,
                by_name,
                dynamic,
            } => {
                let row = self.row(&observation.path)?;
                let known = row.as_ref().filter(|_| *by_name);
                let media_type = match known {
                    Some(row) => row.media_type,
                    None => self.media_types.intern(self.connection, media_type)?,
                };
                match row {
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
        self.insert(&NewRow {
            path,
            datestamp: self.horizon.of_file(facts.mtime, None),
            state: State::Live,
            media_type,
            facts: *facts,
            dynamic,
        })?;
        *self.live.entry(media_type).or_default() += 1;
        self.applied.created += 1;
        Ok(())
    }

    fn insert(&mut self, row: &NewRow<'_>) -> rusqlite::Result<i64> {
        let datestamp = self.stamp(row.datestamp);
        let sql =
            "INSERT INTO item (path, datestamp, state, media_type, size, mtime, mark, dynamic, created)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?2)";
        self.connection.prepare_cached(sql)?.execute(params![
            row.path.as_bytes(),
            datestamp,
            row.state as i64,
            row.media_type,
            row.facts.size as i64,
            row.facts.mtime,
            row.facts.mark,
            row.dynamic
        ])?;
        let item = self.connection.last_insert_rowid();
        self.join_set(row.media_type, datestamp, item)?;
        Ok(item)
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
            self.remember_former_type(row)?;
        }
        let sql = "UPDATE item SET datestamp = ?2, state = 0, media_type = ?3, size = ?4, mtime = ?5, mark = ?6,
                   dynamic = ?7, created = CASE state WHEN 0 THEN created ELSE ?2 END WHERE id = ?1";
        self.connection.prepare_cached(sql)?.execute(params![
            row.id,
            datestamp,
            media_type,
            facts.size as i64,
            facts.mtime,
            facts.mark,
            dynamic
        ])?;
        self.join_sets(media_type, datestamp, row.id)?;
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

    /// Moves a live item into the set of another media type.
    pub(super) fn retype(&mut self, row: &Row, media_type: &str) -> rusqlite::Result<()> {
        let media_type = self.media_types.intern(self.connection, media_type)?;
        self.update(row, &row.facts(), media_type, row.dynamic)
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
            .prepare_cached("DELETE FROM plugin_result WHERE item = ?1 AND plugin <> ?2")?
            .execute(params![row.id, OWN_SETS])?;
        self.join_set(row.media_type, datestamp, row.id)?;
        for former in row::former_types(self.connection, row.id)? {
            self.join_set(former, datestamp, row.id)?;
        }
        *self.live.entry(row.media_type).or_default() -= 1;
        self.applied.deleted += 1;
        Ok(())
    }

    pub(super) fn touch(&mut self, row: &Row) -> rusqlite::Result<()> {
        self.applied.changed += 1;
        self.restamp(row, self.horizon.of_notice(Some(row.datestamp)))
    }

    fn restamp(&mut self, row: &Row, datestamp: i64) -> rusqlite::Result<()> {
        let datestamp = self.stamp(datestamp);
        self.leave_sets(row)?;
        self.connection
            .prepare_cached("UPDATE item SET datestamp = ?2 WHERE id = ?1")?
            .execute([row.id, datestamp])?;
        self.join_sets(row.media_type, datestamp, row.id)
    }

    /// Leaves a tombstone for those who could see the item until now.
    pub(super) fn withdraw(&mut self, row: &Row) -> rusqlite::Result<()> {
        let tombstone = self.find(&row.path, true)?;
        let datestamp = self.horizon.of_notice(Some(row.datestamp));
        if let Some(tombstone) = tombstone {
            // Open again in between: who saw that must hear of this as well.
            return self.restamp(&tombstone, datestamp);
        }
        let tombstone = self.insert(&NewRow {
            path: &row.path,
            datestamp,
            state: State::Withdrawn,
            media_type: row.media_type,
            facts: Facts::default(),
            dynamic: row.dynamic,
        })?;
        let sql = "INSERT INTO plugin_result (item, plugin, mark, outcome)
                   SELECT ?2, plugin, mark, outcome FROM plugin_result WHERE item = ?1 AND plugin = ?3";
        self.connection
            .prepare_cached(sql)?
            .execute(params![row.id, tombstone, OWN_SETS])?;
        Ok(())
    }

    /// The row of a path that is not a withdrawn one.
    pub(super) fn row(&self, path: &SitePath) -> rusqlite::Result<Option<Row>> {
        self.find(path, false)
    }

    /// The condition on the state is spelled as in the index `item_path`, which serves no other spelling.
    fn find(&self, path: &SitePath, withdrawn: bool) -> rusqlite::Result<Option<Row>> {
        let sql = format!("SELECT {COLUMNS} FROM item i WHERE path = ?1 AND (state = 2) = ?2");
        self.connection
            .prepare_cached(&sql)?
            .query_row(params![path.as_bytes(), withdrawn], Row::read)
            .optional()
    }

    fn remember_former_type(&self, row: &Row) -> rusqlite::Result<()> {
        let sql =
            "UPDATE item SET former_types = coalesce(former_types || ',', '') || ?2 WHERE id = ?1";
        self.connection
            .prepare_cached(sql)?
            .execute([row.id, row.media_type])?;
        Ok(())
    }

    fn leave_sets(&self, row: &Row) -> rusqlite::Result<()> {
        let mut types = row::former_types(self.connection, row.id)?;
        types.push(row.media_type);
        let sql = "DELETE FROM membership WHERE media_type = ?1 AND datestamp = ?2 AND item = ?3";
        for media_type in types {
            self.connection
                .prepare_cached(sql)?
                .execute([media_type, row.datestamp, row.id])?;
        }
        Ok(())
    }

    /// Puts a live item into the set of its media type; a record also into those of the formats that it had.
    fn join_sets(&self, media_type: i64, datestamp: i64, item: i64) -> rusqlite::Result<()> {
        self.join_set(media_type, datestamp, item)?;
        if self.media_types.is_format(media_type) {
            for former in row::former_types(self.connection, item)? {
                self.join_set(former, datestamp, item)?;
            }
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

    /// Writes down what the changes add up to.
    pub(super) fn settle(&self) -> rusqlite::Result<()> {
        for (media_type, change) in self.live.iter().filter(|(_, change)| **change != 0) {
            self.connection
                .prepare_cached("UPDATE media_type SET live = live + ?2 WHERE id = ?1")?
                .execute([media_type, change])?;
        }
        Ok(())
    }
}
