//! The first load: a new index is written beside its place and takes it in one step when it is complete.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};

use super::sharing::IndexLock;
use super::{FILE, Index, MediaTypeTable, UNFINISHED_FILE, schema, set_meta};
use crate::follow::horizon::system_seconds;
use crate::{Error, Facts, SitePath};

/// Writes a new index.
#[derive(Debug)]
pub(crate) struct Loader {
    data: PathBuf,
    unfinished: PathBuf,
    connection: Connection,
    media_types: MediaTypeTable,
    lock: IndexLock,
    now: i64,
}

impl Loader {
    pub(super) fn new(data: &Path, lock: IndexLock) -> Result<Self, Error> {
        let unfinished = data.join(UNFINISHED_FILE);
        remove(&unfinished).map_err(|source| Error::Data {
            path: data.to_owned(),
            source,
        })?;
        let error = |source| Error::Index {
            path: unfinished.clone(),
            source,
        };
        let connection = schema::create(&unfinished).map_err(error)?;
        set_meta(&connection, "secret", &fresh_secret()).map_err(error)?;
        connection.execute_batch("BEGIN").map_err(error)?;
        Ok(Self {
            data: data.to_owned(),
            unfinished,
            connection,
            media_types: MediaTypeTable::default(),
            lock,
            now: system_seconds(),
        })
    }

    /// Adds a file. Nobody has been answered yet, so its datestamp is its modification time.
    pub(crate) fn add(
        &mut self,
        path: &SitePath,
        facts: &Facts,
        media_type: &str,
        dynamic: bool,
        shown: Option<bool>,
    ) -> Result<(), Error> {
        self.insert(path, facts, media_type, dynamic, shown)
            .map_err(|source| self.error(source))
    }

    fn insert(
        &mut self,
        path: &SitePath,
        facts: &Facts,
        media_type: &str,
        dynamic: bool,
        shown: Option<bool>,
    ) -> rusqlite::Result<()> {
        let media_type = self.media_types.intern(&self.connection, media_type)?;
        let datestamp = oai::Datestamp::from_seconds(facts.mtime.min(self.now)).seconds();
        let sql =
            "INSERT INTO item (path, datestamp, state, media_type, size, mtime, mark, dynamic, shown, created)
                   VALUES (?1, ?2, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?2)";
        self.connection.prepare_cached(sql)?.execute(params![
            path.as_bytes(),
            datestamp,
            media_type,
            facts.size as i64,
            facts.mtime,
            facts.mark,
            dynamic,
            shown,
        ])?;
        Ok(())
    }

    /// Completes the index and puts it in its place.
    pub(crate) fn finish(self) -> Result<Box<Index>, Error> {
        // From now on the index can answer, so what turns up later is late.
        let answered = system_seconds();
        let complete = || -> rusqlite::Result<()> {
            self.connection.execute_batch(schema::INDEXES)?;
            set_meta(&self.connection, "answered", &answered)?;
            set_meta(&self.connection, "changes_since", &answered)?;
            self.connection.execute_batch("COMMIT")
        };
        complete().map_err(|source| self.error(source))?;
        drop(self.connection);
        let place = self.data.join(FILE);
        put_in_place(&self.unfinished, &place).map_err(|source| Error::Data {
            path: self.data.clone(),
            source,
        })?;
        Index::open_existing(&self.data, self.lock, false).map(Box::new)
    }

    fn error(&self, source: rusqlite::Error) -> Error {
        Error::Index {
            path: self.unfinished.clone(),
            source,
        }
    }
}

/// Renames a complete file into its place so that it is there whole or not at all.
pub(super) fn put_in_place(unfinished: &Path, place: &Path) -> std::io::Result<()> {
    File::open(unfinished)?.sync_all()?;
    for leftover in ["-wal", "-shm"] {
        let mut name = place.as_os_str().to_owned();
        name.push(leftover);
        remove(Path::new(&name))?;
    }
    fs::rename(unfinished, place)?;
    let directory = place.parent().unwrap_or(Path::new("."));
    File::open(directory)?.sync_all()
}

pub(super) fn remove(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

pub(super) fn fresh_secret() -> Vec<u8> {
    let mut secret = vec![0; 32];
    let read = File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut secret));
    if read.is_err() {
        // Tokens only need to differ between repositories; nothing is disclosed to who forges one.
        secret = format!("{:?}", std::time::SystemTime::now()).into_bytes();
    }
    secret
}
