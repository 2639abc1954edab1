//! Goes over all directories below one, within bounds.

use std::collections::BTreeSet;

use crate::entry::{Entry, Kind, join};
use crate::error::said;
use crate::link::Link;
use crate::name::objection;
use crate::{Error, Limits};

/// A file that can be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RemoteFile {
    /// Its path from home or from the root.
    pub(crate) path: Vec<u8>,
    pub(crate) size: u64,
    pub(crate) modified: Option<i64>,
}

/// The result of a walk.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    pub(crate) files: Vec<RemoteFile>,
    /// Paths that cannot be fetched, with the reason.
    pub(crate) refused: Vec<(String, String)>,
    /// How many more of these there are.
    pub(crate) more_refused: u64,
    /// How many links and devices were passed by.
    pub(crate) passed_by: u64,
    directories: Vec<Directory>,
    entries: usize,
}

/// A directory that is not looked at yet.
#[derive(Debug, Clone)]
struct Directory {
    path: Vec<u8>,
    /// The unique names of the parent directories: links may lead back to them.
    above: Vec<Option<Vec<u8>>>,
}

impl Walk {
    /// Looks at a directory and all below.
    pub(crate) async fn below(
        &mut self,
        root: Vec<u8>,
        link: &mut Link<'_>,
        limits: &Limits,
    ) -> Result<(), Error> {
        self.directories.push(Directory {
            path: root.clone(),
            above: Vec::new(),
        });
        while let Some(directory) = self.directories.last().cloned() {
            let listed = match link.session().await {
                Ok(session) => session.list(&directory.path).await,
                Err(error) => Err(error),
            };
            match listed {
                Ok(entries) => {
                    self.directories.pop();
                    self.take(&directory, entries, limits)?;
                    link.went_on();
                }
                Err(Error::Lost(why)) => link.lost(why).await?,
                Err(Error::Missing(why)) if directory.path != root => {
                    self.directories.pop();
                    self.refuse(&directory.path, why);
                }
                Err(error) => return Err(error),
            }
        }
        self.files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(())
    }

    /// Notes that a file cannot be had.
    pub(crate) fn refuse(&mut self, path: &[u8], why: impl Into<String>) {
        if self.refused.len() >= MOST_REFUSED {
            self.more_refused += 1;
            return;
        }
        let path = said(&String::from_utf8_lossy(path));
        self.refused.push((path, why.into()));
    }

    fn take(
        &mut self,
        directory: &Directory,
        entries: Vec<Entry>,
        limits: &Limits,
    ) -> Result<(), Error> {
        self.entries = self.entries.saturating_add(entries.len());
        if self.entries > limits.entries {
            return Err(Error::Refused(format!(
                "there are more than {} names; name a directory below",
                limits.entries
            )));
        }
        let mut names = BTreeSet::new();
        let mut below = Vec::new();
        for entry in entries {
            let path = join(&directory.path, &entry.name);
            if let Some(why) = objection(&entry.name) {
                self.refuse(&path, why);
                continue;
            }
            // Two files of one name would take turns in one place.
            if !names.insert(entry.name.clone()) {
                continue;
            }
            match entry.kind {
                Kind::File => self.file(path, &entry),
                Kind::Directory if directory.above.len() >= limits.depth => {
                    self.refuse(&path, "directories lie too deep in each other");
                }
                Kind::Directory if is_above(directory, &entry) => self.passed_by += 1,
                Kind::Directory => {
                    let mut above = directory.above.clone();
                    above.push(entry.unique);
                    below.push(Directory { path, above });
                }
                Kind::Link | Kind::Other => self.passed_by += 1,
            }
        }
        self.directories.extend(below);
        Ok(())
    }

    fn file(&mut self, path: Vec<u8>, entry: &Entry) {
        match entry.size {
            Some(size) => self.files.push(RemoteFile {
                path,
                size,
                modified: entry.modified,
            }),
            None => self.refuse(&path, "the server does not tell how long it is"),
        }
    }
}

/// Whether a directory is one of those that it lies in.
fn is_above(directory: &Directory, entry: &Entry) -> bool {
    entry.unique.is_some() && directory.above.contains(&entry.unique)
}

const MOST_REFUSED: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &[u8], kind: Kind) -> Entry {
        Entry {
            name: name.to_vec(),
            kind,
            size: Some(1),
            modified: None,
            unique: Some(b"u".to_vec()),
        }
    }

    fn at(depth: usize) -> Directory {
        Directory {
            path: b"root".to_vec(),
            above: vec![Some(b"other".to_vec()); depth],
        }
    }

    #[test]
    fn hostile_names_are_refused_and_links_passed_by() {
        let mut walk = Walk::default();
        let entries = vec![
            entry(b"../../etc/passwd", Kind::File),
            entry(b"..", Kind::Directory),
            entry(b"a\nb", Kind::File),
            entry(b"good", Kind::File),
            entry(b"good", Kind::File),
            entry(b"link", Kind::Link),
        ];

        walk.take(&at(0), entries, &Limits::default()).unwrap();

        let paths: Vec<_> = walk.files.iter().map(|file| file.path.as_slice()).collect();
        assert_eq!(paths, [b"root/good"]);
        assert_eq!((walk.refused.len(), walk.passed_by), (3, 1));
        assert!(walk.directories.is_empty());
    }

    #[test]
    fn depth_circles_and_numbers_are_bounded() {
        let limits = Limits {
            depth: 2,
            entries: 3,
            ..Limits::default()
        };
        let mut walk = Walk::default();
        let directory = || vec![entry(b"d", Kind::Directory)];
        walk.take(&at(2), directory(), &limits).unwrap();
        assert_eq!((walk.refused.len(), walk.directories.len()), (1, 0));
        let mut circle = at(1);
        circle.above[0] = Some(b"u".to_vec());
        walk.take(&circle, directory(), &limits).unwrap();
        assert_eq!((walk.passed_by, walk.directories.len()), (1, 0));
        walk.take(&at(1), directory(), &limits).unwrap();
        assert_eq!(walk.directories.len(), 1);
        assert!(walk.take(&at(0), directory(), &limits).is_err());
    }

    #[test]
    fn what_is_refused_does_not_fill_the_memory() {
        let mut walk = Walk::default();
        for _ in 0..MOST_REFUSED + 5 {
            walk.refuse(b"a", "why");
        }
        assert_eq!((walk.refused.len(), walk.more_refused), (MOST_REFUSED, 5));
    }
}
