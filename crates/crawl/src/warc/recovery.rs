//! Recovers files of killed writers: they still end in `.open`, perhaps with half a record at their end.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;

use super::Error;
use super::file::{self, OPEN};

/// How far the records are that were committed elsewhere: a file of the writer, and its length then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The name of the file, without `.open`.
    pub file: String,
    /// Its length in bytes.
    pub length: u64,
}

/// Finishes what killed writers of this prefix left in a directory. Behind the position nothing is kept: the
/// records there will be written again.
pub(super) fn recover(
    directory: &Path,
    prefix: &str,
    committed: Option<&Position>,
) -> Result<(), Error> {
    let mut names = open_files(directory, prefix)?;
    names.sort();
    for name in names {
        let path = directory.join(&name);
        let file = OpenOptions::new().read(true).write(true).open(&path);
        let file = file.map_err(|error| Error::file("opened", &path, error))?;
        if file::lock(&file, &path).is_err() {
            // Another process is at work on it.
            continue;
        }
        let finished = name.strip_suffix(&format!(".{OPEN}")).unwrap_or(&name);
        let most = match committed {
            Some(position) if position.file.as_str() < finished => 0,
            Some(position) if position.file == finished => position.length,
            _ => u64::MAX,
        };
        mend(&file, &path, most).map_err(|error| Error::file("repaired", &path, error))?;
        settle(&file, &path)?;
    }
    Ok(())
}

/// Cuts off what is behind the last whole record and behind `most` bytes.
fn mend(file: &File, path: &Path, most: u64) -> io::Result<()> {
    let length = file.metadata()?.len();
    let whole = match most {
        // Committed bytes were synced first, so they are there.
        most if most <= length => most,
        _ => whole_members(path)?.0,
    };
    if whole < length {
        file.set_len(whole)?;
        file.sync_all()?;
    }
    Ok(())
}

/// Finishes a file; one that says nothing but who wrote it is removed.
fn settle(file: &File, path: &Path) -> Result<(), Error> {
    let empty = file.metadata().is_ok_and(|metadata| metadata.len() == 0);
    let members = match empty {
        true => 0,
        false => {
            whole_members(path)
                .map_err(|error| Error::file("read", path, error))?
                .1
        }
    };
    if members < 2 {
        return std::fs::remove_file(path).map_err(|error| Error::file("removed", path, error));
    }
    file::finish(path).map(|_: PathBuf| ())
}

/// Returns the end of the last whole gzip member, and the number of members.
fn whole_members(path: &Path) -> io::Result<(u64, u64)> {
    let mut reader = BufReader::with_capacity(128 * 1024, File::open(path)?);
    let (mut end, mut members) = (0, 0);
    while !reader.fill_buf()?.is_empty() {
        // The decoder checks the length and the checksum of the member.
        let mut decoder = GzDecoder::new(&mut reader);
        if io::copy(&mut decoder, &mut io::sink()).is_err() {
            break;
        }
        end = reader.stream_position()?;
        members += 1;
    }
    Ok((end, members))
}

fn open_files(directory: &Path, prefix: &str) -> Result<Vec<String>, Error> {
    let error = |error| Error::file("listed", directory, error);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(error)? {
        let entry = entry.map_err(error)?;
        let is_file = entry.file_type().is_ok_and(|file_type| file_type.is_file());
        let name = entry.file_name().into_string().unwrap_or_default();
        let ours = name.strip_prefix(prefix).is_some_and(|rest| {
            rest.starts_with('-') && rest.ends_with(&format!(".warc.gz.{OPEN}"))
        });
        if is_file && ours {
            names.push(name);
        }
    }
    Ok(names)
}
