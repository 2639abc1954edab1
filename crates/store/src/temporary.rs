//! The hidden directory in the base directory in which files are written before they get their names.
//!
//! One place instead of one beside each file, so that what a killed process left is found without a walk over
//! a million files. Each process has a directory of its own in it and holds a lock on that, which ends with the
//! process; an unlocked directory is a leftover. If the file system knows files without a name, they get their first one
//! when they are placed, and nothing is left at all.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::Error;
use crate::new_file::{self, NewFile};

/// The directory of one process.
#[derive(Debug)]
pub(crate) struct Temporary {
    all: OwnedFd,
    base: OwnedFd,
    name: String,
    directory: Arc<OwnedFd>,
    next: AtomicU64,
    /// Whether files can be made that have no name.
    nameless: AtomicBool,
}

impl Temporary {
    /// Makes the directory of this process in a base directory.
    pub(crate) fn new(base: &OwnedFd, path: &Path) -> Result<Self, Error> {
        let error = |source: io::Error| Error::io("written", &path.join(NAME), source);
        for _ in 0..ATTEMPTS {
            let (all, directory, name) = match claim(base) {
                Ok(claimed) => claimed,
                // Another process ended or cleaned up at this very moment.
                Err(Errno::NOENT | Errno::AGAIN | Errno::EXIST) => continue,
                Err(errno) => return Err(error(errno.into())),
            };
            let nameless = can_name(&directory).is_ok();
            return Ok(Self {
                all,
                base: base.try_clone().map_err(error)?,
                name,
                directory: Arc::new(directory),
                next: AtomicU64::new(0),
                nameless: AtomicBool::new(nameless),
            });
        }
        Err(error(io::ErrorKind::ResourceBusy.into()))
    }

    /// Makes an empty file that has no place yet.
    pub(crate) fn create(&self) -> Result<NewFile, Error> {
        let name = self.next.fetch_add(1, Ordering::Relaxed).to_string();
        let mode = Mode::from_raw_mode(0o666);
        let open = |name: &str, flags| {
            let flags = OFlags::RDWR | OFlags::CLOEXEC | flags;
            rustix::fs::openat(&self.directory, name, flags, mode)
        };
        let directory = Arc::clone(&self.directory);
        if self.nameless.load(Ordering::Relaxed) {
            match open(".", OFlags::TMPFILE) {
                Ok(file) => return Ok(NewFile::new(file.into(), directory, name, false)),
                // Network file systems do not know how; what is wrong otherwise is wrong with names too.
                Err(_) => self.nameless.store(false, Ordering::Relaxed),
            }
        }
        let file = open(&name, OFlags::CREATE | OFlags::EXCL)
            .map_err(|errno| Error::io("created", Path::new(NAME), errno))?;
        Ok(NewFile::new(file.into(), directory, name, true))
    }
}

/// A mirror is compared with the site it mirrors, so nothing of ours stays in it.
impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = rustix::fs::unlinkat(&self.all, &*self.name, AtFlags::REMOVEDIR);
        let _ = rustix::fs::unlinkat(&self.base, NAME, AtFlags::REMOVEDIR);
    }
}

/// Removes what killed processes left in a base directory.
pub(crate) fn clean(base: &OwnedFd, path: &Path) -> Result<(), Error> {
    let error = |errno: Errno| Error::io("cleaned", &path.join(NAME), errno);
    let all = match beneath::open_child(base, NAME, false) {
        Ok(all) => all,
        Err(Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(error(errno)),
    };
    for name in names(&all).map_err(error)? {
        let Ok(directory) = beneath::open_child(&all, &*name, false) else {
            continue;
        };
        if rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        for file in names(&directory).map_err(error)? {
            rustix::fs::unlinkat(&directory, &*file, AtFlags::empty()).map_err(error)?;
        }
        let _ = rustix::fs::unlinkat(&all, &*name, AtFlags::REMOVEDIR);
    }
    let _ = rustix::fs::unlinkat(base, NAME, AtFlags::REMOVEDIR);
    Ok(())
}

fn claim(base: &OwnedFd) -> Result<(OwnedFd, OwnedFd, String), Errno> {
    match rustix::fs::mkdirat(base, NAME, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno),
    }
    let all = beneath::open_child(base, NAME, false)?;
    let name = random_name()?;
    rustix::fs::mkdirat(&all, &*name, Mode::RWXU)?;
    let directory = beneath::open_child(&all, &*name, false)?;
    rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive)?;
    // Somebody who cleans may have had the lock before us, and then the directory is gone.
    if rustix::fs::fstat(&directory)?.st_nlink == 0 {
        return Err(Errno::NOENT);
    }
    Ok((all, directory, name))
}

/// Makes a nameless file and gives it a name. Not every file system lets one do both, and not every system has `/proc`.
fn can_name(directory: &OwnedFd) -> Result<(), Errno> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE;
    let file = rustix::fs::openat(directory, ".", flags, Mode::RWXU)?;
    new_file::link(&file, directory, "named".as_ref())?;
    rustix::fs::unlinkat(directory, "named", AtFlags::empty())
}

fn random_name() -> Result<String, Errno> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(format!("{:016x}", u64::from_ne_bytes(bytes)))
}

fn names(directory: &OwnedFd) -> Result<Vec<std::ffi::CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

/// No identifier and no URL is given a path that begins with this name.
pub(crate) const NAME: &str = ".garner-tmp";

const ATTEMPTS: usize = 100;
