//! Directories and files from elsewhere that appear in the site: each hides what would be at its path otherwise.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use crate::{Root, SitePath, Symlinks};

/// A directory, or a single regular file, that appears at a path of the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Where in the site.
    pub at: SitePath,
    /// Where in the file system.
    pub path: PathBuf,
}

/// The mounts of a site; they may be replaced while it is looked at.
#[derive(Debug, Default)]
pub(crate) struct Mounts(RwLock<Mounted>);

/// The mounts at one moment, in the order of their paths.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mounted(Option<Arc<[Arc<Root>]>>);

/// The effect of mounts on a name in a directory.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Below {
    /// The mount that is right here.
    pub(crate) here: Option<usize>,
    /// Whether others are further down.
    pub(crate) deeper: bool,
}

impl Mounts {
    pub(crate) fn new(mounts: Vec<Mount>, symlinks: Symlinks) -> Self {
        let new = Self::default();
        new.set(mounts, symlinks);
        new
    }

    /// The mounts as they are now.
    pub(crate) fn now(&self) -> Mounted {
        (self.0.read())
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Takes other mounts; one that was there before stays as it is.
    pub(crate) fn set(&self, mounts: Vec<Mount>, symlinks: Symlinks) {
        let before = self.now();
        let kept = |mount: &Mount| {
            let root = before.at(mount.at.as_bytes()).map(|n| &before.roots()[n])?;
            (root.given() == mount.path).then(|| Arc::clone(root))
        };
        let mut roots: Vec<_> = mounts
            .into_iter()
            .filter(|mount| !mount.at.as_bytes().is_empty())
            .map(|mount| {
                kept(&mount)
                    .unwrap_or_else(|| Arc::new(Root::mount(mount.at, &mount.path, symlinks)))
            })
            .collect();
        roots.sort_by(|a, b| a.at().cmp(b.at()));
        let mounted = Mounted((!roots.is_empty()).then(|| roots.into()));
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = mounted;
    }
}

impl Mounted {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn roots(&self) -> &[Arc<Root>] {
        self.0.as_deref().unwrap_or_default()
    }

    /// The mount that holds a path: the longest of those that could.
    pub(crate) fn holding(&self, path: &SitePath) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        let bytes = path.as_bytes();
        let ends = (0..bytes.len()).rev().filter(|end| bytes[*end] == b'/');
        let mut ends = std::iter::once(bytes.len()).chain(ends);
        ends.find_map(|end| self.at(&bytes[..end]))
    }

    /// Whether there are mounts below a path.
    pub(crate) fn any_below(&self, path: &SitePath) -> bool {
        !self.is_empty() && !self.range_below(path).is_empty()
    }

    /// The names in a directory at which there are mounts, or on the way to them.
    pub(crate) fn below(&self, directory: &SitePath) -> BTreeMap<&[u8], Below> {
        let mut names = BTreeMap::<_, Below>::new();
        if self.is_empty() {
            return names;
        }
        let skipped = match directory.as_bytes().len() {
            0 => 0,
            length => length + 1,
        };
        for number in self.range_below(directory) {
            let rest = &self.roots()[number].at().as_bytes()[skipped..];
            let length = rest.iter().position(|byte| *byte == b'/');
            let below = names
                .entry(&rest[..length.unwrap_or(rest.len())])
                .or_default();
            match length {
                None => below.here = Some(number),
                Some(_) => below.deeper = true,
            }
        }
        names
    }

    fn at(&self, at: &[u8]) -> Option<usize> {
        let found = self
            .roots()
            .binary_search_by(|root| root.at().as_bytes().cmp(at));
        found.ok()
    }

    fn range_below(&self, path: &SitePath) -> std::ops::Range<usize> {
        let (first, last) = path.bounds_below();
        let before = |bound: Vec<u8>| {
            (self.roots()).partition_point(|root| root.at().as_bytes() < bound.as_slice())
        };
        before(first)..before(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> SitePath {
        SitePath::new(text).unwrap()
    }

    fn mounted(paths: &[&str]) -> Mounted {
        let mounts = paths.iter().map(|at| Mount {
            at: path(at),
            path: PathBuf::from("/nowhere"),
        });
        Mounts::new(mounts.collect(), Symlinks::Every).now()
    }

    #[test]
    fn the_longest_mount_holds_a_path() {
        let mounted = mounted(&["a/b/c", "a", "a-b"]);
        let holding = |text: &str| {
            let number = mounted.holding(&path(text))?;
            Some(mounted.roots()[number].at().display().into_owned())
        };

        assert_eq!(holding("a/b/c/d").as_deref(), Some("a/b/c"));
        assert_eq!(holding("a/b/c").as_deref(), Some("a/b/c"));
        assert_eq!(holding("a/b/cd").as_deref(), Some("a"));
        assert_eq!(holding("a-b/x").as_deref(), Some("a-b"));
        assert_eq!(holding("a-"), None);
        assert_eq!(holding(""), None);
    }

    #[test]
    fn names_with_mounts_are_known_in_each_directory() {
        let mounted = mounted(&["a/b/c", "a", "a-b", "z/y"]);
        let names = |text: &str| {
            let below = mounted.below(&path(text));
            let names = below
                .iter()
                .map(|(name, below)| (name.to_vec(), below.here.is_some(), below.deeper));
            names.collect::<Vec<_>>()
        };

        assert_eq!(
            names(""),
            [
                (b"a".to_vec(), true, true),
                (b"a-b".to_vec(), true, false),
                (b"z".to_vec(), false, true),
            ]
        );
        assert_eq!(names("a"), [(b"b".to_vec(), false, true)]);
        assert_eq!(names("a/b/c"), []);
        assert!(mounted.any_below(&path("z")));
        assert!(!mounted.any_below(&path("z/y")));
    }
}
