//! A mirror of a web site: each resource a file, where and how `wget -r -nH` would have put it.

mod path;

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::FileType;

use crate::directory::{Directory, Durability, with_suffix};
use crate::{Error, NewFile};

/// The files of a site below one directory.
///
/// A URL can be a file for one resource and a directory for another, `/a` and `/a/b`. Then the file is kept
/// beside the directory as `a%2F`, and gets its name back when the directory goes.
#[derive(Debug)]
pub struct Mirror {
    directory: Directory,
    home: Option<String>,
}

impl Mirror {
    /// Opens the directory of a mirror, makes it if need be, and removes what killed runs left half-written.
    ///
    /// With a base URL, what other hosts have lies in directories of their names. Without one, the host of a
    /// URL does not count.
    pub fn open(
        directory: &Path,
        base_url: Option<&str>,
        durability: Durability,
    ) -> Result<Self, Error> {
        let home = match base_url {
            Some(url) => Some(path::split(url).ok_or_else(|| not_a_url(url))?.0.to_owned()),
            None => None,
        };
        Ok(Self {
            directory: Directory::open(directory, durability)?,
            home,
        })
    }

    /// The path of a URL, if nothing else is in its way.
    pub fn path(&self, url: &str) -> Result<PathBuf, Error> {
        path::of(url, self.home.as_deref()).ok_or_else(|| not_a_url(url))
    }

    /// Returns the path of a URL's file, if there is one.
    pub fn find(&self, url: &str) -> Result<Option<PathBuf>, Error> {
        let path = self.path(url)?;
        for path in [aside(&path), path] {
            if self.is_kind(&path, FileType::is_file)? {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Writes the file of a URL and returns its path.
    pub fn write(
        &self,
        url: &str,
        bytes: &[u8],
        modified: Option<SystemTime>,
    ) -> Result<PathBuf, Error> {
        let mut file = self.create()?;
        file.write_all(bytes)
            .map_err(|error| Error::io("written", Path::new(url), error))?;
        self.place(file, url, modified)
    }

    /// Makes a file to be filled and then placed.
    pub fn create(&self) -> Result<NewFile, Error> {
        Ok(self.directory.create()?.passing_by())
    }

    /// Puts a file that was filled at the path of a URL and returns the path.
    pub fn place(
        &self,
        file: NewFile,
        url: &str,
        modified: Option<SystemTime>,
    ) -> Result<PathBuf, Error> {
        let path = self.path(url)?;
        if let Some(modified) = modified {
            file.set_modified(modified)
                .map_err(|error| Error::io("dated", Path::new(url), error))?;
        }
        // The usual case of a file that is new, in one step.
        let file = match self.directory.place_beside(file, &path)? {
            Some(file) => file,
            None => {
                self.directory.remove(&aside(&path))?;
                return Ok(path);
            }
        };
        self.clear_way(&path)?;
        let aside = aside(&path);
        if self.is_kind(&path, FileType::is_dir)? {
            self.directory.place(file, &aside)?;
            return Ok(aside);
        }
        self.directory.place(file, &path)?;
        self.directory.remove(&aside)?;
        Ok(path)
    }

    /// Removes the file of a URL, and directories that are empty then. Returns whether there was a file.
    pub fn remove(&self, url: &str) -> Result<bool, Error> {
        let path = self.path(url)?;
        let removed = self.directory.remove(&path)? | self.directory.remove(&aside(&path))?;
        for directory in self.directory.prune(&path)? {
            let aside = aside(&directory);
            if self.is_kind(&aside, FileType::is_file)? {
                let name = directory.file_name().unwrap_or_default();
                self.directory.rename(&aside, name)?;
            }
        }
        Ok(removed)
    }

    /// Waits until all files written since the last time are safe on the disk, if that is wanted.
    pub fn sync(&self) -> Result<(), Error> {
        self.directory.sync()
    }

    /// Moves files aside that stand where this path needs directories.
    fn clear_way(&self, path: &Path) -> Result<(), Error> {
        let mut walked = PathBuf::new();
        let parent = path.parent().unwrap_or(Path::new(""));
        // The usual case, in one step.
        if self.is_kind(parent, FileType::is_dir)? {
            return Ok(());
        }
        for component in parent.components() {
            walked.push(component);
            match self.directory.kind(&walked)? {
                None => return Ok(()),
                Some(kind) if kind.is_file() => {
                    let name = aside(&walked);
                    let name = name.file_name().unwrap_or_default();
                    return self.directory.rename(&walked, name);
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn is_kind(&self, path: &Path, is: impl Fn(FileType) -> bool) -> Result<bool, Error> {
        if path.as_os_str().is_empty() {
            return Ok(is(FileType::Directory));
        }
        match self.directory.kind(path) {
            Ok(kind) => Ok(kind.is_some_and(is)),
            // Below a file there is nothing.
            Err(Error::InTheWay { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Returns the path for a file whose name a directory has. Servers refuse an encoded slash, so no URL leads there.
fn aside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().as_bytes();
    // A name that is nearly as long as can be has no room for more.
    let name = &name[..name.len().min(LONGEST_NAME - ASIDE.len())];
    path.with_file_name(with_suffix(OsStr::from_bytes(name), ASIDE))
}

const ASIDE: &str = "%2F";
/// The longest name that file systems take, in bytes.
const LONGEST_NAME: usize = 255;

fn not_a_url(url: &str) -> Error {
    Error::NotAUrl {
        url: url.to_owned(),
    }
}
