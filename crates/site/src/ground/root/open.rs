//! Opening a file for reading: without following links, or only where they may lead.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;

use beneath::FILE;
use rustix::fs::{FileType, Mode, OFlags};

use super::{ANYONE_READS, Root, is_away, is_closed_mode, is_link_error};
use crate::config::Symlinks;
use crate::{Facts, SitePath};

/// A file that was opened for reading.
#[derive(Debug)]
pub struct Opened {
    /// The file.
    pub file: File,
    /// The facts of this very file.
    pub facts: Facts,
    /// Where it really is below the root; the same as asked for unless a link led there, or out of the root.
    pub path: SitePath,
    /// The name it really has, wherever a link led.
    pub name: Vec<u8>,
}

/// Why nothing was opened.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum OpenError {
    Missing,
    Forbidden,
    Directory(SitePath),
    /// A symbolic link is on the way; only seen inside of this file.
    Link,
    Io(io::Error),
}

impl Root {
    /// Opens a file for reading, as a GET does. The rules on names must have been asked before.
    pub fn open_file(&self, path: &SitePath, symlinks: Symlinks) -> Result<Opened, OpenError> {
        let place = self.place().map_err(OpenError::of)?;
        if symlinks == Symlinks::Every || (place.is_file() && self.local(path).is_empty()) {
            return self.open_through_links(path);
        }
        // Where all links are followed, those on the way would not be noticed.
        if symlinks != Symlinks::All {
            match self.open_without_links(path) {
                Err(OpenError::Link) => {}
                result => return result,
            }
        }
        let target = self.below(place.path.clone(), path);
        let target = target
            .canonicalize()
            .map_err(|error| not_a_link(OpenError::of(error)))?;
        match (symlinks, self.inside(&target)) {
            (Symlinks::Inside | Symlinks::All, Some(inside)) => self.open_without_links(&inside),
            (Symlinks::All, None) => {
                let name = target.file_name().unwrap_or_default().as_bytes().to_vec();
                let file = rustix::fs::open(&target, FILE, Mode::empty())
                    .map_err(|error| OpenError::of(error.into()))?;
                self.check(File::from(file), path.clone(), name)
            }
            _ => Err(OpenError::Forbidden),
        }
    }

    /// Opens a file wherever links lead; it keeps the name that was asked for.
    fn open_through_links(&self, path: &SitePath) -> Result<Opened, OpenError> {
        let place = self.below(self.given.clone(), path);
        let flags = FILE.difference(OFlags::NOFOLLOW);
        let file = rustix::fs::open(&place, flags, Mode::empty())
            .map_err(|error| not_a_link(OpenError::of(error.into())))?;
        self.check(File::from(file), path.clone(), path.name().to_vec())
    }

    fn open_without_links(&self, path: &SitePath) -> Result<Opened, OpenError> {
        if self.local(path).is_empty() {
            return Err(OpenError::Directory(path.clone()));
        }
        let (parent, name) = self.locate(path).map_err(OpenError::of)?;
        let fd = beneath::open_file(&parent, name).map_err(|error| OpenError::of(error.into()))?;
        self.check(File::from(fd), path.clone(), name.to_vec())
    }

    fn check(&self, file: File, path: SitePath, name: Vec<u8>) -> Result<Opened, OpenError> {
        let stat = rustix::fs::fstat(&file).map_err(|error| OpenError::of(error.into()))?;
        // Where another server decides, what could be opened may be read.
        let closed = |closed: bool| closed && self.symlinks != Symlinks::Every;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if closed(stat.st_mode & ANYONE_READS == 0) => {
                Err(OpenError::Forbidden)
            }
            FileType::RegularFile => Ok(Opened {
                file,
                facts: Facts::of(&stat),
                path,
                name,
            }),
            FileType::Directory if closed(is_closed_mode(stat.st_mode)) => {
                Err(OpenError::Forbidden)
            }
            FileType::Directory => Err(OpenError::Directory(path)),
            _ => Err(OpenError::Forbidden),
        }
    }
}

impl OpenError {
    fn of(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename => Self::Missing,
            io::ErrorKind::PermissionDenied => Self::Forbidden,
            _ if is_link_error(&error) => Self::Link,
            _ if is_away(&error) => Self::Missing,
            _ => Self::Io(error),
        }
    }
}

/// Where links were followed there was none after all: a file stands where a directory was wanted.
fn not_a_link(error: OpenError) -> OpenError {
    match error {
        OpenError::Link => OpenError::Missing,
        error => error,
    }
}
