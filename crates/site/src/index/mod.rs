//! The index: one SQLite file that knows every item the site has or ever had.
//!
//! It is ordered by (datestamp, id), so that a page costs the same wherever it lies and "what changed since
//! T" costs what changed. One writer, any number of readers.

mod batch;
mod load;
mod media_type_table;
mod read;
mod rebuild;
mod row;
mod schema;
mod visibility;
mod write;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use rusqlite::{Connection, OptionalExtension};

pub(crate) use load::Loader;
pub(crate) use read::Reader;
pub(crate) use row::{Row, State};
pub(crate) use visibility::Visibility;
pub(crate) use write::{Applied, Observation, RETRY, Seen};

use self::media_type_table::MediaTypeTable;
use crate::Error;
use crate::horizon::{Horizon, system_seconds};

/// What is known of the site's items.
#[derive(Debug)]
pub(crate) struct Index {
    path: PathBuf,
    writer: Mutex<Connection>,
    /// For what could be found out again: it need not survive a power cut.
    notes: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
    horizon: Mutex<Horizon>,
    media_types: RwLock<Arc<MediaTypeTable>>,
    latest: AtomicI64,
    secret: Vec<u8>,
    /// Answers were given at this time or within a minute after it.
    answering_since: AtomicI64,
    /// Held as long as the index is open.
    _lock: File,
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
    pub(crate) fn open(data: &Path) -> Result<OpenedIndex, Error> {
        let lock = lock(data)?;
        let path = data.join(FILE);
        if !path.exists() {
            return Ok(OpenedIndex::Fresh(Box::new(Loader::new(data, lock)?)));
        }
        match Self::open_existing(path.clone(), lock) {
            Err(error) if error.is_damage() => {
                tracing::error!("{error}; it is rebuilt from what can be read of it");
                Self::rebuild(data)
            }
            result => result.map(|index| OpenedIndex::Known(Box::new(index))),
        }
    }

    /// Makes the index anew from the rows that can be read of the old one.
    pub(crate) fn rebuild(data: &Path) -> Result<OpenedIndex, Error> {
        let lock = lock(data)?;
        if !data.join(FILE).exists() {
            return Ok(OpenedIndex::Fresh(Box::new(Loader::new(data, lock)?)));
        }
        rebuild::rebuild(data)?;
        let index = Self::open_existing(data.join(FILE), lock)?;
        Ok(OpenedIndex::Known(Box::new(index)))
    }

    fn open_existing(path: PathBuf, lock: File) -> Result<Self, Error> {
        let error = |source| Error::Index {
            path: path.clone(),
            source,
        };
        let writer = schema::open_durably(&path, 16).map_err(error)?;
        let version: i64 = writer
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(error)?;
        if version > schema::VERSION {
            return Err(Error::NewerIndex { path, version });
        }
        check(&writer, version).map_err(error)?;
        let latest: Option<i64> = writer
            .query_row("SELECT max(datestamp) FROM item", [], |row| row.get(0))
            .map_err(error)?;
        let latest = latest.unwrap_or(i64::MIN);
        let answered = match meta(&writer, "answered").map_err(error)? {
            Some(answered) => answered,
            None => answered_before_crash(&writer, latest).map_err(error)?,
        };
        writer
            .execute("DELETE FROM meta WHERE key = 'answered'", [])
            .map_err(error)?;
        let media_types = MediaTypeTable::read(&writer).map_err(error)?;
        let secret: Option<Vec<u8>> = meta(&writer, "secret").map_err(error)?;
        Ok(Self {
            writer: Mutex::new(writer),
            notes: Mutex::new(schema::open(&path, 4).map_err(error)?),
            readers: Mutex::default(),
            horizon: Mutex::new(Horizon::new(answered)),
            media_types: RwLock::new(Arc::new(media_types)),
            latest: AtomicI64::new(latest),
            secret: secret.unwrap_or_default(),
            answering_since: AtomicI64::new(i64::MIN),
            _lock: lock,
            path,
        })
    }

    /// Takes the time of an answer. Every change that is not visible yet will be stamped then or later.
    pub(crate) fn answer(&self) -> i64 {
        let now = locked(&self.horizon).answer();
        self.remember_answering(now);
        now
    }

    /// Takes the time of an answer that shows items up to a datestamp, even if the clock is behind it.
    pub(crate) fn answer_at(&self, datestamp: i64) -> i64 {
        let now = {
            let mut horizon = locked(&self.horizon);
            *horizon = Horizon::new(horizon.now().max(datestamp));
            horizon.answered()
        };
        self.remember_answering(now);
        now
    }

    /// Keeps, once a minute and before the answer is given, that answers are being given: should the machine
    /// crash and its clock come up behind, the next start knows how far they may have gone.
    fn remember_answering(&self, now: i64) {
        let since = self.answering_since.load(Ordering::Acquire);
        if now < since.saturating_add(ANSWERING_KEPT_EVERY) {
            return;
        }
        self.answering_since.store(now, Ordering::Release);
        if let Err(error) = self.set_fact("answering_since", &now.to_string()) {
            tracing::warn!("{error}");
        }
    }

    /// The newest datestamp there is; it may be a second ahead of the clock.
    pub(crate) fn latest(&self) -> i64 {
        self.latest.load(Ordering::Acquire)
    }

    /// The secret of this index's resumption tokens.
    pub(crate) fn secret(&self) -> &[u8] {
        &self.secret
    }

    /// A fact kept with the index.
    pub(crate) fn fact(&self, key: &str) -> Result<Option<String>, Error> {
        meta(&locked(&self.writer), key).map_err(|source| self.error(source))
    }

    /// Keeps a fact with the index.
    pub(crate) fn set_fact(&self, key: &str, value: &str) -> Result<(), Error> {
        let writer = locked(&self.writer);
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
    pub(crate) fn close(&self) -> Result<(), Error> {
        let answered = locked(&self.horizon).answered();
        let writer = locked(&self.writer);
        set_meta(&writer, "answered", &answered).map_err(|source| self.error(source))?;
        locked(&self.readers).clear();
        let checkpoint = writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        checkpoint.map_err(|source| self.error(source))
    }

    fn error(&self, source: rusqlite::Error) -> Error {
        Error::Index {
            path: self.path.clone(),
            source,
        }
    }
}

/// How far answers may have gone before an end that was not clean: up to the crash itself, and if the clock
/// has come up behind, up to the last that could have been given under the old one.
fn answered_before_crash(writer: &Connection, latest: i64) -> rusqlite::Result<i64> {
    let since: Option<String> = meta(writer, "answering_since")?;
    let since = since.and_then(|since| since.parse::<i64>().ok());
    let now = system_seconds();
    let answered = match since {
        Some(since) if now < since => since.saturating_add(ANSWERING_KEPT_EVERY),
        _ => now,
    };
    Ok(answered.max(latest))
}

/// One process at a time: two would give out different datestamps for the same change.
fn lock(data: &Path) -> Result<File, Error> {
    let error = |source| Error::Data {
        path: data.to_owned(),
        source,
    };
    fs::create_dir_all(data).map_err(error)?;
    let mut options = File::options();
    let file = options
        .create(true)
        .truncate(false)
        .write(true)
        .open(data.join(LOCK_FILE))
        .map_err(error)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(Error::InUse {
            path: data.to_owned(),
        }),
        Err(fs::TryLockError::Error(source)) => Err(error(source)),
    }
}

/// Finds damage now rather than when a harvester asks for what is on the damaged page, which no restart would
/// mend. It takes a bit more than half a second for a million items.
fn check(writer: &Connection, version: i64) -> rusqlite::Result<()> {
    let found: String = match version {
        0 => "the tables are missing".to_owned(),
        older if older < schema::VERSION => "it was written by an older garner".to_owned(),
        _ => writer.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?,
    };
    if found == "ok" {
        return Ok(());
    }
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(rusqlite::Error::SqliteFailure(code, Some(found)))
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

/// Seconds.
const ANSWERING_KEPT_EVERY: i64 = 60;

const FILE: &str = "index.sqlite";
/// Where a new index is written until it is complete.
const UNFINISHED_FILE: &str = "index.sqlite.new";
/// Where an index is kept that was rebuilt.
const OLD_FILE: &str = "index.sqlite.old";
const LOCK_FILE: &str = "index.lock";
