//! The files of a repository's records: one XML file each, at a path that comes from the identifier.

mod name;
mod namespaces;
mod numbering;
mod place;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use self::name::DELETED;
use self::namespaces::Namespaces;
use self::numbering::Numbering;
use self::place::Place;
use crate::directory::{Directory, Durability, lock, with_suffix};
use crate::{Error, NewFile};

/// How record files are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Whether identifiers are parsed into directories; if not, all files lie in the base directory.
    pub parse_id: bool,
    /// How many files a directory has at most, before further ones go to `starting_at_…` in it.
    pub files_per_directory: u64,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            parse_id: true,
            files_per_directory: 5000,
        }
    }
}

/// The record files below one base directory. It is shared by threads; one process writes at a time.
///
/// The path of a new record depends on the number of records before it, so the catalog keeps the path that `write`
/// returns and gives it back the next time.
///
/// ```
/// use store::{Durability, Layout, RecordFiles};
///
/// let directory = tempfile::tempdir()?;
/// let files = RecordFiles::open(directory.path(), Layout::default(), Durability::Page)?;
/// let file = files.write("oai:ilLib:alliance:1234", None, b"<record/>")?;
/// files.sync()?;
/// assert_eq!(file, "ilLib/alliance/1234.xml");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RecordFiles {
    directory: Directory,
    layout: Layout,
    namespaces: Mutex<Namespaces>,
    numbering: Mutex<Numbering>,
}

impl RecordFiles {
    /// Opens a base directory, makes it if need be, and removes what killed runs left half-written.
    pub fn open(base: &Path, layout: Layout, durability: Durability) -> Result<Self, Error> {
        Ok(Self {
            directory: Directory::open(base, durability)?,
            layout,
            namespaces: Mutex::default(),
            numbering: Mutex::new(Numbering::new(layout.files_per_directory)),
        })
    }

    /// Writes the file of a record and returns its path below the base directory. `known` is the path that the
    /// catalog has for it, if it has one.
    pub fn write(
        &self,
        identifier: &str,
        known: Option<&str>,
        xml: &[u8],
    ) -> Result<String, Error> {
        let file = self.fill(identifier, xml)?;
        self.place(file, identifier, known)
    }

    /// Writes the file of a record that is to be placed later.
    pub fn fill(&self, identifier: &str, xml: &[u8]) -> Result<NewFile, Error> {
        let mut file = self.directory.create()?;
        file.write_all(xml)
            .map_err(|error| self.error("written", identifier, error))?;
        Ok(file)
    }

    /// Puts a file that was filled at the path of its record, as `write` does.
    pub fn place(
        &self,
        file: NewFile,
        identifier: &str,
        known: Option<&str>,
    ) -> Result<String, Error> {
        let path = match known {
            Some(known) => known.strip_suffix(DELETED).unwrap_or(known).to_owned(),
            None => self.allot(identifier)?,
        };
        self.directory.place(file, Path::new(&path))?;
        if let Some(known) = known.filter(|known| *known != path) {
            self.directory.remove(Path::new(known))?;
        }
        Ok(path)
    }

    /// Opens the file of a record for reading.
    pub fn read(&self, file: &str) -> Result<File, Error> {
        self.directory.read(Path::new(file))
    }

    /// Removes the file of a record, and directories that are empty then. One that is gone already is no error.
    pub fn remove(&self, file: &str) -> Result<(), Error> {
        let path = Path::new(file);
        // Numbering must not count files in a directory that is being removed.
        let _numbering = lock(&self.numbering);
        self.directory.remove(path)?;
        self.directory.prune(path)?;
        Ok(())
    }

    /// Keeps the file of a record that was deleted, under a name that no longer ends in `.xml`, so that those
    /// who read all such files see only what is there. Returns the new path, or `None` if somebody removed the file.
    pub fn mark_deleted(&self, file: &str) -> Result<Option<String>, Error> {
        if file.ends_with(DELETED) {
            return Ok(Some(file.to_owned()));
        }
        let marked = format!("{file}{DELETED}");
        let path = Path::new(file);
        if self.directory.kind(path)?.is_none() {
            // A run that was killed may have come so far already.
            let is_marked = self.directory.kind(Path::new(&marked))?.is_some();
            return Ok(is_marked.then_some(marked));
        }
        let name = path.file_name().unwrap_or_default();
        self.directory.rename(path, &with_suffix(name, DELETED))?;
        Ok(Some(marked))
    }

    /// Waits until all files written since the last time are safe on the disk, if that is wanted. To be called
    /// before the catalog commits what it knows of them.
    pub fn sync(&self) -> Result<(), Error> {
        self.directory.sync()
    }

    /// The file that was written for a record which the catalog does not know, if there is one.
    pub fn find(&self, identifier: &str) -> Result<Option<String>, Error> {
        let path = self.allot(identifier)?;
        let kind = self.directory.kind(Path::new(&path))?;
        Ok(kind.filter(|kind| kind.is_file()).map(|_| path))
    }

    /// Returns the path of a file in the file system.
    pub fn absolute(&self, file: &str) -> PathBuf {
        self.directory.absolute(Path::new(file))
    }

    fn allot(&self, identifier: &str) -> Result<String, Error> {
        let place = Place::of(identifier, self.layout.parse_id);
        let mut directories = place.directories;
        if let Some(namespace) = &place.namespace {
            let directory = lock(&self.namespaces).directory(namespace, &self.directory)?;
            directories.insert(0, directory);
        }
        lock(&self.numbering).allot(&directories.join("/"), &place.name, &self.directory)
    }

    fn error(&self, action: &'static str, identifier: &str, error: std::io::Error) -> Error {
        Error::io(action, Path::new(identifier), error)
    }
}
