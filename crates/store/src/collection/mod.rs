//! The collection of documents: one directory for each number, with the document, what is known of it, and its text.
//!
//! Number 1234567 lies in `001/234/567`: `001.234.567.pdf`, `001.234.567.pdf.met` and `001.234.567.txt`. Numbers from
//! a thousand million on have more groups of three, so that no directory ever has more than a thousand others.

mod files;
mod greatest;
mod name;
mod same;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::directory::{Directory, Durability};
use crate::{Error, NewFile, Objects, Reader, temporary};

pub use self::files::{CollectionFile, CollectionFiles, FileKind};
use self::name::{directory_of, file_of, is_extension};
use self::same::is_same;
use crate::place::Place;

/// The files of documents below one directory, or in a store of objects. It is shared by threads and by processes.
///
/// ```
/// use std::io::Write;
/// use store::{Collection, Durability};
///
/// let directory = tempfile::tempdir()?;
/// let collection = Collection::open(directory.path(), Durability::Page)?;
/// let mut file = collection.create()?;
/// file.write_all(b"%PDF-1.4")?;
/// let path = collection.place(1234567, "pdf", file)?;
/// collection.sync()?;
/// assert_eq!(path, "001/234/567/001.234.567.pdf");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Collection {
    place: Place,
}

impl Collection {
    /// Opens a collection, makes its directory if need be, and removes what killed processes left half-written.
    pub fn open(directory: &Path, durability: Durability) -> Result<Self, Error> {
        Ok(Self {
            place: Place::Directory(Directory::open(directory, durability)?),
        })
    }

    /// Opens a collection that is there, for those who only read it: nothing is made and nothing removed.
    pub fn existing(directory: &Path) -> Result<Self, Error> {
        Ok(Self {
            place: Place::Directory(Directory::existing(directory, Durability::None)?),
        })
    }

    /// A collection among the objects of a store. Files are filled in a directory on this machine first.
    pub fn of_objects(objects: Box<dyn Objects>, spool: &Path) -> Result<Self, Error> {
        let spool = Directory::open(spool, Durability::None)?;
        Ok(Self {
            place: Place::Objects { objects, spool },
        })
    }

    /// The path of the text of a document: `001/234/567/001.234.567.txt`.
    pub fn text_path(number: i64) -> String {
        Self::relative_path(number, TEXT)
    }

    /// The path of a document: `001/234/567/001.234.567.pdf`.
    pub fn relative_path(number: i64, extension: &str) -> String {
        format!("{}/{}", directory_of(number), file_of(number, extension))
    }

    /// Makes a file to be filled and then placed.
    pub fn create(&self) -> Result<NewFile, Error> {
        self.place.create()
    }

    /// Puts a document that was filled at the path of its number, and returns the path. One with the same bytes may lie
    /// there already, placed by a process that was killed; one with others stays, and that is an error.
    pub fn place(&self, number: i64, extension: &str, file: NewFile) -> Result<String, Error> {
        let path = checked(number, extension)?;
        if let Some(file) = self.place.place_new(file, &path)? {
            self.place_again(file, &path)?;
        }
        Ok(path)
    }

    /// Deals with a file that is where a new one is due.
    fn place_again(&self, file: NewFile, path: &str) -> Result<(), Error> {
        let error = |error| Error::io("read", &self.absolute(path), error);
        let mut there = self.read(path)?;
        // A loss of power leaves files that have their names and not yet their bytes.
        if there.length() == 0 {
            return self.place.place(file, path);
        }
        match is_same(file.file(), &mut there).map_err(error)? {
            true => Ok(()),
            false => Err(Error::Occupied {
                path: self.absolute(path),
            }),
        }
    }

    /// Moves a document to the path of another number where no file is; whether none was.
    pub fn renumber(&self, path: &str, number: i64, extension: &str) -> Result<bool, Error> {
        let to = checked(number, extension)?;
        let moved = self.place.move_new(path, &to)?;
        self.place.prune(path)?;
        Ok(moved)
    }

    /// Takes a file out of the collection without losing it, and returns its path below `set-aside`.
    pub fn set_aside(&self, path: &str) -> Result<String, Error> {
        for attempt in 0_u32.. {
            let to = match attempt {
                0 => format!("{SET_ASIDE}/{path}"),
                _ => format!("{SET_ASIDE}/{path}.{attempt}"),
            };
            if self.place.move_new(path, &to)? {
                self.place.prune(path)?;
                return Ok(to);
            }
        }
        let taken = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
        Err(Error::io("set aside", &self.absolute(path), taken))
    }

    /// Writes what is known of a document beside it: `001.234.567.pdf.met`.
    pub fn write_metadata(
        &self,
        number: i64,
        extension: &str,
        metadata: &[u8],
    ) -> Result<String, Error> {
        let path = format!("{}{METADATA}", checked(number, extension)?);
        self.write(path, metadata)
    }

    /// Writes the text of a document beside it: `001.234.567.txt`.
    pub fn write_text(&self, number: i64, text: &[u8]) -> Result<String, Error> {
        self.write(checked(number, TEXT)?, text)
    }

    /// Puts a text that was filled beside its document.
    pub fn place_text(&self, number: i64, file: NewFile) -> Result<String, Error> {
        let path = checked(number, TEXT)?;
        self.place.place(file, &path)?;
        Ok(path)
    }

    /// Removes a document with what is known of it and its text, and directories that are empty then. What is gone
    /// already is no error.
    pub fn remove(&self, number: i64, extension: &str) -> Result<(), Error> {
        let document = checked(number, extension)?;
        let text = checked(number, TEXT)?;
        // The document goes last: as long as it is there, somebody finds it and what belongs to it.
        for path in [format!("{document}{METADATA}"), text, document.clone()] {
            self.place.remove(&path)?;
        }
        self.place.prune(&document)?;
        Ok(())
    }

    /// Moves a document with what is known of it and its text to the same number of another collection. What is gone
    /// already is no error; whether the document was there.
    pub fn transfer(&self, to: &Self, number: i64, extension: &str) -> Result<bool, Error> {
        let document = checked(number, extension)?;
        let text = checked(number, TEXT)?;
        // The document goes last, as where it is removed.
        self.place
            .transfer(&to.place, &format!("{document}{METADATA}"))?;
        if text != document {
            self.place.transfer(&to.place, &text)?;
        }
        let was_there = self.place.transfer(&to.place, &document)?;
        self.place.prune(&document)?;
        Ok(was_there)
    }

    /// Removes one file, as [`Collection::files`] names it, and directories that are empty then.
    pub fn remove_file(&self, path: &str) -> Result<bool, Error> {
        let removed = self.place.remove(path)?;
        self.place.prune(path)?;
        Ok(removed)
    }

    /// Opens a file of the collection for reading.
    pub fn read(&self, path: &str) -> Result<Reader, Error> {
        self.place.read(path)
    }

    /// How many bytes a file of the collection has, if it is there.
    pub fn size(&self, path: &str) -> Result<Option<u64>, Error> {
        self.place.size(path)
    }

    /// The greatest number that a file has, as far as can be told without looking at all of them.
    pub fn greatest_number(&self) -> Result<Option<i64>, Error> {
        greatest::number(&self.place)
    }

    /// All files, in the order of their paths. Those whose names are not ours are among them.
    pub fn files(&self) -> CollectionFiles<'_> {
        CollectionFiles::new(&self.place)
    }

    /// The files in the directory of a number.
    pub fn files_of(&self, number: i64) -> Result<Vec<CollectionFile>, Error> {
        let directory = directory_of(number);
        let groups: Vec<_> = directory.split('/').map(str::to_owned).collect();
        CollectionFiles::of(&self.place, &groups)
    }

    /// Waits until all files written since the last time are safe on the disk, if that is wanted. To be called before
    /// the catalog commits what it knows of them.
    pub fn sync(&self) -> Result<(), Error> {
        self.place.sync()
    }

    /// Returns the path of a file in the file system or in the store.
    pub fn absolute(&self, path: &str) -> PathBuf {
        self.place.absolute(path)
    }

    fn write(&self, path: String, bytes: &[u8]) -> Result<String, Error> {
        let mut file = self.create()?;
        file.write_all(bytes)
            .map_err(|error| Error::io("written", Path::new(&path), error))?;
        self.place.place(file, &path)?;
        Ok(path)
    }
}

/// The path of a document, if it can have one.
fn checked(number: i64, extension: &str) -> Result<String, Error> {
    let path = Collection::relative_path(number, extension);
    if number < 0 || !is_extension(extension) {
        return Err(Error::NotBelow { path: path.into() });
    }
    Ok(path)
}

/// The folder of files that were taken out of the collection. A `lost+found` may be the file system's own.
const SET_ASIDE: &str = "set-aside";

/// Directories in that of the collection that are none of its own.
const NOT_OURS: [&str; 3] = [temporary::NAME, SET_ASIDE, "lost+found"];

/// The ending of a document's metadata file.
const METADATA: &str = ".met";

/// How the name of a text ends.
const TEXT: &str = "txt";
