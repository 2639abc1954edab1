//! A directory that is written into and never out of.
//!
//! Paths are walked component by component from the open base directory, and no symbolic link is followed on
//! the way, so that neither a path nor a link that somebody placed inside can lead out of it.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use beneath::DIRECTORY;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::Error;
use crate::new_file::{NewFile, rename_new};
use crate::removal::Removal;
use crate::temporary::{self, Temporary};

/// When what was written must have reached the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// When `sync` returns, which is called before the catalog commits a page.
    #[default]
    Page,
    /// Some time later; a loss of power can cost files that the catalog speaks of.
    None,
}

/// A base directory.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    base: OwnedFd,
    /// The thread that removes replaced files. They go before the directory they lie in.
    removal: OnceLock<Removal>,
    temporary: OnceLock<Temporary>,
    durability: Durability,
    /// The directories used last, the latest first: most records of a page lie in one.
    recent: Mutex<Vec<(PathBuf, Arc<OwnedFd>)>>,
    /// The files written since the last `sync`.
    unsynced: Mutex<Unsynced>,
    /// Held by the one who syncs.
    syncing: Mutex<()>,
}

#[derive(Debug, Default)]
struct Unsynced {
    files: Vec<PathBuf>,
    directories: BTreeSet<PathBuf>,
}

impl Directory {
    /// Opens a base directory, makes it if need be, and removes what killed runs left there.
    pub(crate) fn open(path: &Path, durability: Durability) -> Result<Self, Error> {
        std::fs::create_dir_all(path).map_err(|error| Error::io("made", path, error))?;
        let directory = Self::existing(path, durability)?;
        temporary::clean(&directory.base, path)?;
        Ok(directory)
    }

    /// Opens a base directory that is there, and changes nothing in it.
    pub(crate) fn existing(path: &Path, durability: Durability) -> Result<Self, Error> {
        // The base directory is the user's own choice and may be a link.
        let flags = DIRECTORY.difference(OFlags::NOFOLLOW);
        let base = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|errno| Error::io("opened", path, errno))?;
        Ok(Self {
            path: path.to_owned(),
            base,
            removal: OnceLock::new(),
            temporary: OnceLock::new(),
            durability,
            recent: Mutex::default(),
            unsynced: Mutex::default(),
            syncing: Mutex::default(),
        })
    }

    /// Whether `sync` waits for the disk.
    pub(crate) fn is_durable(&self) -> bool {
        self.durability == Durability::Page
    }

    /// Makes a file that has no place yet.
    pub(crate) fn create(&self) -> Result<NewFile, Error> {
        if let Some(temporary) = self.temporary.get() {
            return temporary.create();
        }
        let made = Temporary::new(&self.base, &self.path)?;
        self.temporary.get_or_init(|| made).create()
    }

    /// Puts a file at a path, in the place of the file that is there.
    pub(crate) fn place(&self, mut file: NewFile, path: &Path) -> Result<(), Error> {
        self.begin_sync(&file);
        let replaced = self
            .with_parent(path, true, |parent, name| file.rename(parent, name))?
            .map_err(|errno| self.error("written", path, errno))?;
        if let Some(replaced) = replaced {
            self.removal.get_or_init(Removal::begin).take(replaced);
        }
        self.touch(path, true);
        Ok(())
    }

    /// Puts a file at a path where nothing is. What is there stays, and the file is given back.
    pub(crate) fn place_new(
        &self,
        mut file: NewFile,
        path: &Path,
    ) -> Result<Option<NewFile>, Error> {
        self.begin_sync(&file);
        let placed = self.with_parent(path, true, |parent, name| file.rename_new(parent, name))?;
        match placed {
            Ok(()) => {
                self.touch(path, true);
                Ok(None)
            }
            Err(Errno::EXIST) => Ok(Some(file)),
            Err(errno) => Err(self.error("written", path, errno)),
        }
    }

    /// Puts a file at a path where nothing is, in a directory that is there. Else the file is given back.
    pub(crate) fn place_beside(
        &self,
        mut file: NewFile,
        path: &Path,
    ) -> Result<Option<NewFile>, Error> {
        self.begin_sync(&file);
        let place = |parent: &OwnedFd, name: &OsStr| file.rename_new(parent, name);
        match self.with_parent(path, false, place) {
            Ok(Ok(())) => {
                self.touch(path, true);
                Ok(None)
            }
            Ok(Err(Errno::EXIST | Errno::NOENT)) | Err(Error::InTheWay { .. }) => Ok(Some(file)),
            Ok(Err(errno)) => Err(self.error("written", path, errno)),
            Err(error) => Err(error),
        }
    }

    /// Moves a file to a path where nothing is; whether nothing was.
    pub(crate) fn move_new(&self, from: &Path, to: &Path) -> Result<bool, Error> {
        let moved = self.with_parent(to, true, |parent, new| {
            let below = from.parent().unwrap_or(Path::new(""));
            let directory = self.open_directory(below, false)?;
            rename_new(
                &directory,
                from.file_name().unwrap_or_default(),
                parent,
                new,
            )
        })?;
        match moved {
            Ok(()) => {
                self.touch(from, false);
                self.touch(to, true);
                Ok(true)
            }
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(self.error("moved", from, errno)),
        }
    }

    /// Moves a file to the same path of another base directory where nothing is. `false` if it has to be copied: another
    /// file system has it, or a file is there.
    pub(crate) fn move_across(&self, path: &Path, to: &Self) -> Result<bool, Error> {
        let moved = to.with_parent(path, true, |parent, name| {
            let below = path.parent().unwrap_or(Path::new(""));
            let directory = self.open_directory(below, false)?;
            rename_new(&directory, name, parent, name)
        })?;
        match moved {
            Ok(()) => {
                self.touch(path, false);
                to.touch(path, true);
                Ok(true)
            }
            Err(Errno::EXIST | Errno::XDEV) => Ok(false),
            Err(errno) => Err(self.error("moved", path, errno)),
        }
    }

    /// Gives what is at a path another name in the same directory.
    pub(crate) fn rename(&self, path: &Path, to: &OsStr) -> Result<(), Error> {
        self.with_parent(path, false, |parent, name| {
            rustix::fs::renameat(parent, name, parent, to)
        })?
        .map_err(|errno| self.error("renamed", path, errno))?;
        self.touch(path, false);
        Ok(())
    }

    /// Removes a file or a link; returns whether there was one. A directory stays.
    pub(crate) fn remove(&self, path: &Path) -> Result<bool, Error> {
        let removed = match self.with_parent(path, false, |parent, name| {
            rustix::fs::unlinkat(parent, name, AtFlags::empty())
        }) {
            // Below a file or a link there is nothing of ours.
            Err(Error::InTheWay { .. }) => return Ok(false),
            removed => removed?,
        };
        match removed {
            Ok(()) => {
                self.touch(path, false);
                Ok(true)
            }
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ISDIR | Errno::PERM) => Ok(false),
            Err(errno) => Err(self.error("removed", path, errno)),
        }
    }

    /// Removes the directories above a path as far as they are empty, and returns them, the deepest first.
    pub(crate) fn prune(&self, path: &Path) -> Result<Vec<PathBuf>, Error> {
        let mut removed = Vec::new();
        for directory in path.ancestors().skip(1) {
            if directory.as_os_str().is_empty() || !self.remove_directory(directory)? {
                break;
            }
            removed.push(directory.to_owned());
        }
        Ok(removed)
    }

    /// The kind of the entry at a path; of a link, that it is one.
    pub(crate) fn kind(&self, path: &Path) -> Result<Option<FileType>, Error> {
        let stat = self.with_parent(path, false, |parent, name| {
            rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
        })?;
        match stat {
            Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(self.error("looked at", path, errno)),
        }
    }

    /// How many bytes a file has; of a link, its own. `None` if there is no such file.
    pub(crate) fn size(&self, path: &Path) -> Result<Option<u64>, Error> {
        let stat = self.with_parent(path, false, |parent, name| {
            rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
        })?;
        match stat {
            Ok(stat) => Ok(Some(stat.st_size.try_into().unwrap_or_default())),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(self.error("looked at", path, errno)),
        }
    }

    /// Opens a file for reading.
    pub(crate) fn read(&self, path: &Path) -> Result<File, Error> {
        self.with_parent(path, false, |parent, name| beneath::open_file(parent, name))?
            .map(File::from)
            .map_err(|errno| self.error("read", path, errno))
    }

    /// Calls `see` with each name in a directory and whether it is that of a directory. One that is not
    /// there has no names.
    pub(crate) fn names(&self, path: &Path, mut see: impl FnMut(&[u8], bool)) -> Result<(), Error> {
        let directory = match self.open_directory(path, false) {
            Ok(directory) => directory,
            Err(Errno::NOENT) => return Ok(()),
            Err(errno) => return Err(self.walk_error(path, errno)),
        };
        let error = |errno| self.error("listed", path, errno);
        for entry in Dir::read_from(&*directory).map_err(error)? {
            let entry = entry.map_err(error)?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let is_directory = match entry.file_type() {
                // Not every file system tells the type along with the name.
                FileType::Unknown => {
                    let stat = rustix::fs::statat(&*directory, name, AtFlags::SYMLINK_NOFOLLOW);
                    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_dir())
                }
                file_type => file_type.is_dir(),
            };
            see(name.to_bytes(), is_directory);
        }
        Ok(())
    }

    /// Waits until all that was written since the last time has reached the disk.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        // A thread that finds nothing to do must not be faster than the one that does it.
        let _turn = lock(&self.syncing);
        let unsynced = std::mem::take(&mut *lock(&self.unsynced));
        if self.durability == Durability::None || unsynced.directories.is_empty() {
            return Ok(());
        }
        if unsynced.files.len() > FEW {
            return rustix::fs::syncfs(&self.base)
                .map_err(|errno| self.error("synced", Path::new(""), errno));
        }
        for path in &unsynced.files {
            // One that has been removed since needs nothing.
            if let Ok(file) = self.read(path) {
                rustix::fs::fsync(&file).map_err(|errno| self.error("synced", path, errno))?;
            }
        }
        for path in &unsynced.directories {
            if let Ok(directory) = self.open_directory(path, false) {
                rustix::fs::fsync(&*directory)
                    .map_err(|errno| self.error("synced", path, errno))?;
            }
        }
        Ok(())
    }

    /// The path in the file system, for messages and for people.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        self.path.join(path)
    }

    fn begin_sync(&self, file: &NewFile) {
        if self.durability == Durability::Page {
            file.begin_sync();
        }
    }

    fn touch(&self, path: &Path, written: bool) {
        if self.durability == Durability::None {
            return;
        }
        let mut unsynced = lock(&self.unsynced);
        if written && unsynced.files.len() <= FEW {
            unsynced.files.push(path.to_owned());
        }
        // A new directory must be known to its parent, and that to its own.
        for directory in path.ancestors().skip(1) {
            if !unsynced.directories.insert(directory.to_owned()) {
                break;
            }
        }
    }

    fn remove_directory(&self, path: &Path) -> Result<bool, Error> {
        lock(&self.recent).retain(|(recent, _)| recent != path);
        let removed = match self.with_parent(path, false, |parent, name| {
            rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)
        }) {
            Err(Error::InTheWay { .. }) => return Ok(false),
            removed => removed?,
        };
        match removed {
            Ok(()) => {
                self.touch(path, false);
                Ok(true)
            }
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT | Errno::NOTDIR | Errno::BUSY) => {
                Ok(false)
            }
            Err(errno) => Err(self.error("removed", path, errno)),
        }
    }

    /// Does something with the parent directory of a path and its last component. A directory that was
    /// remembered may have been removed meanwhile; then it is walked to again.
    fn with_parent<T>(
        &self,
        path: &Path,
        make: bool,
        mut act: impl FnMut(&OwnedFd, &OsStr) -> Result<T, Errno>,
    ) -> Result<Result<T, Errno>, Error> {
        let not_below = || Error::NotBelow {
            path: path.to_owned(),
        };
        let name = path.file_name().ok_or_else(not_below)?;
        let parent = path.parent().ok_or_else(not_below)?;
        if !beneath::is_plain(path) {
            return Err(not_below());
        }
        for last in [false, true] {
            // One that is gone is noticed by what is done with it.
            let remembered = self.remembered(parent).map(Ok);
            let directory = match remembered.unwrap_or_else(|| self.walk_to(parent, make)) {
                Ok(directory) => directory,
                Err(Errno::NOENT) if !make => return Ok(Err(Errno::NOENT)),
                // Between two steps of the walk another thread removed a directory that was empty.
                Err(Errno::NOENT) if !last => continue,
                Err(errno) => return Err(self.walk_error(parent, errno)),
            };
            match act(&directory, name) {
                Err(Errno::NOENT) if !last && is_gone(&directory) => {
                    lock(&self.recent).retain(|(recent, _)| recent != parent);
                }
                done => return Ok(done),
            }
        }
        Ok(Err(Errno::NOENT))
    }

    fn open_directory(&self, path: &Path, make: bool) -> Result<Arc<OwnedFd>, Errno> {
        if !beneath::is_plain(path) {
            return Err(Errno::INVAL);
        }
        match self.remembered(path).filter(|known| !is_gone(known)) {
            Some(directory) => Ok(directory),
            None => self.walk_to(path, make),
        }
    }

    fn walk_to(&self, path: &Path, make: bool) -> Result<Arc<OwnedFd>, Errno> {
        let directory = beneath::open_directory(&self.base, path, make)?;
        let directory = Arc::new(directory);
        self.remember(path, &directory);
        Ok(directory)
    }

    fn remembered(&self, path: &Path) -> Option<Arc<OwnedFd>> {
        let mut recent = lock(&self.recent);
        let same = |(known, _): &(PathBuf, _)| known.as_os_str() == path.as_os_str();
        let at = recent.iter().position(same)?;
        recent[..=at].rotate_right(1);
        Some(Arc::clone(&recent[0].1))
    }

    fn remember(&self, path: &Path, directory: &Arc<OwnedFd>) {
        let mut recent = lock(&self.recent);
        recent.retain(|(known, _)| known != path);
        recent.truncate(REMEMBERED - 1);
        recent.insert(0, (path.to_owned(), Arc::clone(directory)));
    }

    /// Names what stands where a directory is needed, if that is the reason.
    fn walk_error(&self, path: &Path, errno: Errno) -> Error {
        if matches!(errno, Errno::NOTDIR | Errno::LOOP) {
            let mut walked = PathBuf::new();
            for component in path.components() {
                walked.push(component);
                let is_directory = |kind: Option<FileType>| kind.is_some_and(FileType::is_dir);
                if self.kind(&walked).is_ok_and(|kind| !is_directory(kind)) {
                    return Error::InTheWay { path: walked };
                }
            }
        }
        self.error("opened", path, errno)
    }

    fn error(&self, action: &'static str, path: &Path, errno: Errno) -> Error {
        Error::io(action, &self.path.join(path), errno)
    }
}

fn is_gone(directory: &OwnedFd) -> bool {
    rustix::fs::fstat(directory).map_or(true, |stat| stat.st_nlink == 0)
}

/// A name with something behind it.
pub(crate) fn with_suffix(name: &OsStr, suffix: &str) -> OsString {
    let mut name = name.to_owned();
    name.push(suffix);
    name
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many directories are held open.
const REMEMBERED: usize = 32;

/// Up to so many files are synced one by one; for more, one call for the file system is faster.
const FEW: usize = 4;
