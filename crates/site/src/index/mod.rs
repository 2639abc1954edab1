//! The index: one SQLite file that knows every item the site has or ever had.
//!
//! It is ordered by (datestamp, id), so that a page costs the same wherever it lies and "what changed since
//! T" costs what changed. One writer at a time, any number of readers, in one process or in several.

mod agreement;
mod batch;
pub(crate) mod findings;
mod load;
mod media_type_table;
pub(crate) mod notes;
mod opening;
mod read;
mod rebuild;
mod row;
mod schema;
mod sharing;
mod state_file;
#[cfg(test)]
mod tests;
mod visibility;
mod write;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use rusqlite::{Connection, OptionalExtension};

pub(crate) use load::Loader;
pub(crate) use read::Reader;
pub(crate) use row::{Row, State};
pub use sharing::Sharing;
pub(crate) use visibility::Visibility;
pub(crate) use write::{ANY_MARK, Applied, OWN_SETS, Observation, RETRY, Seen};

use self::agreement::Agreement;
use self::media_type_table::MediaTypeTable;
use self::read::Idle;
use self::sharing::IndexLock;
pub(crate) use self::state_file::private_file;
use self::state_file::uninterrupted;
use crate::Error;

/// The items of the site.
///
/// Several locks can be held at once only in this order: `writer`, `agreement`, then any one of the others.
#[derive(Debug)]
pub(crate) struct Index {
    data: PathBuf,
    path: PathBuf,
    writer: Mutex<Connection>,
    /// For what could be found out again: it need not survive a power cut.
    notes: Mutex<Connection>,
    readers: Mutex<Idle>,
    /// The horizon and all else that threads and processes agree on.
    agreement: Mutex<Agreement>,
    media_types: RwLock<Arc<MediaTypeTable>>,
    latest: AtomicI64,
    superseded: AtomicBool,
    secret: Vec<u8>,
    /// Whether no process had this index open before with this configuration.
    first: bool,
    lock: IndexLock,
}

/// The index of a data directory, or the news that there is none yet.
#[derive(Debug)]
pub(crate) enum OpenedIndex {
    /// An index that goes on where it was.
    Known(Box<Index>),
    /// A directory without one: it is made by a [`Loader`].
    Fresh(Box<Loader>),
}

impl Index {
    /// Opens the index of a data directory. A damaged one is rebuilt from what can still be read of it.
    pub(crate) fn open(data: &Path, sharing: Sharing) -> Result<OpenedIndex, Error> {
        Self::open_locked(data, IndexLock::take(data, sharing)?, false)
    }

    /// Makes the index anew from the rows that can be read of the old one.
    pub(crate) fn rebuild(data: &Path, sharing: Sharing) -> Result<OpenedIndex, Error> {
        Self::open_locked(data, IndexLock::take(data, sharing)?, true)
    }

    fn open_locked(data: &Path, lock: IndexLock, rebuild: bool) -> Result<OpenedIndex, Error> {
        if lock.sole && !data.join(FILE).exists() {
            return Ok(OpenedIndex::Fresh(Box::new(Loader::new(data, lock)?)));
        }
        let index = Self::open_existing(data, lock, rebuild)?;
        Ok(OpenedIndex::Known(Box::new(index)))
    }

    /// The newest datestamp there is; it may be a second ahead of the clock.
    pub(crate) fn latest(&self) -> i64 {
        self.latest.load(Ordering::Acquire)
    }

    /// The secret of this index's resumption tokens.
    pub(crate) fn secret(&self) -> &[u8] {
        &self.secret
    }

    /// Whether no process had this index open before with this configuration.
    pub(crate) fn is_first(&self) -> bool {
        self.first
    }

    /// Whether another process was last seen to have a newer configuration. This one then writes nothing of
    /// what it sees: it would undo what the other has written.
    pub(crate) fn is_superseded(&self) -> bool {
        self.superseded.load(Ordering::Acquire)
    }

    /// Keeps other processes from doing at the same time what one of them should do, until it is dropped.
    pub(crate) fn turn(&self) -> Result<File, Error> {
        let take = || {
            let file = private_file(&self.data.join(TURN_FILE))?;
            uninterrupted(|| file.lock()).map(|()| file)
        };
        take().map_err(|source| self.data_error(source))
    }

    /// A fact kept with the index.
    pub(crate) fn fact(&self, key: &str) -> Result<Option<String>, Error> {
        let mut writer = locked(&self.writer);
        self.agree_with(&mut writer)?;
        meta(&writer, key).map_err(|source| self.error(source))
    }

    /// Keeps a fact with the index, unless another process has a newer configuration.
    pub(crate) fn set_fact(&self, key: &str, value: &str) -> Result<(), Error> {
        let mut writer = locked(&self.writer);
        let _held = self.agree_with(&mut writer)?;
        if self.is_superseded() {
            return Ok(());
        }
        set_meta(&writer, key, &value).map_err(|source| self.error(source))
    }

    /// The media types met so far.
    pub(crate) fn media_types(&self) -> Arc<MediaTypeTable> {
        let table = self
            .media_types
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&table)
    }

    /// Ends in good order: the next start knows exactly what was answered.
    ///
    /// A shared index has no end of its own, for others may go on. What they agree on is exact without one.
    pub(crate) fn close(&self) -> Result<(), Error> {
        locked(&self.readers).clear();
        if self.lock.sharing != Sharing::Alone {
            return Ok(());
        }
        let mut writer = locked(&self.writer);
        let answered = self.agree_with(&mut writer)?.agreed.answered;
        set_meta(&writer, "answered", &answered).map_err(|source| self.error(source))?;
        let checkpoint = writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        checkpoint.map_err(|source| self.error(source))
    }

    /// Takes a table that knows more.
    fn extend_media_types(&self, table: MediaTypeTable) {
        let mut place = self
            .media_types
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if table.len() > place.len() {
            *place = Arc::new(table);
        }
    }

    fn set_media_types(&self, table: MediaTypeTable) {
        let mut place = self
            .media_types
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *place = Arc::new(table);
    }

    fn error(&self, source: rusqlite::Error) -> Error {
        Error::Index {
            path: self.path.clone(),
            source,
        }
    }

    fn data_error(&self, source: std::io::Error) -> Error {
        Error::Data {
            path: self.data.clone(),
            source,
        }
    }
}

fn meta<T: rusqlite::types::FromSql>(
    connection: &Connection,
    key: &str,
) -> rusqlite::Result<Option<T>> {
    connection
        .query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| {
            row.get(0)
        })
        .optional()
}

fn set_meta(
    connection: &Connection,
    key: &str,
    value: &dyn rusqlite::ToSql,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO meta (key, value) VALUES (?1, ?2)
               ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    connection.execute(sql, rusqlite::params![key, value])?;
    Ok(())
}

/// A thread that panicked in the middle left the database to SQLite's own rollback, so going on is safe.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const FILE: &str = "index.sqlite";
/// Where a new index is written until it is complete.
const UNFINISHED_FILE: &str = "index.sqlite.new";
/// Where an index is kept that was rebuilt.
const OLD_FILE: &str = "index.sqlite.old";
/// Locked by the process whose turn it is.
const TURN_FILE: &str = "index.turn";
