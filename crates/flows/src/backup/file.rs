//! One file goes into the backup.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::Context;
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use super::list::Entry;
use super::place::{Place, object_name};
use super::walk::Found;

/// Puts the bytes of files into a place, each once.
pub(super) struct Keeper<'a> {
    place: &'a Place,
    /// Objects of an interrupted backup may be damaged, because nobody waited until the disk had them.
    is_resumed: bool,
    scratch: &'a Path,
}

/// The outcome of copying a file.
pub(super) enum Kept {
    /// It was removed meanwhile.
    Gone,
    /// Its bytes were there already.
    There(Entry),
    /// Its bytes are new.
    Copied(Entry),
}

impl<'a> Keeper<'a> {
    pub(super) fn new(place: &'a Place, is_resumed: bool, scratch: &'a Path) -> Self {
        Self {
            place,
            is_resumed,
            scratch,
        }
    }

    pub(super) fn keep(&mut self, found: &Found) -> anyhow::Result<Kept> {
        let file = match File::open(&found.place) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Kept::Gone),
            Err(error) => return Err(error.into()),
        };
        let before = state(&file)?;
        let (sha256, size) = digest(&file)?;
        let mut is_copied = self.put(&file, &sha256, size)?;
        if state(&file)? == before {
            let entry = Entry::new(found, sha256, size);
            return Ok(match is_copied {
                true => Kept::Copied(entry),
                false => Kept::There(entry),
            });
        }
        // Somebody writes to it: what it holds at some moment is copied aside first.
        if is_copied {
            self.place.remove(&object_name(&sha256))?;
        }
        let mut aside = tempfile::tempfile_in(self.scratch).context("no copy can be made")?;
        (&file).rewind()?;
        io::copy(&mut &file, &mut aside)?;
        let (sha256, size) = digest(&aside)?;
        is_copied = self.put(&aside, &sha256, size)?;
        let entry = Entry::new(found, sha256, size);
        Ok(match is_copied {
            true => Kept::Copied(entry),
            false => Kept::There(entry),
        })
    }

    /// Puts a file that nobody else knows; its digest and size.
    pub(super) fn keep_file(&mut self, file: &File) -> anyhow::Result<(String, u64)> {
        let (sha256, size) = digest(file)?;
        self.put(file, &sha256, size)?;
        Ok((sha256, size))
    }

    /// Puts bytes unless they are there; whether they were put.
    fn put(&self, file: &File, sha256: &str, size: u64) -> anyhow::Result<bool> {
        let name = object_name(sha256);
        if self.place.size(&name)? == Some(size)
            && (!self.is_resumed || self.is_whole(&name, sha256))
        {
            return Ok(false);
        }
        (&*file).rewind()?;
        self.place.put(&name, file)?;
        Ok(true)
    }

    fn is_whole(&self, name: &str, sha256: &str) -> bool {
        let found = self.place.get(name).ok().and_then(|mut bytes| {
            let mut digest = Sha256::new();
            io::copy(&mut bytes, &mut HashWriter(&mut digest)).ok()?;
            Some(HEXLOWER.encode(&digest.finalize()))
        });
        found.as_deref() == Some(sha256)
    }
}

/// The digest and the size of a file.
fn digest(mut file: &File) -> anyhow::Result<(String, u64)> {
    file.rewind()?;
    let mut digest = Sha256::new();
    let size = io::copy(&mut file, &mut HashWriter(&mut digest))?;
    Ok((HEXLOWER.encode(&digest.finalize()), size))
}

fn state(file: &File) -> io::Result<(u64, i64, i64)> {
    let metadata = file.metadata()?;
    Ok((metadata.len(), metadata.mtime(), metadata.mtime_nsec()))
}

/// Copies bytes and returns their digest and number.
pub(super) fn copy_digested(
    from: &mut impl Read,
    to: &mut impl Write,
) -> io::Result<(String, u64)> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 128 * 1024];
    let mut all = 0;
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        digest.update(&buffer[..read]);
        to.write_all(&buffer[..read])?;
        all += read as u64;
    }
    Ok((HEXLOWER.encode(&digest.finalize()), all))
}

struct HashWriter<'a>(&'a mut Sha256);

impl Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
