//! The ground a site stands on: its root and mounts, the rules on what is offered, and the media types.

pub(crate) mod facts;
pub mod media_types;
pub(crate) mod mounts;
pub(crate) mod path;
pub(crate) mod remote;
pub(crate) mod root;
pub(crate) mod rules;
pub(crate) mod walk;

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use crate::ground::facts::TOO_YOUNG;
use crate::ground::media_types::MediaTypes;
use crate::ground::mounts::{Mount, Mounted, Mounts};
use crate::ground::root::Sighting;
use crate::records::{Formats, Typed};
use crate::{Error, Facts, OpenError, Opened, Reason, Root, Rules, SitePath, Symlinks};

/// The directories and rules that say what a path is.
#[derive(Debug)]
pub struct Ground {
    /// Where the files are that no mount holds.
    pub root: Root,
    /// The rules on which of them are offered.
    pub rules: Rules,
    /// Their media types.
    pub media_types: MediaTypes,
    pub(crate) mounts: Mounts,
    /// The formats of the files, where they are records.
    pub(crate) records: Option<Arc<Formats>>,
}

impl Ground {
    /// Looks at a path as it is now.
    pub fn look(&self, path: &SitePath) -> Sighting {
        let mounted = self.mounts.now();
        let sighting = self.holding(&mounted, path).look(path, &self.rules);
        match sighting {
            // A closed directory is closed with all below; any other may be on the way to a mount.
            Sighting::LeftOut(
                reason @ (Reason::Name { .. } | Reason::Directory { .. } | Reason::Covered { .. }),
            ) => Sighting::LeftOut(reason),
            Sighting::LeftOut(_) if mounted.any_below(path) => Sighting::Directory,
            sighting => sighting,
        }
    }

    /// Looks once more at a file that a walk has just met.
    pub(crate) fn look_again(&self, path: &SitePath) -> Sighting {
        let mounted = self.mounts.now();
        let seen = self.holding(&mounted, path).look_again(path, &self.rules);
        seen.unwrap_or_else(|| self.look(path))
    }

    /// The media type of a file by its name; empty where a server runs it, for its output may be of any type.
    pub fn media_type(&self, path: &SitePath, dynamic: bool) -> &str {
        match dynamic {
            true => "",
            false => self.media_types.of(path.name()),
        }
    }

    /// The media type of a file: by its name, or by its content where files are records.
    pub(crate) fn typed(&self, path: &SitePath, facts: &Facts, dynamic: bool) -> Typed {
        match &self.records {
            Some(records) => records.of_file(self, path, facts),
            None => Typed::Offered(self.media_type(path, dynamic).to_owned()),
        }
    }

    /// Opens a file for reading, as a GET does. The rules on names must have been asked before.
    pub fn open_file(&self, path: &SitePath) -> Result<Opened, OpenError> {
        let mounted = self.mounts.now();
        let root = self.holding(&mounted, path);
        match root.open_file(path, self.rules.symlinks()) {
            Err(OpenError::Missing) if mounted.any_below(path) => {
                Err(OpenError::Directory(path.clone()))
            }
            result => result,
        }
    }

    /// Opens a directory of the site, or of a mount.
    pub(crate) fn open_directory(&self, path: &SitePath) -> io::Result<OwnedFd> {
        let mounted = self.mounts.now();
        self.holding(&mounted, path).open_directory(path)
    }

    /// Where the file of a path is, as the root or the mount was given, whether or not there is one. None below a
    /// mounted file, where there can be nothing.
    pub fn file_path(&self, path: &SitePath) -> Option<PathBuf> {
        let mounted = self.mounts.now();
        let root = self.holding(&mounted, path);
        if path != root.at() && root.is_file() {
            return None;
        }
        Some(root.below(root.given().to_owned(), path))
    }

    /// The root and the mounts that other machines may write to, each with the kind of its file system.
    pub(crate) fn remotes(&self) -> Vec<(PathBuf, &'static str)> {
        let mounted = self.mounts.now();
        let mounts = mounted.roots().iter().map(|root| root.path());
        let all = std::iter::once(self.root.path()).chain(mounts);
        all.filter_map(|path| Some((path.clone(), remote::remote_kind(&path)?)))
            .collect()
    }

    /// Replaces the mounts; one at `/` is not taken, for there the root is. What lay below one that is gone from the
    /// list is missing from now on, and the next scan says so.
    pub fn set_mounts(&self, mounts: Vec<Mount>) {
        self.mounts.set(mounts, self.rules.symlinks());
    }

    /// Makes sure that the root and the mounts are there, and says whether any is another directory than before.
    /// Where the root is not all there is, it may be away.
    pub fn renew(&self) -> Result<bool, Error> {
        let mounted = self.mounts.now();
        // All are renewed, whatever the first ones say.
        let renewed = mounted.roots().iter().filter(|root| root.renew_or_miss());
        let renewed = renewed.count() > 0;
        if may_be_away(self.rules.symlinks(), &mounted) {
            return Ok(self.root.renew_or_miss() || renewed);
        }
        self.root.renew().map_err(|source| Error::Root {
            path: self.root.path(),
            source,
        })
    }

    /// The place of a path in the file system, links on the way to the root or the mount resolved.
    pub(crate) fn place_of(&self, path: &SitePath) -> PathBuf {
        let mounted = self.mounts.now();
        let root = self.holding(&mounted, path);
        root.below(root.path(), path)
    }

    /// The root or the mount that holds a path.
    fn holding<'a>(&'a self, mounted: &'a Mounted, path: &SitePath) -> &'a Root {
        let number = mounted.holding(path);
        number.map_or(&self.root, |number| &mounted.roots()[number])
    }

    /// The facts of a file that is not just being written, as far as waiting a moment can help.
    pub(crate) fn settled(&self, path: &SitePath, facts: Facts) -> Facts {
        if !facts.is_young() {
            return facts;
        }
        thread::sleep(TOO_YOUNG);
        match self.look(path) {
            Sighting::File { facts, .. } => facts,
            _ => facts,
        }
    }
}

/// Whether a site goes on without its root: there are mounts, or another server knows what it has.
pub(crate) fn may_be_away(symlinks: Symlinks, mounted: &Mounted) -> bool {
    symlinks == Symlinks::Every || !mounted.is_empty()
}
