//! The files of a collection, one after the other.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::name::{is_group, parse};
use super::{METADATA, NOT_OURS, TEXT};
use crate::Error;
use crate::directory::Directory;

/// A file of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionFile {
    /// Where it lies, below the directory of the collection.
    pub path: String,
    /// What it is.
    pub kind: FileKind,
    /// How many bytes it has.
    pub size: u64,
}

/// What a file of a collection is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// A document.
    Document {
        /// Its number.
        number: i64,
        /// How its name ends, without a dot.
        extension: String,
    },
    /// What is known of a document.
    Metadata {
        /// The number of the document.
        number: i64,
        /// How the name of the document ends, without a dot.
        extension: String,
    },
    /// The text of a document, or a document that is text: the catalog knows which.
    Text {
        /// The number of the document.
        number: i64,
    },
    /// Something that no collection puts there.
    Other,
}

/// The files of a collection, in the order of their paths: that of their numbers, as long as these have as many groups.
///
/// Only the names of the directories on the way are held, so that a collection can have any number of files.
#[derive(Debug)]
pub struct CollectionFiles<'a> {
    directory: &'a Directory,
    /// Directories that are not looked at yet, the next one last.
    waiting: Vec<Vec<String>>,
    found: VecDeque<CollectionFile>,
}

impl<'a> CollectionFiles<'a> {
    pub(super) fn new(directory: &'a Directory) -> Self {
        Self {
            directory,
            waiting: vec![Vec::new()],
            found: VecDeque::new(),
        }
    }

    /// The files of one number.
    pub(super) fn of(
        directory: &'a Directory,
        groups: &[String],
    ) -> Result<Vec<CollectionFile>, Error> {
        let mut files = Self::new(directory);
        files.look(groups)?;
        Ok(files.found.into())
    }

    fn look(&mut self, groups: &[String]) -> Result<(), Error> {
        let path: PathBuf = groups.iter().collect();
        let (mut directories, mut files) = (Vec::new(), Vec::new());
        self.directory.names(&path, |name, is_directory| {
            let name = String::from_utf8_lossy(name).into_owned();
            match is_directory {
                true if groups.is_empty() && NOT_OURS.contains(&&*name) => {}
                true => directories.push(name),
                false => files.push(name),
            }
        })?;
        files.sort_unstable();
        for name in files {
            if let Some(file) = self.file(groups, &path.join(&name), &name)? {
                self.found.push_back(file);
            }
        }
        directories.sort_unstable();
        for name in directories.into_iter().rev() {
            let mut below = groups.to_vec();
            below.push(name);
            self.waiting.push(below);
        }
        Ok(())
    }

    /// What is known of a file; nothing if it is gone by now.
    fn file(
        &self,
        groups: &[String],
        path: &Path,
        name: &str,
    ) -> Result<Option<CollectionFile>, Error> {
        let Some(size) = self.directory.size(path)? else {
            return Ok(None);
        };
        let is_ours = groups.iter().all(|group| is_group(group));
        let parsed = parse(groups, name).filter(|_| is_ours);
        let kind = parsed.map_or(FileKind::Other, |(number, extension)| {
            match extension.strip_suffix(METADATA) {
                Some(extension) => FileKind::Metadata {
                    number,
                    extension: extension.to_owned(),
                },
                None if extension == TEXT => FileKind::Text { number },
                None => FileKind::Document { number, extension },
            }
        });
        let path = path.to_string_lossy().into_owned();
        Ok(Some(CollectionFile { path, kind, size }))
    }
}

impl Iterator for CollectionFiles<'_> {
    type Item = Result<CollectionFile, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(file) = self.found.pop_front() {
                return Some(Ok(file));
            }
            let groups = self.waiting.pop()?;
            if let Err(error) = self.look(&groups) {
                return Some(Err(error));
            }
        }
    }
}
