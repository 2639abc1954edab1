//! The directory of fetched files. Paths are opened beneath it, follow no link and leave no trace outside.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use beneath::DIRECTORY;
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, Timespec, Timestamps};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::Error;
use crate::name::objection;

/// The files of one server, and beside them those that are not whole yet.
pub(crate) struct Tree {
    files: OwnedFd,
    path: PathBuf,
    partial: OwnedFd,
    partial_path: PathBuf,
}

/// A file that is not whole yet. It has no name that anybody would read it by.
pub(crate) struct Part {
    file: File,
    length: u64,
    path: PathBuf,
}

impl Tree {
    /// Opens the place of a server below a directory, and makes it if need be.
    pub(crate) fn open(base: &Path, place: &Path) -> Result<Self, Error> {
        let path = base.join(place);
        let partial_path = base.join(PARTIAL).join(place);
        Ok(Self {
            files: made(&path)?,
            path,
            partial: made(&partial_path)?,
            partial_path,
        })
    }

    /// Takes the place for this process alone; whether nobody else has it. It is given back in the end.
    pub(crate) fn lock(&self) -> bool {
        rustix::fs::flock(&self.partial, FlockOperation::NonBlockingLockExclusive).is_ok()
    }

    /// Returns the absolute form of a path.
    pub(crate) fn absolute(&self, path: &[u8]) -> PathBuf {
        self.path.join(OsStr::from_bytes(path))
    }

    /// How long a file is and when it was changed, if it is there.
    pub(crate) fn look(&self, path: &[u8]) -> Result<Option<(u64, i64)>, Error> {
        let (directory, name) = match self.parent(path, false) {
            Ok(parent) => parent,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(self.error("looked at", path, errno)),
        };
        let stat = rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW);
        match stat {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode).is_file() => {
                Ok(Some((stat.st_size.try_into().unwrap_or(0), stat.st_mtime)))
            }
            Ok(_) => Err(Error::Missing(format!(
                "`{}` is in the way; remove it",
                self.absolute(path).display()
            ))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.error("looked at", path, errno)),
        }
    }

    /// Opens the part of a file that is there, or begins one.
    pub(crate) fn begin(&self, path: &[u8]) -> Result<Part, Error> {
        let name = partial_name(path);
        let shown = self.partial_path.join(&name);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.partial, &name, flags, Mode::from_raw_mode(0o666))
            .map_err(|errno| Error::disk("opened", &shown, errno))?;
        let file = File::from(file);
        let metadata = file.metadata();
        let metadata = metadata.map_err(|error| Error::disk("read", &shown, error))?;
        Ok(Part {
            file,
            length: metadata.len(),
            path: shown,
        })
    }

    /// How much of a file is there that is not whole.
    pub(crate) fn begun(&self, path: &[u8]) -> u64 {
        let name = partial_name(path);
        let stat = rustix::fs::statat(&self.partial, &name, AtFlags::SYMLINK_NOFOLLOW);
        stat.map_or(0, |stat| stat.st_size.try_into().unwrap_or(0))
    }

    /// Makes a file that was whole a part again, because there is more of it now.
    pub(crate) fn take_back(&self, path: &[u8]) -> Result<(), Error> {
        let moved = self.parent(path, false).and_then(|(directory, name)| {
            rustix::fs::renameat(&directory, name, &self.partial, partial_name(path))
        });
        moved.map_err(|errno| self.error("moved", path, errno))
    }

    /// Gives a file that is whole its name, with the time at which it was changed on the server.
    pub(crate) fn place(
        &self,
        part: &Part,
        path: &[u8],
        modified: Option<i64>,
    ) -> Result<(), Error> {
        if let Some(modified) = modified {
            let time = Timespec {
                tv_sec: modified,
                tv_nsec: 0,
            };
            let times = Timestamps {
                last_access: time,
                last_modification: time,
            };
            // A time that the file system cannot keep costs a look more, and nothing else.
            let _ = rustix::fs::futimens(&part.file, &times);
        }
        part.file
            .sync_all()
            .map_err(|error| Error::disk("written", &part.path, error))?;
        let placed = self.parent(path, true).and_then(|(directory, name)| {
            rustix::fs::renameat(&self.partial, partial_name(path), &directory, name)
        });
        placed.map_err(|errno| match errno {
            Errno::NOTDIR | Errno::LOOP | Errno::ISDIR | Errno::EXIST | Errno::NOTEMPTY => {
                Error::Missing(format!(
                    "something else has the name `{}` or lies on the way to it; remove it",
                    self.absolute(path).display()
                ))
            }
            errno => self.error("written", path, errno),
        })
    }

    /// Removes the part of a file that is not resumed.
    pub(crate) fn forget(&self, path: &[u8]) {
        // A leftover is found by the next attempt.
        let _ = rustix::fs::unlinkat(&self.partial, partial_name(path), AtFlags::empty());
    }

    /// How many bytes the disk can take.
    pub(crate) fn free(&self) -> Option<u64> {
        let disk = rustix::fs::fstatvfs(&self.files).ok()?;
        Some(disk.f_bavail.saturating_mul(disk.f_frsize))
    }

    /// The directory of a path, and the last name in it.
    fn parent<'p>(&self, path: &'p [u8], make: bool) -> Result<(OwnedFd, &'p OsStr), Errno> {
        // The caller has checked the names; nothing is created from a mistake.
        let mut names = path.split(|byte| *byte == b'/');
        if names.any(|name| objection(name).is_some()) {
            return Err(Errno::INVAL);
        }
        beneath::open_parent(&self.files, Path::new(OsStr::from_bytes(path)), make)
    }

    fn error(&self, action: &str, path: &[u8], errno: Errno) -> Error {
        match errno {
            Errno::NOTDIR | Errno::LOOP => Error::Missing(format!(
                "a file or a link lies on the way to `{}`; remove it",
                self.absolute(path).display()
            )),
            errno => Error::disk(action, &self.absolute(path), errno),
        }
    }
}

impl Part {
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The last bytes, from an offset on.
    pub(crate) fn tail(&mut self, from: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let read = self.file.seek(SeekFrom::Start(from));
        let read = read.and_then(|_| self.file.read_to_end(&mut bytes));
        read.map_err(|error| Error::disk("read", &self.path, error))?;
        Ok(bytes)
    }

    /// Writes what comes next.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.file.seek(SeekFrom::Start(self.length));
        let written = written.and_then(|_| self.file.write_all(bytes));
        written.map_err(|error| Error::disk("written", &self.path, error))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Begins anew.
    pub(crate) fn clear(&mut self) -> Result<(), Error> {
        let cleared = self.file.set_len(0);
        cleared.map_err(|error| Error::disk("written", &self.path, error))?;
        self.length = 0;
        Ok(())
    }
}

fn made(path: &Path) -> Result<OwnedFd, Error> {
    std::fs::create_dir_all(path).map_err(|error| Error::disk("made", path, error))?;
    rustix::fs::open(path, DIRECTORY, Mode::empty())
        .map_err(|errno| Error::disk("opened", path, errno))
}

/// A name of one length for every path.
fn partial_name(path: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(path))
}

/// No scheme is called so.
const PARTIAL: &str = "partial";

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(base: &Path) -> Tree {
        Tree::open(base, Path::new("ftp/a.example")).unwrap()
    }

    #[test]
    fn a_file_has_its_name_only_when_it_is_whole() {
        let base = tempfile::tempdir().unwrap();
        let tree = tree(base.path());
        let mut part = tree.begin(b"d/e/f.pdf").unwrap();
        part.append(b"%PDF").unwrap();
        drop(part);
        assert_eq!(tree.look(b"d/e/f.pdf").unwrap(), None);
        assert_eq!(tree.begun(b"d/e/f.pdf"), 4);

        let mut part = tree.begin(b"d/e/f.pdf").unwrap();
        assert_eq!((part.length(), part.tail(1).unwrap()), (4, b"PDF".to_vec()));
        part.append(b"-1.4").unwrap();
        tree.place(&part, b"d/e/f.pdf", Some(1000)).unwrap();

        assert_eq!(tree.look(b"d/e/f.pdf").unwrap(), Some((8, 1000)));
        assert_eq!(
            std::fs::read(tree.absolute(b"d/e/f.pdf")).unwrap(),
            b"%PDF-1.4"
        );
        tree.take_back(b"d/e/f.pdf").unwrap();
        assert_eq!(
            (tree.look(b"d/e/f.pdf").unwrap(), tree.begun(b"d/e/f.pdf")),
            (None, 8)
        );
    }

    #[test]
    fn no_path_leads_out() {
        let base = tempfile::tempdir().unwrap();
        let outside = base.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        let tree = tree(base.path());
        std::os::unix::fs::symlink(&outside, tree.absolute(b"link")).unwrap();

        for path in [
            b"../x".as_slice(),
            b"/x",
            b"a//b",
            b"link/x",
            b"",
            b"a/../../x",
        ] {
            let part = tree.begin(path).unwrap();
            assert!(tree.place(&part, path, None).is_err(), "{path:?}");
        }
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
        assert!(tree.look(b"link").is_err() && tree.look(b"link/x").is_err());
    }

    #[test]
    fn one_process_fetches_from_a_server_at_a_time() {
        let base = tempfile::tempdir().unwrap();
        let (one, other) = (tree(base.path()), tree(base.path()));
        assert!(one.lock() && !other.lock());
        drop(one);
        assert!(other.lock());
    }
}
