//! One WARC file while it is written: whole records, each a gzip member of its own.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::fs::FlockOperation;

use super::Error;

/// A file whose name ends in `.open`.
#[derive(Debug)]
pub(super) struct OpenFile {
    path: PathBuf,
    out: BufWriter<File>,
    /// The end of the last whole record.
    length: u64,
    /// The record of type `warcinfo` that the others refer to.
    pub(super) info_id: String,
}

impl OpenFile {
    /// Begins a file that must not exist yet.
    pub(super) fn create(path: PathBuf, info_id: String) -> Result<Self, Error> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(|error| Error::file("created", &path, error))?;
        lock(&file, &path)?;
        Ok(Self {
            path,
            out: BufWriter::with_capacity(BUFFER, file),
            length: 0,
            info_id,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Adds a record. If `write` fails, the file ends with the record before.
    pub(super) fn record(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        match self.member(write) {
            Ok(length) => {
                self.length = length;
                Ok(())
            }
            Err(error) => {
                self.take_back()?;
                Err(error)
            }
        }
    }

    /// Waits until all records are safe on the disk.
    pub(super) fn sync(&mut self) -> Result<(), Error> {
        let synced = self
            .out
            .flush()
            .and_then(|()| self.out.get_ref().sync_data());
        synced.map_err(|error| Error::file("written", &self.path, error))
    }

    /// Ends the file and gives it its name.
    pub(super) fn finish(mut self) -> Result<PathBuf, Error> {
        self.sync()?;
        finish(&self.path)
    }

    fn member(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<u64> {
        let mut encoder = GzEncoder::new(&mut self.out, Compression::default());
        write(&mut encoder)?;
        encoder.finish()?;
        // A record is in the file or it is not: none waits in memory, where its failure would show later.
        self.out.flush()?;
        self.out.get_mut().stream_position()
    }

    fn take_back(&mut self) -> io::Result<()> {
        // The rest of the buffer belongs to the record that failed.
        let file = self.out.get_ref().try_clone()?;
        let old = std::mem::replace(&mut self.out, BufWriter::with_capacity(BUFFER, file));
        let (mut file, _) = old.into_parts();
        file.set_len(self.length)?;
        file.seek(SeekFrom::Start(self.length)).map(|_| ())
    }
}

/// Takes the lock that says that a file is being written; it ends with the process.
pub(super) fn lock(file: &File, path: &Path) -> Result<(), Error> {
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).map_err(|_| Error::InUse {
        path: path.to_owned(),
    })
}

/// Gives a whole file the name without `.open`.
pub(super) fn finish(path: &Path) -> Result<PathBuf, Error> {
    let finished = path.with_extension("");
    std::fs::rename(path, &finished).map_err(|error| Error::file("renamed", path, error))?;
    if let Some(directory) = path.parent() {
        sync_directory(directory)?;
    }
    Ok(finished)
}

/// Waits until the names in a directory are safe on the disk.
pub(super) fn sync_directory(directory: &Path) -> Result<(), Error> {
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(|error| Error::file("synced", directory, error))
}

/// The ending of a file's name while it is written.
pub(super) const OPEN: &str = "open";

const BUFFER: usize = 128 * 1024;
