//! Opening an index that is there: by the first process, which checks it, or beside others.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::Connection;

use super::agreement::{Agreement, FileId};
use super::media_type_table::MediaTypeTable;
use super::read::Idle;
use super::sharing::IndexLock;
use super::state_file::{Agreed, StateFile};
use super::{FILE, Index, meta, rebuild, schema};
use crate::Error;
use crate::follow::horizon::system_seconds;

impl Index {
    pub(super) fn open_existing(
        data: &Path,
        mut lock: IndexLock,
        rebuild_first: bool,
    ) -> Result<Self, Error> {
        let path = data.join(FILE);
        let error = |source| Error::Index {
            path: path.clone(),
            source,
        };
        let data_error = |source| Error::Data {
            path: data.to_owned(),
            source,
        };
        let state = StateFile::open(data).map_err(data_error)?;
        state.lock().map_err(data_error)?;
        let mut rebuilt = rebuild_first;
        if rebuild_first {
            rebuild::rebuild(data, None)?;
        }
        let writer = match open_writer(&path, lock.sole) {
            Err(error) if error.is_damage() && !rebuilt => {
                tracing::error!("{error}; it is rebuilt from what can be read of it");
                rebuild::rebuild(data, None)?;
                rebuilt = true;
                open_writer(&path, lock.sole)?
            }
            result => result?,
        };
        let before = match lock.sole {
            true => state.read_of_this_boot(),
            false => state.read(),
        };
        let mut agreed = match before {
            Some(agreed) if !lock.sole => agreed,
            _ => recover(&writer, before).map_err(error)?,
        };
        if rebuilt {
            agreed.answered = answered_before_loss(&agreed);
        }
        let own = lock.generation();
        let first = lock.sole || agreed.generation < own;
        // Where nobody else is, no configuration is newer, even if the clock was set back since.
        agreed.generation = match lock.sole {
            true => own,
            false => agreed.generation.max(own),
        };
        state.write(&agreed).map_err(data_error)?;
        if lock.sole {
            writer
                .execute("DELETE FROM meta WHERE key = 'answered'", [])
                .map_err(error)?;
        }
        let media_types = MediaTypeTable::read(&writer).map_err(error)?;
        let secret: Option<Vec<u8>> = meta(&writer, "secret").map_err(error)?;
        let notes = schema::open(&path, 4).map_err(error)?;
        let file = FileId::of(&path).map_err(data_error)?;
        state.unlock().map_err(data_error)?;
        lock.relax().map_err(data_error)?;
        Ok(Self {
            data: data.to_owned(),
            writer: Mutex::new(writer),
            notes: Mutex::new(notes),
            readers: Mutex::new(Idle::default()),
            agreement: Mutex::new(Agreement {
                state,
                last: agreed,
                media_types: agreed.media_types,
                file,
                lost: false,
            }),
            media_types: RwLock::new(Arc::new(media_types)),
            latest: AtomicI64::new(agreed.latest),
            superseded: AtomicBool::new(own < agreed.generation),
            secret: secret.unwrap_or_default(),
            first,
            lock,
            path,
        })
    }
}

/// Opens the connection for writing; the first process looks for damage as well.
pub(super) fn open_writer(path: &Path, look_for_damage: bool) -> Result<Connection, Error> {
    let error = |source| Error::Index {
        path: path.to_owned(),
        source,
    };
    let writer = schema::open_durably(path, 16).map_err(error)?;
    let version: i64 = writer
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(error)?;
    if version > schema::VERSION {
        let path = path.to_owned();
        return Err(Error::NewerIndex { path, version });
    }
    check_version(version).map_err(error)?;
    if look_for_damage {
        // Finds damage now rather than when a harvester asks for what is on the damaged page, which no restart
        // would mend. It takes a bit more than half a second for a million items.
        check(&writer, "PRAGMA quick_check(1)").map_err(error)?;
    }
    Ok(writer)
}

/// The agreement where nothing is certain: the one written before, if it may be trusted, or else
/// the one that the index itself tells.
pub(super) fn recover(writer: &Connection, before: Option<Agreed>) -> rusqlite::Result<Agreed> {
    let latest: Option<i64> =
        writer.query_row("SELECT max(datestamp) FROM item", [], |row| row.get(0))?;
    let latest = latest.unwrap_or(i64::MIN);
    let closed: Option<i64> = meta(writer, "answered")?;
    let noted: Option<String> = meta(writer, "answering_since")?;
    let noted = noted.and_then(|noted| noted.parse::<i64>().ok());
    // A garner that does not know the state file may have gone on since it was written.
    let exact = before.filter(|before| noted.is_none_or(|noted| noted <= before.answered));
    let exact = exact.map(|before| before.answered);
    Ok(Agreed {
        answered: closed
            .max(exact)
            .unwrap_or_else(|| answered_before_crash(noted, latest)),
        latest,
        noted: i64::MIN,
        media_types: before.map_or_else(unlike_any, |before| before.media_types.wrapping_add(1)),
        generation: before.map_or(i64::MIN, |before| before.generation),
    })
}

/// How far answers may have gone before an end that was not clean: up to the crash itself, and if the clock
/// has come up behind, up to the last that could have been given under the old one.
fn answered_before_crash(noted: Option<i64>, latest: i64) -> i64 {
    let now = system_seconds();
    let answered = match noted {
        Some(noted) if now < noted => noted.saturating_add(ANSWERING_KEPT_EVERY),
        _ => now,
    };
    answered.max(latest)
}

/// Whatever differs from what a rebuilt index knows is to be stamped now, for it may be an old copy.
pub(super) fn answered_before_loss(agreed: &Agreed) -> i64 {
    agreed.answered.max(system_seconds())
}

/// A number that nobody has seen yet.
fn unlike_any() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(0))
}

fn check_version(version: i64) -> rusqlite::Result<()> {
    match version {
        0 => Err(damage("the tables are missing")),
        older if older < schema::VERSION => Err(damage("it was written by an older garner")),
        _ => Ok(()),
    }
}

pub(super) fn check(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    let found: String = connection.query_row(sql, [], |row| row.get(0))?;
    match found.as_str() {
        "ok" => Ok(()),
        found => Err(damage(found)),
    }
}

fn damage(found: &str) -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    rusqlite::Error::SqliteFailure(code, Some(found.to_owned()))
}

/// Seconds.
pub(super) const ANSWERING_KEPT_EVERY: i64 = 60;
