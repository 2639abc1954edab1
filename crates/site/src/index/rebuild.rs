//! Rebuilding: what can be read of an old or damaged index goes into a new one, above all its tombstones
//! and the datestamps that were given out. The scan that follows mends the rest.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};

use super::load::{fresh_secret, put_in_place, remove};
use super::{FILE, OLD_FILE, OWN_SETS, UNFINISHED_FILE, meta, schema, set_meta};
use crate::Error;

/// Puts a new index in the place of the old one. The agreement must be held, so that nobody writes into the old
/// one meanwhile or opens it; who has it open keeps it until then. Tokens stay good if the secret is given or
/// can be read.
pub(super) fn rebuild(data: &Path, secret: Option<&[u8]>) -> Result<(), Error> {
    let (old, unfinished, kept) = (
        data.join(FILE),
        data.join(UNFINISHED_FILE),
        data.join(OLD_FILE),
    );
    let data_error = |source| Error::Data {
        path: data.to_owned(),
        source,
    };
    remove(&unfinished).map_err(data_error)?;
    let rescued = rescue(&old, &unfinished, secret).map_err(|source| Error::Index {
        path: unfinished.clone(),
        source,
    })?;
    match keep(&old, &kept) {
        Ok(()) => tracing::warn!("the old index is kept as `{}`", kept.display()),
        Err(error) => tracing::warn!("the old index could not be kept: {error}"),
    }
    put_in_place(&unfinished, &old).map_err(data_error)?;
    tracing::warn!(
        "the index was rebuilt; {rescued} items and tombstones of the old one were kept"
    );
    Ok(())
}

/// A second name rather than a copy: to open and close the file besides SQLite would drop the locks that other
/// connections of this process have on it.
fn keep(old: &Path, kept: &Path) -> std::io::Result<()> {
    remove(kept)?;
    std::fs::hard_link(old, kept).or_else(|_| std::fs::copy(old, kept).map(drop))
}

/// Copies rows from both ends, so that one bad page in the middle costs only what is on it.
fn rescue(old: &Path, new: &Path, secret: Option<&[u8]>) -> rusqlite::Result<u64> {
    let target = schema::create(new)?;
    target.execute_batch("BEGIN; CREATE UNIQUE INDEX rescue_path ON item (path, state = 2);")?;
    let mut rescued = 0;
    let mut secret = secret.map(<[u8]>::to_vec);
    if let Ok(source) = Connection::open_with_flags(old, OpenFlags::SQLITE_OPEN_READ_WRITE) {
        secret = secret.or_else(|| meta(&source, "secret").ok().flatten());
        copy(&source, "SELECT id, name FROM media_type", |row| {
            let sql = "INSERT OR IGNORE INTO media_type (id, name) VALUES (?1, ?2)";
            let (id, name): (i64, String) = (row.get(0)?, row.get(1)?);
            target.execute(sql, params![id, name])
        });
        let columns = common_columns(&source);
        for order in ["ASC", "DESC"] {
            let names = columns.join(", ");
            let sql = format!("SELECT {names} FROM item NOT INDEXED ORDER BY id {order}");
            rescued += copy(&source, &sql, |row| copy_item(row, &columns, &target));
        }
        if let Ok(Some(since)) = meta::<i64>(&source, "changes_since") {
            set_meta(&target, "changes_since", &since)?;
        }
        let sql = format!(
            "SELECT item, plugin, mark, outcome FROM plugin_result WHERE plugin = '{OWN_SETS}'"
        );
        copy(&source, &sql, |row| {
            let sql = "INSERT OR IGNORE INTO plugin_result (item, plugin, mark, outcome) VALUES (?1, ?2, ?3, ?4)";
            let values: [rusqlite::types::Value; 4] =
                [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
            target.prepare_cached(sql)?.execute(values)
        });
        for key in [
            "site_url",
            "records",
            "areas",
            "answering_since",
            "programs",
        ] {
            if let Ok(Some(value)) = meta::<String>(&source, key) {
                set_meta(&target, key, &value)?;
            }
        }
    }
    set_meta(&target, "secret", &secret.unwrap_or_else(fresh_secret))?;
    target.execute_batch("DROP INDEX rescue_path;")?;
    target.execute_batch(schema::INDEXES)?;
    target.execute_batch("COMMIT")?;
    Ok(rescued)
}

fn copy_item(
    row: &rusqlite::Row<'_>,
    columns: &[&str],
    target: &Connection,
) -> rusqlite::Result<usize> {
    let names = columns.join(", ");
    let places = vec!["?"; columns.len()].join(", ");
    let sql = format!("INSERT OR IGNORE INTO item ({names}) VALUES ({places})");
    let values: Vec<rusqlite::types::Value> = (0..columns.len())
        .map(|column| row.get(column))
        .collect::<Result<_, _>>()?;
    target
        .prepare_cached(&sql)?
        .execute(rusqlite::params_from_iter(values))
}

/// The columns of an item that the old index has too; it may be of an earlier version.
fn common_columns(source: &Connection) -> Vec<&'static str> {
    let exists = |column: &&str| {
        let sql = format!("SELECT {column} FROM item LIMIT 0");
        source.prepare(&sql).is_ok()
    };
    COLUMNS.into_iter().filter(exists).collect()
}

/// Copies until the end or the first row that cannot be read.
fn copy(
    source: &Connection,
    sql: &str,
    mut take: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<usize>,
) -> u64 {
    let mut copied = 0;
    let mut walk = || -> rusqlite::Result<()> {
        let mut statement = source.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            copied += take(row)? as u64;
        }
        Ok(())
    };
    if let Err(error) = walk() {
        tracing::warn!("a part of the old index cannot be read: {error}");
    }
    copied
}

const COLUMNS: [&str; 13] = [
    "id",
    "path",
    "datestamp",
    "state",
    "media_type",
    "size",
    "mtime",
    "mark",
    "dynamic",
    "former_types",
    "shown",
    "missed",
    "created",
];
