//! The present place of a root: a directory, or a single file that is mounted.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode};
use rustix::io::Errno;

use beneath::DIRECTORY;

/// The directory or file that a root is at the moment.
#[derive(Debug)]
pub(super) struct Place {
    /// All links resolved.
    pub(super) path: PathBuf,
    pub(super) identity: (u64, u64),
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// A directory that is held open.
    LockedAgreement(OwnedFd),
    /// A directory that is opened when it is needed: a server may have more mounts than descriptors.
    Directory,
    File,
}

/// Nothing is at the place of a root. This was said when it was noticed.
#[derive(Debug, thiserror::Error)]
#[error("`{}` is away", .0.display())]
struct Away(PathBuf);

impl Place {
    /// Opens a directory and holds it.
    pub(super) fn hold(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let directory = rustix::fs::open(&path, DIRECTORY, Mode::empty())?;
        let stat = rustix::fs::fstat(&directory)?;
        Ok(Self {
            path,
            identity: (stat.st_dev, stat.st_ino),
            kind: Kind::LockedAgreement(directory),
        })
    }

    /// Finds what is mounted, and makes sure that a directory can be opened.
    pub(super) fn find(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let stat = rustix::fs::stat(&path)?;
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            _ => {
                rustix::fs::open(&path, DIRECTORY, Mode::empty())?;
                Kind::Directory
            }
        };
        Ok(Self {
            path,
            identity: (stat.st_dev, stat.st_ino),
            kind,
        })
    }

    pub(super) fn is_file(&self) -> bool {
        matches!(self.kind, Kind::File)
    }

    /// A descriptor to begin at. Below a file there is nothing.
    pub(super) fn directory(&self) -> io::Result<OwnedFd> {
        match &self.kind {
            Kind::LockedAgreement(directory) => directory.try_clone(),
            Kind::Directory => self.open(),
            Kind::File => Err(Errno::NOTDIR.into()),
        }
    }

    /// A descriptor of its own to read the names with. That the place itself cannot be opened says nothing about
    /// what was there, so the error is never one that means a missing file.
    pub(super) fn open(&self) -> io::Result<OwnedFd> {
        rustix::fs::open(&self.path, DIRECTORY, Mode::empty()).map_err(io::Error::other)
    }
}

/// The error of a root whose place is empty.
pub(super) fn away(path: &Path) -> io::Error {
    io::Error::other(Away(path.to_owned()))
}

/// Whether an error only says what was said before: that a root is away.
pub(crate) fn is_away(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Away>())
}
