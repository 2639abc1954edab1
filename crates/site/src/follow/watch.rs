//! Watches the site's directories with inotify, within the system's limits.
//! It only tells where to look again; the scan is the truth.
//!
//! A directory tells of changes by the names that it holds. A file that has further names, in the site or outside of it,
//! is watched itself as well: what is changed by one name is changed for all.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use crate::SitePath;

/// The watches of a site.
#[derive(Debug)]
pub(crate) struct Watch {
    inotify: OwnedFd,
    directories: HashMap<i32, SitePath>,
    /// Files with several names, by the number of their watch and by name.
    files: HashMap<i32, BTreeSet<SitePath>>,
    names: BTreeMap<SitePath, i32>,
    /// Whether a file turned up some names of which are not known.
    has_unknown_names: bool,
    limit: usize,
    /// Whether some directory could not be watched.
    incomplete: bool,
    /// Whether that was said.
    complained: bool,
}

/// Where to look again.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    /// Paths of files or directories.
    pub(crate) paths: BTreeSet<SitePath>,
    /// Events were lost: look everywhere.
    pub(crate) everywhere: bool,
}

impl Watch {
    /// Makes a watch of at most `limit` directories.
    pub(crate) fn new(limit: usize) -> std::io::Result<Self> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        Ok(Self {
            inotify,
            directories: HashMap::new(),
            files: HashMap::new(),
            names: BTreeMap::new(),
            has_unknown_names: false,
            limit,
            incomplete: false,
            complained: false,
        })
    }

    /// The descriptor that becomes readable when something happens.
    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.inotify
    }

    /// Whether every directory is watched; if not, only scans see all changes.
    pub(crate) fn is_complete(&self) -> bool {
        !self.incomplete
    }

    /// Watches one more directory.
    pub(crate) fn add(&mut self, place: &Path, directory: &SitePath) {
        match inotify::add_watch(&self.inotify, place, EVENTS) {
            Ok(number) if self.is_full_without(number) => {
                let _ = inotify::remove_watch(&self.inotify, number);
                self.give_up("the configured number of watches (index.watch_limit) is used up");
            }
            Ok(number) => {
                self.directories.insert(number, directory.clone());
            }
            Err(Errno::NOSPC) => {
                self.give_up("the system's limit fs.inotify.max_user_watches is reached");
            }
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => {}
            Err(error) => self.give_up(&format!("`{}`: {error}", place.display())),
        }
    }

    /// Watches a file that has several names (`links`); says whether it was not watched before.
    pub(crate) fn add_file(&mut self, place: &Path, path: &SitePath, links: u64) -> bool {
        let number = match inotify::add_watch(&self.inotify, place, FILE_EVENTS) {
            Ok(number) => number,
            Err(Errno::NOSPC) => {
                self.give_up("the system's limit fs.inotify.max_user_watches is reached");
                return false;
            }
            // It is gone again, and its directory tells so.
            Err(_) => return false,
        };
        let is_new = !self.files.contains_key(&number);
        if is_new && (self.files.len() >= self.limit / 2 || self.is_full_without(number)) {
            let _ = inotify::remove_watch(&self.inotify, number);
            self.give_up("the configured number of watches (index.watch_limit) is used up");
            return false;
        }
        if let Some(before) = self.names.insert(path.clone(), number)
            && before != number
        {
            self.forget_name(before, path);
        }
        let names = self.files.entry(number).or_default();
        names.insert(path.clone());
        self.has_unknown_names |= is_new && (names.len() as u64) < links;
        is_new
    }

    /// Whether a file turned up since the last call some names of which are not known: a scan finds those in the site.
    pub(crate) fn take_unknown_names(&mut self) -> bool {
        std::mem::take(&mut self.has_unknown_names)
    }

    fn forget_name(&mut self, number: i32, path: &SitePath) {
        let Some(names) = self.files.get_mut(&number) else {
            return;
        };
        names.remove(path);
        if names.is_empty() {
            self.files.remove(&number);
            // It fails where the file itself is gone, and with it the watch.
            let _ = inotify::remove_watch(&self.inotify, number);
        }
    }

    /// Takes all events that have happened.
    pub(crate) fn read(&mut self, dirty: &mut Dirty) {
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut reader = Reader::new(&self.inotify, &mut buffer);
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::INTR) => continue,
                Err(_) => return,
            };
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                dirty.everywhere = true;
                continue;
            }
            if event.events().contains(ReadFlags::IGNORED) {
                self.directories.remove(&event.wd());
                for name in self.files.remove(&event.wd()).unwrap_or_default() {
                    self.names.remove(&name);
                }
                continue;
            }
            if let Some(names) = self.files.get(&event.wd()) {
                dirty.paths.extend(names.iter().cloned());
                continue;
            }
            let Some(directory) = self.directories.get(&event.wd()) else {
                continue;
            };
            let path = match event.file_name() {
                Some(name) => directory.join(name.to_bytes()),
                None => directory.clone(),
            };
            dirty.paths.insert(path);
        }
    }

    /// Forgets the watches of a path that is gone from its place, with all below it.
    pub(crate) fn forget(&mut self, directory: &SitePath) {
        let below = self.names.range(directory..);
        let below = below.take_while(|(name, _)| name.as_bytes().starts_with(directory.as_bytes()));
        let gone: Vec<_> = below
            .filter(|(name, _)| name.is_within(directory))
            .map(|(name, number)| (name.clone(), *number))
            .collect();
        for (name, number) in gone {
            self.names.remove(&name);
            self.forget_name(number, &name);
        }
        let gone = self
            .directories
            .extract_if(|_, path| path.is_within(directory));
        for (number, _) in gone {
            // It fails where the directory itself is gone, and with it the watch.
            let _ = inotify::remove_watch(&self.inotify, number);
        }
    }

    /// Begins a round over all directories: whether they can be watched shows anew.
    pub(crate) fn begin_round(&mut self) {
        self.incomplete = false;
    }

    fn is_full_without(&self, number: i32) -> bool {
        self.directories.len() + self.files.len() >= self.limit
            && !self.directories.contains_key(&number)
    }

    fn give_up(&mut self, reason: &str) {
        self.incomplete = true;
        if !self.complained {
            let watched = self.directories.len();
            tracing::warn!(
                "{watched} directories are watched and no more: {reason}; scans run more often instead"
            );
        }
        self.complained = true;
    }
}

const EVENTS: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::EXCL_UNLINK);

const FILE_EVENTS: WatchFlags = WatchFlags::MODIFY.union(WatchFlags::ATTRIB);
