//! The place of a collection or of packs: a directory, or the objects of a store.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::directory::Directory;
use crate::{Error, NewFile, Objects, Reader};

/// A place that takes files.
#[derive(Debug)]
pub(crate) enum Place {
    Directory(Directory),
    Objects {
        objects: Box<dyn Objects>,
        /// The local directory in which files are filled before they are put.
        spool: Directory,
    },
}

/// A name in a directory, and how many bytes it has if that is known and it is a file.
pub(crate) struct Name<'a> {
    pub(crate) name: &'a str,
    pub(crate) is_directory: bool,
    pub(crate) size: Option<u64>,
}

impl Place {
    pub(crate) fn create(&self) -> Result<NewFile, Error> {
        match self {
            Self::Directory(directory)
            | Self::Objects {
                spool: directory, ..
            } => directory.create(),
        }
    }

    /// Puts a file at a path, in the place of the file that is there.
    pub(crate) fn place(&self, file: NewFile, path: &str) -> Result<(), Error> {
        match self {
            Self::Directory(directory) => directory.place(file, Path::new(path)),
            Self::Objects { objects, .. } => {
                let put = objects.put(path, file.file(), false);
                put.map(|_| ())
                    .map_err(|error| self.error("written", path, error))
            }
        }
    }

    /// Puts a file at a path where nothing is. What is there stays, and the file is given back.
    pub(crate) fn place_new(&self, file: NewFile, path: &str) -> Result<Option<NewFile>, Error> {
        match self {
            Self::Directory(directory) => directory.place_new(file, Path::new(path)),
            Self::Objects { objects, .. } => {
                let put = objects.put(path, file.file(), true);
                match put.map_err(|error| self.error("written", path, error))? {
                    true => Ok(None),
                    false => Ok(Some(file)),
                }
            }
        }
    }

    /// Moves a file to a path where nothing is; whether nothing was.
    pub(crate) fn move_new(&self, from: &str, to: &str) -> Result<bool, Error> {
        match self {
            Self::Directory(directory) => directory.move_new(Path::new(from), Path::new(to)),
            Self::Objects { objects, .. } => {
                let error = |error| self.error("moved", from, error);
                if objects.size(to).map_err(error)?.is_some() {
                    return Ok(false);
                }
                // Killed in between, it is there twice and lost never.
                objects.copy(from, to).map_err(error)?;
                objects.remove(from).map_err(error)?;
                Ok(true)
            }
        }
    }

    /// Moves a file to the same path of another place; whether there was one. Killed in between, it is there twice and
    /// lost never.
    pub(crate) fn transfer(&self, to: &Self, path: &str) -> Result<bool, Error> {
        if self.size(path)?.is_none() {
            return Ok(false);
        }
        if let (Self::Directory(from), Self::Directory(to)) = (self, to)
            && from.move_across(Path::new(path), to)?
        {
            return Ok(true);
        }
        let mut bytes = self.read(path)?;
        let mut file = to.create()?;
        io::copy(&mut bytes, &mut file).map_err(|error| self.error("copied", path, error))?;
        to.place(file, path)?;
        to.sync()?;
        self.remove(path)?;
        Ok(true)
    }

    /// Removes a file; whether there was one.
    pub(crate) fn remove(&self, path: &str) -> Result<bool, Error> {
        match self {
            Self::Directory(directory) => directory.remove(Path::new(path)),
            Self::Objects { objects, .. } => {
                let error = |error| self.error("removed", path, error);
                if objects.size(path).map_err(error)?.is_none() {
                    return Ok(false);
                }
                objects.remove(path).map_err(error)?;
                Ok(true)
            }
        }
    }

    /// Removes the directories above a path as far as they are empty. Where there are only objects, they are gone.
    pub(crate) fn prune(&self, path: &str) -> Result<(), Error> {
        if let Self::Directory(directory) = self {
            directory.prune(Path::new(path))?;
        }
        Ok(())
    }

    /// How many bytes a file has, if it is there.
    pub(crate) fn size(&self, path: &str) -> Result<Option<u64>, Error> {
        match self {
            Self::Directory(directory) => directory.size(Path::new(path)),
            Self::Objects { objects, .. } => {
                let size = objects.size(path);
                size.map_err(|error| self.error("looked at", path, error))
            }
        }
    }

    pub(crate) fn read(&self, path: &str) -> Result<Reader, Error> {
        match self {
            Self::Directory(directory) => {
                let file = directory.read(Path::new(path))?;
                Reader::of_file(file).map_err(|error| self.error("read", path, error))
            }
            Self::Objects { objects, .. } => {
                let reader = objects.get(path);
                reader.map_err(|error| self.error("read", path, error))
            }
        }
    }

    /// Reads at most `most` bytes of a file from an offset on.
    pub(crate) fn read_part(&self, path: &str, from: u64, most: u64) -> Result<Vec<u8>, Error> {
        let part = match self {
            Self::Directory(directory) => part_of(&directory.read(Path::new(path))?, from, most),
            Self::Objects { objects, .. } => objects.get_part(path, from, most),
        };
        part.map_err(|error| self.error("read", path, error))
    }

    /// Calls `see` with each name in a directory. One that is not there has no names.
    pub(crate) fn names(&self, path: &str, mut see: impl FnMut(Name<'_>)) -> Result<(), Error> {
        match self {
            Self::Directory(directory) => directory.names(Path::new(path), |name, is_directory| {
                see(Name {
                    name: &String::from_utf8_lossy(name),
                    is_directory,
                    size: None,
                });
            }),
            Self::Objects { objects, .. } => {
                let listed = objects.names(path, &mut |name, size| {
                    see(Name {
                        name,
                        is_directory: size.is_none(),
                        size,
                    });
                });
                listed.map_err(|error| self.error("listed", path, error))
            }
        }
    }

    pub(crate) fn sync(&self) -> Result<(), Error> {
        match self {
            Self::Directory(directory) => directory.sync(),
            // An object that was put is safe.
            Self::Objects { .. } => Ok(()),
        }
    }

    /// Whether what is written has to have reached the disk before it counts.
    pub(crate) fn is_durable(&self) -> bool {
        match self {
            Self::Directory(directory) => directory.is_durable(),
            Self::Objects { .. } => false,
        }
    }

    /// The path in the file system or in the store, for messages and for people.
    pub(crate) fn absolute(&self, path: &str) -> PathBuf {
        match self {
            Self::Directory(directory) => directory.absolute(Path::new(path)),
            Self::Objects { objects, .. } => Path::new(objects.location()).join(path),
        }
    }

    pub(crate) fn error(&self, action: &'static str, path: &str, error: io::Error) -> Error {
        Error::io(action, &self.absolute(path), error)
    }
}

fn part_of(file: &File, from: u64, most: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len().saturating_sub(from).min(most);
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    file.read_exact_at(&mut bytes, from)?;
    Ok(bytes)
}
