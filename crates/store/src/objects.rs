//! The interface of a collection to an object store.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Read as _};
use std::time::SystemTime;

use crate::Reader;

/// Objects with names that have slashes in them, in a store such as Amazon's S3. Each is there whole or not at all, and is
/// safe when a call that writes it returns. [`io::ErrorKind::NotFound`] means that there is none, and nothing else.
pub trait Objects: Debug + Send + Sync {
    /// The location of the store, for people.
    fn location(&self) -> &str;

    /// Puts what a file holds under a name. If it `is_new`, what has the name stays; whether it was put.
    fn put(&self, path: &str, file: &File, is_new: bool) -> io::Result<bool>;

    /// Opens an object.
    fn get(&self, path: &str) -> io::Result<Reader>;

    /// Reads at most `most` bytes of an object from an offset on.
    fn get_part(&self, path: &str, from: u64, most: u64) -> io::Result<Vec<u8>> {
        let mut reader = self.get(path)?;
        io::copy(&mut reader.by_ref().take(from), &mut io::sink())?;
        let mut bytes = Vec::new();
        reader.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// How many bytes an object has, if it is there.
    fn size(&self, path: &str) -> io::Result<Option<u64>>;

    /// When an object was written, as far as the store tells.
    fn modified(&self, _path: &str) -> io::Result<Option<SystemTime>> {
        Ok(None)
    }

    /// Puts what one name has under another, in the place of what has that.
    fn copy(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes an object. That there is none is no error.
    fn remove(&self, path: &str) -> io::Result<()>;

    /// Calls `see` with each name in a directory: that of an object with its size, that of a directory without one.
    fn names(&self, directory: &str, see: &mut dyn FnMut(&str, Option<u64>)) -> io::Result<()>;
}
