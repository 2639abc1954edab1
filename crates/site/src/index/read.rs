//! Reading: lists, look-ups and counts, limited to what a requester may see.

use oai::{Datestamp, Position, SetSpec};
use provider::Range;
use provider::resource_sync::Most;
use rusqlite::{Connection, OptionalExtension, ToSql, params};

use super::media_type_table::MediaTypeTable;
use super::row::{self, COLUMNS, Row};
use super::visibility::Visibility;
use super::{Index, locked, schema};
use crate::{DayChanges, Error, SitePath};

/// A connection for reading, given back when dropped.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    index: &'a Index,
    connection: Option<Connection>,
    round: u64,
}

/// Connections that nobody uses just now.
#[derive(Debug, Default)]
pub(super) struct Idle {
    connections: Vec<Connection>,
    /// Another one for each file that was the index.
    round: u64,
}

impl Index {
    /// A connection for reading.
    pub(crate) fn reader(&self) -> Result<Reader<'_>, Error> {
        if let Some(reader) = self.idle_reader() {
            return Ok(reader);
        }
        let _held = self.agree()?;
        let connection = schema::open(&self.path, 4).map_err(|source| self.error(source))?;
        Ok(Reader {
            index: self,
            connection: Some(connection),
            round: locked(&self.readers).round,
        })
    }

    fn idle_reader(&self) -> Option<Reader<'_>> {
        let mut idle = locked(&self.readers);
        let connection = idle.connections.pop()?;
        Some(Reader {
            index: self,
            connection: Some(connection),
            round: idle.round,
        })
    }
}

impl Idle {
    /// Closes all.
    pub(super) fn clear(&mut self) {
        self.connections.clear();
    }

    /// Closes all, and those that are in use when they are given back: another file is the index now.
    pub(super) fn start_over(&mut self) {
        self.clear();
        self.round += 1;
    }
}

impl Reader<'_> {
    /// At most `limit` rows of a range behind a position, ordered by (datestamp, id).
    pub(crate) fn list(
        &self,
        visibility: &Visibility,
        range: &Range,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Row>, Error> {
        let (datestamp, id) = after.map_or((range.from.seconds(), i64::MIN), |position| {
            (position.datestamp.seconds(), position.id)
        });
        let (datestamp, id) = match datestamp < range.from.seconds() {
            true => (range.from.seconds(), i64::MIN),
            false => (datestamp, id),
        };
        let until = range.until.seconds();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let condition = visibility.condition();
        let Some(types) = self.types(range.set.as_ref()) else {
            // SQLite seeks the datestamp alone in this index. A site that was copied has all its files in one second, so
            // the rest of a second is asked for by itself.
            let select = |span: &str| {
                format!(
                    "SELECT {COLUMNS} FROM item i WHERE {span} AND i.datestamp <= ?3
                     AND {condition} ORDER BY i.datestamp, i.id LIMIT ?4"
                )
            };
            let sql = select("i.datestamp = ?1 AND i.id > ?2");
            let mut rows = self.rows(&sql, params![datestamp, id, until, limit])?;
            let left = limit.saturating_sub_unsigned(rows.len() as u64);
            if left > 0 {
                let sql = select("i.datestamp > ?1");
                rows.extend(self.rows(&sql, params![datestamp, id, until, left])?);
            }
            return Ok(rows);
        };
        // Each type is in order by itself; the first of all of them are among the first of each.
        let mut rows = Vec::new();
        for media_type in types {
            let sql = format!(
                "SELECT {COLUMNS} FROM membership m JOIN item i ON i.id = m.item
                 WHERE m.media_type = ?5 AND (m.datestamp, m.item) > (?1, ?2) AND m.datestamp <= ?3
                 AND {condition} ORDER BY m.datestamp, m.item LIMIT ?4"
            );
            rows.extend(self.rows(&sql, params![datestamp, id, until, limit, media_type])?);
        }
        rows.sort_unstable_by_key(|row| (row.datestamp, row.id));
        rows.dedup_by_key(|row| row.id);
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(rows)
    }

    /// Where the rows of a range, or those that are live, have to be cut so that a list of their URLs is never longer than
    /// `most`. `site_url` is the length of what stands before each path. Beside an origin nobody is asked: a part may
    /// then be shorter than it could be.
    pub(crate) fn cuts(
        &self,
        visibility: &Visibility,
        range: &Range,
        with_deleted: bool,
        most: Most,
        site_url: u64,
    ) -> Result<Vec<Position>, Error> {
        let state = if with_deleted { "" } else { "AND i.state = 0" };
        let sql = format!(
            "SELECT i.datestamp, i.id, length(i.path) FROM item i
             WHERE i.datestamp BETWEEN ?1 AND ?2 {state} AND {} ORDER BY i.datestamp, i.id",
            visibility.condition()
        );
        self.query(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let bounds = params![range.from.seconds(), range.until.seconds()];
            let mut rows = statement.query(bounds)?;
            let mut filling = most.filling();
            while let Some(row) = rows.next()? {
                let position = Position {
                    datestamp: Datestamp::from_seconds(row.get(0)?),
                    id: row.get(1)?,
                };
                // A byte that a URL cannot have is written as three.
                let path = 3 * row.get::<_, i64>(2)?.unsigned_abs();
                filling.add(position, site_url + path);
            }
            Ok(filling.cuts())
        })
    }

    /// When this index was made: whatever changed since is stamped with that time or a later one.
    pub(crate) fn changes_since(&self) -> Result<Option<i64>, Error> {
        self.query(|connection| super::meta(connection, "changes_since"))
    }

    /// How many rows a range has.
    pub(crate) fn count(&self, visibility: &Visibility, range: &Range) -> Result<u64, Error> {
        let (from, until) = (range.from.seconds(), range.until.seconds());
        let Some(types) = self.types(range.set.as_ref()) else {
            let sql =
                "SELECT count(*) FROM item i WHERE i.datestamp BETWEEN ?1 AND ?2 AND i.state <> 2";
            let all = self.number(sql, params![from, until])?;
            if visibility.is_open() {
                return Ok(all);
            }
            if visibility.hides_programs {
                // No index knows programs.
                let condition = visibility.condition();
                let sql = format!(
                    "SELECT count(*) FROM item i WHERE i.datestamp BETWEEN ?1 AND ?2 AND {condition}"
                );
                return self.number(&sql, params![from, until]);
            }
            // Two small corrections instead of a look at every path.
            let (concerned, case) = (visibility.concerned(), visibility.case());
            let sql = format!(
                "SELECT coalesce(sum(CASE WHEN i.state = 2 THEN ({case}) = 0 ELSE -(({case}) = 0) END), 0)
                 FROM item i INDEXED BY item_path WHERE {concerned} AND i.datestamp BETWEEN ?1 AND ?2"
            );
            return Ok(all.saturating_add_signed(self.signed_number(&sql, params![from, until])?));
        };
        let condition = visibility.condition();
        let mut count = 0;
        for media_type in types {
            let sql = format!(
                "SELECT count(*) FROM membership m JOIN item i ON i.id = m.item
                 WHERE m.media_type = ?3 AND m.datestamp BETWEEN ?1 AND ?2 AND {condition}"
            );
            count += self.number(&sql, params![from, until, media_type])?;
        }
        Ok(count)
    }

    /// The visible rows of a path: one, or two where nothing is decided yet.
    pub(crate) fn rows_of(
        &self,
        visibility: &Visibility,
        path: &SitePath,
    ) -> Result<Vec<Row>, Error> {
        let condition = visibility.condition();
        let sql = format!("SELECT {COLUMNS} FROM item i WHERE i.path = ?1 AND {condition}");
        self.rows(&sql, params![path.as_bytes()])
    }

    /// The live rows of paths, all as they are at one moment.
    pub(crate) fn live_rows_of(&self, paths: &[SitePath]) -> Result<Vec<Row>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM item i WHERE i.path = ?1 AND i.state = 0");
        let rows = self.query(|connection| {
            // Each by itself would take and give back the lock of the database.
            let transaction = connection.unchecked_transaction()?;
            let mut statement = transaction.prepare_cached(&sql)?;
            let mut rows = Vec::with_capacity(paths.len());
            for path in paths {
                for row in statement.query_map(params![path.as_bytes()], Row::read)? {
                    rows.push(row?);
                }
            }
            Ok(rows)
        })?;
        self.know_types(rows.iter().map(|row| row.media_type))?;
        Ok(rows)
    }

    /// The media types of which something live is visible.
    pub(crate) fn held_types(&self, visibility: &Visibility) -> Result<Vec<i64>, Error> {
        let sql = match visibility.is_open() {
            true => "SELECT id FROM media_type WHERE live > 0".to_owned(),
            false => format!(
                "SELECT t.id FROM media_type t WHERE t.live > 0 AND EXISTS (
                     SELECT 1 FROM membership m JOIN item i ON i.id = m.item
                     WHERE m.media_type = t.id AND i.state = 0 AND {})",
                visibility.condition()
            ),
        };
        let types: Vec<i64> = self.query(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            statement.query_map([], |row| row.get(0))?.collect()
        })?;
        self.know_types(types.iter().copied())?;
        Ok(types)
    }

    /// Some live items of a media type, first those that an origin shows to all.
    pub(crate) fn some_of_type(&self, media_type: i64, limit: i64) -> Result<Vec<Row>, Error> {
        let of_type = format!(
            "SELECT {COLUMNS} FROM membership m JOIN item i ON i.id = m.item
             WHERE m.media_type = ?1 AND i.state = 0"
        );
        let shown = self.rows(
            &format!("{of_type} AND i.shown = 1 LIMIT 1"),
            params![media_type],
        )?;
        if !shown.is_empty() {
            return Ok(shown);
        }
        self.rows(&format!("{of_type} LIMIT ?2"), params![media_type, limit])
    }

    /// Whether somebody was given an item that is not shown to all.
    pub(crate) fn was_seen_by(&self, item: i64, who: i64) -> Result<bool, Error> {
        let sql = "SELECT count(*) FROM seen_by WHERE item = ?1 AND who = ?2";
        Ok(self.number(sql, params![item, who])? > 0)
    }

    /// Rows in the order of their paths behind one, withdrawn ones aside.
    pub(crate) fn by_path(
        &self,
        within: &SitePath,
        after: Option<&SitePath>,
        limit: usize,
    ) -> Result<Vec<Row>, Error> {
        let (first, last) = within.bounds_below();
        let after = after.map_or(first, |path| [path.as_bytes(), &[0]].concat());
        let sql = format!(
            "SELECT {COLUMNS} FROM item i WHERE i.path >= ?1 AND i.path < ?2 AND (i.state = 2) = 0
             ORDER BY i.path LIMIT ?3"
        );
        self.rows(
            &sql,
            params![after, last, i64::try_from(limit).unwrap_or(i64::MAX)],
        )
    }

    /// The oldest datestamp there is.
    pub(crate) fn earliest(&self) -> Result<Option<i64>, Error> {
        self.query(|connection| {
            connection.query_row("SELECT min(datestamp) FROM item", [], |row| row.get(0))
        })
    }

    /// How many items are live, and how many tombstones there are.
    pub(crate) fn totals(&self) -> Result<(u64, u64), Error> {
        let live = self.number("SELECT coalesce(sum(live), 0) FROM media_type", [])?;
        let all = self.number("SELECT count(*) FROM item WHERE state <> 2", [])?;
        Ok((live, all.saturating_sub(live)))
    }

    /// Media types with their live items, the most frequent first.
    pub(crate) fn types_with_items(&self) -> Result<Vec<(String, u64)>, Error> {
        self.query(|connection| {
            connection
                .prepare_cached(
                    "SELECT name, live FROM media_type WHERE live > 0 ORDER BY live DESC, name",
                )?
                .query_map([], |row| {
                    Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
                })?
                .collect()
        })
    }

    /// How many live items an origin was seen to keep from somebody without credentials.
    pub(crate) fn restricted(&self) -> Result<u64, Error> {
        self.number(
            "SELECT count(*) FROM item WHERE shown = 0 AND state = 0",
            [],
        )
    }

    /// Items by the day of their last change, from a time on.
    pub(crate) fn changes_by_day(&self, since: i64) -> Result<Vec<DayChanges>, Error> {
        self.query(|connection| {
            connection
                .prepare_cached(
                    "SELECT datestamp / 86400, sum(state = 0), sum(state = 1) FROM item
                     WHERE datestamp >= ?1 GROUP BY 1 ORDER BY 1",
                )?
                .query_map([since], |row| {
                    Ok(DayChanges {
                        day: row.get(0)?,
                        changed: row.get::<_, i64>(1)?.unsigned_abs(),
                        deleted: row.get::<_, i64>(2)?.unsigned_abs(),
                    })
                })?
                .collect()
        })
    }

    /// The former media types of an item.
    pub(crate) fn former_types(&self, id: i64) -> Result<Vec<i64>, Error> {
        let types = self.query(|connection| row::former_types(connection, id))?;
        self.know_types(types.iter().copied())?;
        Ok(types)
    }

    /// The outcome of a plug-in on a file in its present state.
    pub(crate) fn plugin_result(
        &self,
        item: i64,
        plugin: &str,
        mark: i64,
    ) -> Result<Option<String>, Error> {
        let sql = "SELECT outcome FROM plugin_result WHERE item = ?1 AND plugin = ?2 AND mark = ?3";
        self.query(|connection| {
            connection
                .prepare_cached(sql)?
                .query_row(params![item, plugin, mark], |row| row.get(0))
                .optional()
        })
    }

    /// The media types in a set; `None` if the set holds everything.
    fn types(&self, set: Option<&SetSpec>) -> Option<Vec<i64>> {
        let types = self.index.media_types();
        let set = set.filter(|set| set.as_str() != "mime" || !types.are_all_named())?;
        Some(types.within(set))
    }

    fn rows(&self, sql: &str, parameters: &[&dyn ToSql]) -> Result<Vec<Row>, Error> {
        let rows: Vec<Row> = self.query(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            statement.query_map(parameters, Row::read)?.collect()
        })?;
        self.know_types(rows.iter().map(|row| row.media_type))?;
        Ok(rows)
    }

    /// Another process may have met media types since this one last agreed with it.
    fn know_types(&self, mut types: impl Iterator<Item = i64>) -> Result<(), Error> {
        let known = self.index.media_types();
        if types.all(|id| known.get(id).is_some()) {
            return Ok(());
        }
        let table = self.query(MediaTypeTable::read)?;
        if locked(&self.index.readers).round == self.round {
            self.index.extend_media_types(table);
        }
        Ok(())
    }

    fn number(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<u64, Error> {
        let number = self.signed_number(sql, parameters)?;
        Ok(u64::try_from(number).unwrap_or(0))
    }

    fn signed_number(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<i64, Error> {
        self.query(|connection| {
            connection
                .prepare_cached(sql)?
                .query_row(parameters, |row| row.get(0))
        })
    }

    fn query<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        let connection = self.connection.as_ref().expect("taken only when dropped");
        query(connection).map_err(|source| self.index.error(source))
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            let mut idle = locked(&self.index.readers);
            if idle.round == self.round {
                idle.connections.push(connection);
            }
        }
    }
}
