//! The tables, and how a connection to them is opened.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::state_file::private_file;

pub(super) const VERSION: i64 = 4;

/// `former_types`: the media types a live item had before, comma-separated, so that its tombstone can be
/// found in every set it was in. `shown`: whether an origin was seen to give it to somebody without
/// credentials; null before it was asked. `missed`: whether a requester went without it because the origin
/// did not serve it just then. `created`: the datestamp with which it appeared; null where it is not
/// known. `seen_by`: who, by a keyed hash, was given an item that is not shown to all.
pub(super) const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE media_type (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, live INTEGER NOT NULL DEFAULT 0);
CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    path BLOB NOT NULL,
    datestamp INTEGER NOT NULL,
    state INTEGER NOT NULL,
    media_type INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime INTEGER NOT NULL,
    mark INTEGER NOT NULL,
    dynamic INTEGER NOT NULL,
    former_types TEXT,
    shown INTEGER,
    missed INTEGER NOT NULL DEFAULT 0,
    created INTEGER
);
CREATE TABLE seen_by (
    item INTEGER NOT NULL,
    who INTEGER NOT NULL,
    PRIMARY KEY (item, who)
) WITHOUT ROWID;
CREATE TABLE plugin_result (
    item INTEGER NOT NULL,
    plugin TEXT NOT NULL,
    mark INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    PRIMARY KEY (item, plugin)
) WITHOUT ROWID;
";

/// Made after the first load, when sorting once is cheaper than inserting in order.
pub(super) const INDEXES: &str = "
CREATE UNIQUE INDEX item_path ON item (path, state = 2);
CREATE INDEX item_datestamp ON item (datestamp, id, state);
CREATE TABLE membership (
    media_type INTEGER NOT NULL,
    datestamp INTEGER NOT NULL,
    item INTEGER NOT NULL,
    PRIMARY KEY (media_type, datestamp, item)
) WITHOUT ROWID;
INSERT INTO membership (media_type, datestamp, item)
    SELECT media_type, datestamp, id FROM item ORDER BY 1, 2, 3;
INSERT OR IGNORE INTO membership (media_type, datestamp, item)
    SELECT former.value, item.datestamp, item.id
    FROM item, json_each('[' || item.former_types || ']') AS former
    WHERE item.former_types IS NOT NULL AND (item.state = 1 OR item.media_type IN
        (SELECT id FROM media_type WHERE name LIKE 'record/%'));
UPDATE media_type SET live =
    (SELECT count(*) FROM item WHERE item.media_type = media_type.id AND item.state = 0);
";

/// Opens a connection for what must not be lost, not even to a power cut.
pub(super) fn open_durably(path: &Path, cache_mib: u32) -> rusqlite::Result<Connection> {
    let connection = open(path, cache_mib)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

/// Opens a connection for work beside others. A file that is not there is not made: an empty one is no index.
pub(super) fn open(path: &Path, cache_mib: u32) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(std::time::Duration::from_secs(30))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "cache_size", -i64::from(cache_mib) * 1024)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // Without it SQLite parses a statement anew when a limit or a bound is another one.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Makes a new database for a load: nobody else sees it, and it counts only once it is complete.
pub(super) fn create(path: &Path) -> rusqlite::Result<Connection> {
    // SQLite would let everybody read it. What it cannot open it will say.
    let _ = private_file(path);
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "page_size", 8192)?;
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.pragma_update(None, "cache_size", -32 * 1024)?;
    connection.execute_batch(TABLES)?;
    connection.pragma_update(None, "user_version", VERSION)?;
    Ok(connection)
}
