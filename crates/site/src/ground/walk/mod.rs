//! Walks the site in the order of its paths, so that a scan can be compared with the index as it goes.

mod names;

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::FileType;

use self::names::{Name, Source, names};
use crate::ground::mounts::Mounted;
use crate::ground::root::{Sighting, is_away};
use crate::{Decision, Facts, Ground, Root, Rules, SitePath};
use process::Stop;

/// One entry of a walk; entries come in ascending order of paths.
#[derive(Debug)]
pub(crate) enum WalkEntry {
    /// A file that is offered.
    File {
        /// Where.
        path: SitePath,
        /// Its facts in the file system.
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
    /// None where there is no directory, only mounts further down.
    directory: Option<OwnedFd>,
    identity: Option<(u64, u64)>,
    /// The mount it belongs to, if it is not the root.
    mount: Option<usize>,
    path: SitePath,
    /// The names still to be visited, the last first; none until they have been read.
    names: Option<Vec<Name>>,
}

/// An ordered walk over everything that is offered below a directory.
pub(crate) struct Walk<'a> {
    ground: &'a Ground,
    rules: &'a Rules,
    mounted: Mounted,
    levels: Vec<Level>,
    pending: Option<WalkEntry>,
    stop: Stop,
}

impl<'a> Walk<'a> {
    /// Begins at a directory; what cannot be opened is met as [`WalkEntry::Unknown`] or not at all.
    pub(crate) fn new(ground: &'a Ground, start: &SitePath) -> Self {
        let mut walk = Self {
            ground,
            rules: &ground.rules,
            mounted: ground.mounts.now(),
            levels: Vec::new(),
            pending: None,
            stop: Stop::default(),
        };
        let mount = walk.mounted.holding(start);
        let opened = walk.root(mount).open_directory(start);
        walk.pending = walk.enter(opened, start.clone(), mount);
        walk
    }

    /// Ends the walk where it is as soon as this is set, also in the middle of a long directory. Who walks must
    /// look at it too: what was not met may be there all the same.
    pub(crate) fn until(mut self, stop: &Stop) -> Self {
        self.stop = stop.clone();
        self
    }

    fn root(&self, mount: Option<usize>) -> &Root {
        mount.map_or(&self.ground.root, |number| &self.mounted.roots()[number])
    }

    /// Goes down one level. Mounts are reached also through what cannot be entered.
    fn enter(
        &mut self,
        opened: io::Result<OwnedFd>,
        path: SitePath,
        mount: Option<usize>,
    ) -> Option<WalkEntry> {
        if self.levels.len() >= DEEPEST {
            tracing::warn!("`{}` is skipped: it is too deep", path.display());
            return None;
        }
        let identified = opened.and_then(|directory| {
            let stat = rustix::fs::fstat(&directory)?;
            Ok((directory, (stat.st_dev, stat.st_ino)))
        });
        let (directory, identity) = match identified {
            Ok(identified) => identified,
            Err(error) => {
                let found = unknown(error, &path);
                self.pass(path, mount);
                return found;
            }
        };
        // A mount may show a directory that it lies in; only what contains itself by a link has no end.
        let is_same = |level: &Level| level.mount == mount && level.identity == Some(identity);
        if self.levels.iter().any(is_same) {
            tracing::warn!("`{}` is skipped: it contains itself", path.display());
            self.pass(path, mount);
            return None;
        }
        let found = WalkEntry::Directory(path.clone());
        self.levels.push(Level {
            directory: Some(directory),
            identity: Some(identity),
            mount,
            path,
            names: None,
        });
        Some(found)
    }

    /// Goes on to the mounts below a path at which no directory is.
    fn pass(&mut self, path: SitePath, mount: Option<usize>) {
        if self.mounted.any_below(&path) {
            self.levels.push(Level {
                directory: None,
                identity: None,
                mount,
                path,
                names: None,
            });
        }
    }

    /// Reads the names in the present directory, and those of mounts in it.
    fn read_names(&mut self) -> Option<WalkEntry> {
        let level = self.levels.last()?;
        let read = match &level.directory {
            Some(directory) => names(directory, &level.path, self.rules, &self.stop),
            None => Ok(Vec::new()),
        };
        let (mut names, found) = match read {
            Ok(names) => (names, None),
            Err(error) => (Vec::new(), unknown(error, &level.path)),
        };
        self.add_mounts(&mut names, &level.path);
        names::sort(&mut names);
        self.levels.last_mut()?.names = Some(names);
        found
    }

    /// Merges the mounts in a directory with the names it has.
    fn add_mounts(&self, names: &mut Vec<Name>, directory: &SitePath) {
        let mut below = self.mounted.below(directory);
        if below.is_empty() {
            return;
        }
        names.retain(|name| {
            let Some(below) = below.get_mut(name.bytes.as_slice()) else {
                return true;
            };
            if below.here.is_some() {
                return false;
            }
            match name.kind {
                // Mounts further down are met in it.
                FileType::Directory => below.deeper = false,
                // A link that may lead anywhere is only the way to them here.
                FileType::Symlink => return false,
                _ => {}
            }
            true
        });
        for (bytes, below) in below {
            if self.rules.prune(&directory.join(bytes)).is_some() {
                continue;
            }
            let mut add = |kind, source| {
                names.push(Name {
                    bytes: bytes.to_vec(),
                    kind,
                    source,
                });
            };
            let is_file = below
                .here
                .is_some_and(|number| self.root(Some(number)).is_file());
            match below.here {
                Some(number) if is_file => add(FileType::RegularFile, Source::Mount(number)),
                Some(number) => add(FileType::Directory, Source::Mount(number)),
                None => {}
            }
            if below.deeper && (is_file || below.here.is_none()) {
                add(FileType::Directory, Source::Nowhere);
            }
        }
    }

    fn meet(&mut self, name: &Name) -> Option<WalkEntry> {
        let level = self.levels.last()?;
        let path = level.path.join(&name.bytes);
        match name.source {
            Source::Directory => self.meet_own(name, path),
            Source::Mount(number) => self.meet_mount(name, path, number),
            Source::Nowhere => {
                let mount = level.mount;
                self.pass(path, mount);
                None
            }
        }
    }

    fn meet_own(&mut self, name: &Name, path: SitePath) -> Option<WalkEntry> {
        if name.kind == FileType::Directory {
            return self.descend(path, &name.bytes);
        }
        let decision = self.rules.decide_in_open_directory(&path);
        if matches!(decision, Decision::LeftOut(_)) {
            return None;
        }
        let level = self.levels.last()?;
        let directory = level.directory.as_ref()?;
        let root = self.root(level.mount);
        let stat = match root.stat_at(directory, &name.bytes) {
            Ok(stat) => stat,
            Err(error) => return unknown(error, &path),
        };
        let dynamic = decision != Decision::Offered;
        match root.judge(&path, directory, &stat, self.rules, dynamic) {
            Sighting::Directory => self.descend(path, &name.bytes),
            sighting => {
                if let (Sighting::LeftOut(reason), Some(records)) =
                    (&sighting, &self.ground.records)
                {
                    records.skip(&path, reason);
                }
                found(sighting, path)
            }
        }
    }

    fn meet_mount(&mut self, name: &Name, path: SitePath, number: usize) -> Option<WalkEntry> {
        let root = self.root(Some(number));
        if name.kind == FileType::RegularFile {
            return found(root.look(&path, self.rules), path);
        }
        let opened = root.open_directory(&path);
        self.enter(opened, path, Some(number))
    }

    fn descend(&mut self, path: SitePath, name: &[u8]) -> Option<WalkEntry> {
        let level = self.levels.last()?;
        let mount = level.mount;
        let opened = self
            .root(mount)
            .open_directory_at(level.directory.as_ref()?, name);
        self.enter(opened, path, mount)
    }
}

impl Iterator for Walk<'_> {
    type Item = WalkEntry;

    fn next(&mut self) -> Option<WalkEntry> {
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

fn found(sighting: Sighting, path: SitePath) -> Option<WalkEntry> {
    match sighting {
        Sighting::File { facts, dynamic } => Some(WalkEntry::File {
            path,
            facts,
            dynamic,
        }),
        Sighting::Unknown(error) => {
            warn_unknown(&path, &error);
            Some(WalkEntry::Unknown(path))
        }
        Sighting::Directory | Sighting::LeftOut(_) => None,
    }
}

/// Skips an entry that vanished or is forbidden; any other error leaves the question open.
fn unknown(error: io::Error, path: &SitePath) -> Option<WalkEntry> {
    found(Sighting::of_error(error, path), path.clone())
}

/// Says that nothing is known of a path now, unless that was said of its whole mount.
pub(crate) fn warn_unknown(path: &SitePath, error: &io::Error) {
    if is_away(error) {
        return;
    }
    tracing::warn!(
        "`/{}` cannot be looked at, what is known of it stays: {error}",
        path.display()
    );
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
    use std::path::Path;

    use super::*;
    use crate::{SiteConfig, Symlinks};

    fn ground(root: &Path, symlinks: Symlinks) -> Ground {
        let mut config = SiteConfig::new(root, root, "http://a/", "http://a/oai");
        config.offer.symlinks = symlinks;
        config.ground().unwrap()
    }

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
        let ground = ground(directory.path(), Symlinks::Inside);

        let paths: Vec<_> = Walk::new(&ground, &SitePath::root())
            .filter_map(|found| match found {
                WalkEntry::File { path, .. } => Some(path),
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
        let ground = ground(directory.path(), Symlinks::Inside);

        let mut files = 0;
        for found in Walk::new(&ground, &SitePath::root()) {
            match found {
                WalkEntry::Directory(path) => {
                    let place = path.below(directory.path());
                    fs::write(place.join("created-meanwhile.txt"), "new").unwrap();
                }
                WalkEntry::File { .. } => files += 1,
                WalkEntry::Unknown(_) => {}
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
        let ground = ground(directory.path(), Symlinks::All);

        let files = Walk::new(&ground, &SitePath::root())
            .filter(|found| matches!(found, WalkEntry::File { .. }))
            .count();

        assert_eq!(files, 1);
    }
}
