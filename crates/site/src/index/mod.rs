//! The index: one SQLite file that knows every item the site has or ever had.
//!
//! It is ordered by (datestamp, id), so that a page costs the same wherever it lies and "what changed since
//! T" costs what changed. One writer, any number of readers.

mod load;
mod read;
mod rebuild;
mod schema;
mod write;

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use oai::SetSpec;
use rusqlite::{Connection, OptionalExtension};

pub use load::Loader;
pub use read::{Reader, Visibility};
pub use write::{Applied, Observation, RETRY, Seen};

use crate::horizon::Horizon;
use crate::{Error, SitePath};

const FILE: &str = "index.sqlite";
const LOCK: &str = "index.lock";

/// What is known of the site's items.
#[derive(Debug)]
pub struct Index {
    path: PathBuf,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
    horizon: Mutex<Horizon>,
    media_types: RwLock<Arc<MediaTypeTable>>,
    latest: AtomicI64,
    /// Held as long as the index is open.
    _lock: File,
}

/// An item as the index knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its number, for ever.
    pub id: i64,
    /// Where its file is or was.
    pub path: SitePath,
    /// When its records last changed.
    pub datestamp: i64,
    /// Whether it is still there.
    pub state: State,
    /// The number of its media type.
    pub media_type: i64,
    /// The size of its file.
    pub size: u64,
    /// The modification time of its file.
    pub mtime: i64,
    /// The mark of its file, see [`crate::Facts`].
    pub mark: i64,
    /// Whether a server would run it.
    pub dynamic: bool,
    /// Whether the origin gives it to those without credentials, where one was asked.
    pub shown: Option<bool>,
}

/// Whether an item is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is.
    Live,
    /// It was.
    Deleted,
    /// It was public once and is protected now: deleted for those who may not see it, and for them only.
    Withdrawn,
}

/// The media types that the index has met.
#[derive(Debug, Default, Clone)]
pub struct MediaTypeTable {
    by_id: HashMap<i64, MediaTypeEntry>,
    by_name: HashMap<String, i64>,
}

/// One media type.
#[derive(Debug, Clone)]
pub struct MediaTypeEntry {
    /// Its name.
    pub name: String,
    /// The set of its items.
    pub set_spec: SetSpec,
}

/// The index of a data directory, or the news that there is none yet.
#[derive(Debug)]
pub enum Opened {
    /// An index that goes on where it was.
    Known(Box<Index>),
    /// A directory without one: it is made by a [`Loader`].
    Fresh(Loader),
}

impl Index {
    /// Opens the index of a data directory. A damaged one is rebuilt from what can still be read of it.
    pub fn open(data: &Path) -> Result<Opened, Error> {
        let lock = lock(data)?;
        let path = data.join(FILE);
        if !path.exists() {
            return Ok(Opened::Fresh(Loader::new(data, lock)?));
        }
        match Self::open_existing(path.clone(), lock) {
            Err(error) if error.is_damage() => {
                tracing::error!("{error}; it is rebuilt from what can be read of it");
                Self::rebuild(data)
            }
            result => result.map(|index| Opened::Known(Box::new(index))),
        }
    }

    /// Makes the index anew from the rows that can be read of the old one.
    pub fn rebuild(data: &Path) -> Result<Opened, Error> {
        let lock = lock(data)?;
        if !data.join(FILE).exists() {
            return Ok(Opened::Fresh(Loader::new(data, lock)?));
        }
        rebuild::rebuild(data)?;
        let index = Self::open_existing(data.join(FILE), lock)?;
        Ok(Opened::Known(Box::new(index)))
    }

    fn open_existing(path: PathBuf, lock: File) -> Result<Self, Error> {
        let error = |source| Error::Index {
            path: path.clone(),
            source,
        };
        let writer = schema::open(&path, 16).map_err(error)?;
        let version: i64 = writer
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(error)?;
        if version > schema::VERSION {
            return Err(Error::NewerIndex { path, version });
        }
        check(&writer, version).map_err(error)?;
        // Without a clean end, answers may have been given up to the very moment of the crash.
        let now = crate::horizon::system_seconds();
        let answered = meta(&writer, "answered").map_err(error)?.unwrap_or(now);
        writer
            .execute("DELETE FROM meta WHERE key = 'answered'", [])
            .map_err(error)?;
        let latest: Option<i64> = writer
            .query_row("SELECT max(datestamp) FROM item", [], |row| row.get(0))
            .map_err(error)?;
        let media_types = read_media_types(&writer).map_err(error)?;
        Ok(Self {
            writer: Mutex::new(writer),
            readers: Mutex::default(),
            horizon: Mutex::new(Horizon::new(answered)),
            media_types: RwLock::new(Arc::new(media_types)),
            latest: AtomicI64::new(latest.unwrap_or(i64::MIN)),
            _lock: lock,
            path,
        })
    }

    /// Takes the time of an answer. Every change that is not visible yet will be stamped then or later.
    pub fn answer(&self) -> i64 {
        locked(&self.horizon).answer()
    }

    /// Takes the time of an answer that shows items up to a datestamp, even if the clock is behind it.
    pub fn answer_at(&self, datestamp: i64) -> i64 {
        let mut horizon = locked(&self.horizon);
        *horizon = Horizon::new(horizon.now().max(datestamp));
        horizon.answered()
    }

    /// The newest datestamp there is; it may be a second ahead of the clock.
    pub fn latest(&self) -> i64 {
        self.latest.load(Ordering::Acquire)
    }

    /// The secret of this index's resumption tokens.
    pub fn secret(&self) -> Result<Vec<u8>, Error> {
        let secret = meta(&locked(&self.writer), "secret").map_err(|source| self.error(source))?;
        Ok(secret.unwrap_or_default())
    }

    /// A fact kept with the index.
    pub fn fact(&self, key: &str) -> Result<Option<String>, Error> {
        meta(&locked(&self.writer), key).map_err(|source| self.error(source))
    }

    /// Keeps a fact with the index.
    pub fn set_fact(&self, key: &str, value: &str) -> Result<(), Error> {
        let writer = locked(&self.writer);
        set_meta(&writer, key, &value).map_err(|source| self.error(source))
    }

    /// The media types met so far.
    pub fn media_types(&self) -> Arc<MediaTypeTable> {
        let table = self
            .media_types
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&table)
    }

    /// Ends in good order: the next start knows exactly what was answered.
    pub fn close(&self) -> Result<(), Error> {
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

impl MediaTypeTable {
    /// The media type of a number.
    pub fn get(&self, id: i64) -> Option<&MediaTypeEntry> {
        self.by_id.get(&id)
    }

    /// The numbers of all media types in a set.
    pub fn within(&self, set: &SetSpec) -> Vec<i64> {
        let members = self
            .by_id
            .iter()
            .filter(|(_, entry)| set.contains(&entry.set_spec));
        let mut ids: Vec<_> = members.map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids
    }

    fn insert(&mut self, id: i64, name: String) {
        let set_spec = SetSpec::of_media_type(&name);
        self.by_name.insert(name.clone(), id);
        self.by_id.insert(id, MediaTypeEntry { name, set_spec });
    }

    /// The number of a media type, given to it now if need be.
    fn intern(&mut self, connection: &Connection, name: &str) -> rusqlite::Result<i64> {
        if let Some(id) = self.by_name.get(name) {
            return Ok(*id);
        }
        connection.execute("INSERT INTO media_type (name) VALUES (?1)", [name])?;
        let id = connection.last_insert_rowid();
        self.insert(id, name.to_owned());
        Ok(id)
    }
}

impl State {
    fn from_number(number: i64) -> Self {
        match number {
            0 => Self::Live,
            1 => Self::Deleted,
            _ => Self::Withdrawn,
        }
    }
}

impl Error {
    /// Whether the index file itself is broken.
    pub fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match self {
            Self::Index { source, .. } => {
                matches!(
                    source.sqlite_error_code(),
                    Some(DatabaseCorrupt | NotADatabase)
                )
            }
            _ => false,
        }
    }
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
        .open(data.join(LOCK))
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
        _ => writer.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?,
    };
    if found == "ok" {
        return Ok(());
    }
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(rusqlite::Error::SqliteFailure(code, Some(found)))
}

fn read_media_types(connection: &Connection) -> rusqlite::Result<MediaTypeTable> {
    let mut table = MediaTypeTable::default();
    let mut statement = connection.prepare("SELECT id, name FROM media_type")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        table.insert(row.get(0)?, row.get(1)?);
    }
    Ok(table)
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
