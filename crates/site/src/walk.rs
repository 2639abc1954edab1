//! Walks the site in the order of its paths, so that a scan can be compared with the index as it goes.

use std::os::fd::OwnedFd;

use rustix::fs::{Dir, FileType};

use crate::root::{self, Sighting};
use crate::stop::Stop;
use crate::{Decision, Facts, Root, Rules, SitePath};

/// What a walk meets, in ascending order of paths.
#[derive(Debug)]
pub(crate) enum Found {
    /// A file that is offered.
    File {
        /// Where.
        path: SitePath,
        /// What the file system says of it.
        facts: Facts,
        /// Whether a server would run it.
        dynamic: bool,
    },
    /// A directory, before what is in it is read: what is created after a watch was set here is either met
    /// by the walk or told by the watch.
    Directory(SitePath),
    /// The file system would not say what is here or below; what was known of it stays.
    Unknown(SitePath),
}

/// One directory on the way down.
struct Level {
    directory: OwnedFd,
    identity: (u64, u64),
    path: SitePath,
    /// What is left of it, last name first; none as long as they have not been read.
    names: Option<Vec<Name>>,
}

struct Name {
    bytes: Vec<u8>,
    kind: FileType,
}

/// An ordered walk over everything that is offered below a directory.
pub(crate) struct Walk<'a> {
    root: &'a Root,
    rules: &'a Rules,
    levels: Vec<Level>,
    pending: Option<Found>,
    stop: Stop,
}

impl<'a> Walk<'a> {
    /// Begins at a directory; what cannot be opened is met as [`Found::Unknown`] or not at all.
    pub(crate) fn new(root: &'a Root, rules: &'a Rules, start: &SitePath) -> Self {
        let mut walk = Self {
            root,
            rules,
            levels: Vec::new(),
            pending: None,
            stop: Stop::default(),
        };
        walk.pending = match root.open_directory(start) {
            Ok(directory) => walk.enter(directory, start.clone()),
            Err(error) => unknown(error, start),
        };
        walk
    }

    /// Ends the walk where it is as soon as this is set, also in the middle of a long directory. Who walks must
    /// look at it too: what was not met may be there all the same.
    pub(crate) fn until(mut self, stop: &Stop) -> Self {
        self.stop = stop.clone();
        self
    }

    /// Goes down one level.
    fn enter(&mut self, directory: OwnedFd, path: SitePath) -> Option<Found> {
        let stat = match rustix::fs::fstat(&directory) {
            Ok(stat) => stat,
            Err(error) => return unknown(error.into(), &path),
        };
        let identity = (stat.st_dev, stat.st_ino);
        let looped = self.levels.iter().any(|level| level.identity == identity);
        if looped || self.levels.len() >= DEEPEST {
            tracing::warn!(
                "`{}` is left out: {}",
                path.display(),
                if looped {
                    "it contains itself"
                } else {
                    "it is too deep"
                }
            );
            return None;
        }
        let found = Found::Directory(path.clone());
        self.levels.push(Level {
            directory,
            identity,
            path,
            names: None,
        });
        Some(found)
    }

    /// Reads the names in the present directory; one that cannot be read is left.
    fn read_names(&mut self) -> Option<Found> {
        let level = self.levels.last_mut()?;
        match names(&level.directory, &level.path, self.rules, &self.stop) {
            Ok(names) => {
                level.names = Some(names);
                None
            }
            Err(error) => unknown(error, &self.levels.pop()?.path),
        }
    }

    fn meet(&mut self, name: &Name) -> Option<Found> {
        let level = self.levels.last()?;
        let path = level.path.join(&name.bytes);
        if name.kind == FileType::Directory {
            return self.descend(&path, &name.bytes);
        }
        let decision = self.rules.decide_in_open_directory(&path);
        if matches!(decision, Decision::LeftOut(_)) {
            return None;
        }
        let stat = match root::stat_at(&level.directory, &name.bytes) {
            Ok(stat) => stat,
            Err(error) => return unknown(error, &path),
        };
        match self
            .root
            .judge(&path, &stat, self.rules, decision != Decision::Offered)
        {
            Sighting::File { facts, dynamic } => Some(Found::File {
                path,
                facts,
                dynamic,
            }),
            Sighting::Directory => self.descend(&path, &name.bytes),
            Sighting::LeftOut(_) => None,
            Sighting::Unknown(error) => unknown(error, &path),
        }
    }

    fn descend(&mut self, path: &SitePath, name: &[u8]) -> Option<Found> {
        let level = self.levels.last()?;
        match self.root.open_directory_at(&level.directory, name) {
            Ok(directory) => self.enter(directory, path.clone()),
            Err(error) => unknown(error, path),
        }
    }
}

impl Iterator for Walk<'_> {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        if let Some(found) = self.pending.take() {
            return Some(found);
        }
        while !self.stop.is_set() {
            let level = self.levels.last_mut()?;
            let found = match &mut level.names {
                None => self.read_names(),
                Some(names) => match names.pop() {
                    Some(name) => self.meet(&name),
                    None => {
                        self.levels.pop();
                        None
                    }
                },
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

/// The names in a directory, in the order of the paths below them, last first.
fn names(
    directory: &OwnedFd,
    path: &SitePath,
    rules: &Rules,
    stop: &Stop,
) -> std::io::Result<Vec<Name>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        if stop.is_set() {
            break;
        }
        let entry = entry?;
        let bytes = entry.file_name().to_bytes();
        if bytes == b"." || bytes == b".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let stat = root::stat_at(directory, bytes);
                stat.map_or(FileType::Unknown, |stat| {
                    FileType::from_raw_mode(stat.st_mode)
                })
            }
            kind => kind,
        };
        if kind == FileType::Directory && rules.prune(&path.join(bytes)).is_some() {
            continue;
        }
        names.push(Name {
            bytes: bytes.to_vec(),
            kind,
        });
    }
    // A directory sorts as if its name ended in a slash, as the paths below it do.
    names.sort_unstable_by(|a, b| b.key().cmp(&a.key()));
    Ok(names)
}

impl Name {
    fn key(&self) -> Joined<'_> {
        let slash: &[u8] = if self.kind == FileType::Directory {
            b"/"
        } else {
            b""
        };
        Joined(&self.bytes, slash)
    }
}

/// Two slices compared as if they were one.
#[derive(PartialEq, Eq)]
struct Joined<'a>(&'a [u8], &'a [u8]);

impl Ord for Joined<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let bytes = |joined: &Self| {
            joined
                .0
                .iter()
                .chain(joined.1)
                .copied()
                .collect::<Vec<u8>>()
        };
        let common = self.0.len().min(other.0.len());
        match self.0[..common].cmp(&other.0[..common]) {
            std::cmp::Ordering::Equal => bytes(self).cmp(&bytes(other)),
            unequal => unequal,
        }
    }
}

impl PartialOrd for Joined<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// What vanished or is forbidden is not met; any other error leaves the question open.
fn unknown(error: std::io::Error, path: &SitePath) -> Option<Found> {
    match Sighting::of_error(error, path) {
        Sighting::Unknown(error) => {
            tracing::warn!(
                "`/{}` cannot be looked at, what is known of it stays: {error}",
                path.display()
            );
            Some(Found::Unknown(path.clone()))
        }
        _ => None,
    }
}

impl std::fmt::Debug for Walk<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Walk")
            .field("depth", &self.levels.len())
            .finish()
    }
}

/// Deeper trees are left alone: each level keeps a descriptor open.
const DEEPEST: usize = 200;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::{OfferConfig, Symlinks};

    #[test]
    fn files_come_in_the_order_of_their_paths() {
        let directory = tempfile::tempdir().unwrap();
        for path in [
            "a/b/c",
            "a.txt",
            "a/b.txt",
            "a-b",
            "ab",
            "b/x",
            ".git/config",
            "a0",
            "z~",
        ] {
            let place = directory.path().join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, path).unwrap();
        }
        let root = Root::open(directory.path(), Symlinks::Inside).unwrap();
        let rules = Rules::compile(OfferConfig::default()).unwrap();

        let paths: Vec<_> = Walk::new(&root, &rules, &SitePath::root())
            .filter_map(|found| match found {
                Found::File { path, .. } => Some(path),
                _ => None,
            })
            .collect();

        let mut sorted = paths.clone();
        sorted.sort();
        assert_eq!(paths, sorted);
        assert_eq!(paths.len(), 7);
    }

    #[test]
    fn a_directory_is_met_before_its_names_are_read() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("a")).unwrap();
        let root = Root::open(directory.path(), Symlinks::Inside).unwrap();
        let rules = Rules::compile(OfferConfig::default()).unwrap();

        let mut files = 0;
        for found in Walk::new(&root, &rules, &SitePath::root()) {
            match found {
                Found::Directory(path) => {
                    let place = path.below(directory.path());
                    fs::write(place.join("created-meanwhile.txt"), "new").unwrap();
                }
                Found::File { .. } => files += 1,
                Found::Unknown(_) => {}
            }
        }

        assert_eq!(files, 2);
    }

    #[test]
    fn a_link_that_contains_itself_does_not_trap_the_walk() {
        let directory = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("x.txt"), "x").unwrap();
        std::os::unix::fs::symlink(outside.path(), outside.path().join("loop")).unwrap();
        std::os::unix::fs::symlink(outside.path(), directory.path().join("out")).unwrap();
        let config = OfferConfig {
            symlinks: Symlinks::All,
            ..OfferConfig::default()
        };
        let rules = Rules::compile(config).unwrap();
        let root = Root::open(directory.path(), Symlinks::All).unwrap();

        let files = Walk::new(&root, &rules, &SitePath::root())
            .filter(|found| matches!(found, Found::File { .. }))
            .count();

        assert_eq!(files, 1);
    }
}
