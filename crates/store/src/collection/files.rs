//! The files of a collection, one after the other.

use std::collections::VecDeque;

use super::name::{is_group, parse};
use super::{METADATA, NOT_OURS, TEXT};
use crate::Error;
use crate::place::{Name, Place};

/// A file of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionFile {
    /// Its path below the directory of the collection.
    pub path: String,
    /// Its kind.
    pub kind: FileKind,
    /// How many bytes it has.
    pub size: u64,
}

/// The kind of a file of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// A document.
    Document {
        /// Its number.
        number: i64,
        /// How its name ends, without a dot.
        extension: String,
    },
    /// The metadata of a document.
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
    place: &'a Place,
    /// Directories that are not looked at yet, the next one last.
    waiting: Vec<Vec<String>>,
    found: VecDeque<CollectionFile>,
}

impl<'a> CollectionFiles<'a> {
    pub(super) fn new(place: &'a Place) -> Self {
        Self {
            place,
            waiting: vec![Vec::new()],
            found: VecDeque::new(),
        }
    }

    /// The files of one number.
    pub(super) fn of(place: &'a Place, groups: &[String]) -> Result<Vec<CollectionFile>, Error> {
        let mut files = Self::new(place);
        files.look(groups)?;
        Ok(files.found.into())
    }

    fn look(&mut self, groups: &[String]) -> Result<(), Error> {
        let path = groups.join("/");
        let (mut directories, mut files) = (Vec::new(), Vec::new());
        self.place.names(
            &path,
            |Name {
                 name,
                 is_directory,
                 size,
             }| {
                match is_directory {
                    true if groups.is_empty() && NOT_OURS.contains(&name) => {}
                    true => directories.push(name.to_owned()),
                    false => files.push((name.to_owned(), size)),
                }
            },
        )?;
        files.sort_unstable();
        for (name, size) in files {
            let path = match path.as_str() {
                "" => name.clone(),
                path => format!("{path}/{name}"),
            };
            if let Some(file) = self.file(groups, path, &name, size)? {
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

    /// Describes a file; `None` if it is gone.
    fn file(
        &self,
        groups: &[String],
        path: String,
        name: &str,
        size: Option<u64>,
    ) -> Result<Option<CollectionFile>, Error> {
        let size = match size {
            Some(size) => Some(size),
            None => self.place.size(&path)?,
        };
        let Some(size) = size else {
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
