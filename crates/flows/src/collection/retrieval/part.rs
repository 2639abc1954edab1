//! A file or directory that is being written under another name, and gets its own when it is whole.
//!
//! `papers.zip` is `.papers.zip.part` until then. The part is locked; one that a killed process left behind is not, and is
//! written anew.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rustix::fs::{FlockOperation, OFlags, RenameFlags};
use rustix::io::Errno;

#[derive(Debug)]
pub(super) struct Part {
    target: PathBuf,
    path: PathBuf,
    lock: File,
    is_directory: bool,
    replaces: bool,
    is_whole: bool,
}

impl Part {
    /// Begins to write `target`, which must not exist yet unless it is replaced. A directory that is empty may exist.
    pub(super) fn begin(target: &Path, is_directory: bool, replaces: bool) -> anyhow::Result<Self> {
        let name = target.file_name();
        let name = name.with_context(|| format!("{} names no file", target.display()))?;
        check(target, is_directory, replaces)?;
        let directory = target.parent().filter(|it| !it.as_os_str().is_empty());
        if let Some(directory) = directory.filter(|it| !it.is_dir()) {
            bail!("{} is no directory; make it first", directory.display());
        }
        let path = target.with_file_name(format!(".{}.part", name.to_string_lossy()));
        let cannot = || format!("{} cannot be written", path.display());
        let lock = loop {
            let lock = open(&path, is_directory).with_context(cannot)?;
            match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => bail!(
                    "another retrieval writes {} now; wait for it, or choose another name",
                    target.display()
                ),
                locked => locked.map_err(io::Error::from).with_context(cannot)?,
            }
            // Another process may have ended it between the two.
            let there = std::fs::symlink_metadata(&path).map(|there| there.ino());
            if there.ok() == Some(lock.metadata().with_context(cannot)?.ino()) {
                break lock;
            }
        };
        match is_directory {
            true => empty(&path).with_context(cannot)?,
            false => lock.set_len(0).with_context(cannot)?,
        }
        Ok(Self {
            target: target.to_owned(),
            path,
            lock,
            is_directory,
            replaces,
            is_whole: false,
        })
    }

    pub(super) fn file(&self) -> io::Result<File> {
        self.lock.try_clone()
    }

    pub(super) fn directory(&self) -> io::Result<OwnedFd> {
        Ok(self.lock.try_clone()?.into())
    }

    /// Whether the name asks for compression.
    pub(super) fn is_compressed(&self) -> bool {
        self.target.extension().is_some_and(|name| name == "gz")
    }

    /// A directory on the same disk.
    pub(super) fn beside(&self) -> &Path {
        match self.path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        }
    }

    /// Gives what was written its name. As with `cp`, the system brings it to the disk in its own time.
    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        let target = &self.target;
        check(target, self.is_directory, self.replaces)?;
        let renamed = match self.replaces || self.is_directory {
            // An empty directory is replaced, one that is not empty refuses.
            true => std::fs::rename(&self.path, target),
            false => rename_new(&self.path, target),
        };
        renamed.with_context(|| format!("{} cannot be written", target.display()))?;
        self.is_whole = true;
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.is_whole {
            // A disk that is full has room again. What cannot be removed is written anew by the next retrieval.
            let _ = match self.is_directory {
                true => std::fs::remove_dir_all(&self.path),
                false => std::fs::remove_file(&self.path),
            };
        }
    }
}

fn check(target: &Path, is_directory: bool, replaces: bool) -> anyhow::Result<()> {
    let Ok(there) = std::fs::symlink_metadata(target) else {
        return Ok(());
    };
    let target = target.display();
    if there.is_dir() && is_directory {
        let mut files = std::fs::read_dir(target.to_string())
            .with_context(|| format!("{target} cannot be read"))?;
        return match files.next() {
            None => Ok(()),
            Some(_) => bail!("the directory {target} is not empty; name another one"),
        };
    }
    if is_directory || there.is_dir() {
        bail!("{target} is in the way; name another place");
    }
    match replaces {
        true => Ok(()),
        false => bail!("{target} exists already; name another file, or replace it with --replace"),
    }
}

fn open(path: &Path, is_directory: bool) -> io::Result<File> {
    let no_follow = OFlags::NOFOLLOW.bits().cast_signed();
    if !is_directory {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        return options.custom_flags(no_follow).open(path);
    }
    match std::fs::create_dir(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let flags = no_follow | OFlags::DIRECTORY.bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Removes what a killed process left in a directory.
fn empty(path: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => std::fs::remove_dir_all(entry.path())?,
            false => std::fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

/// Renames a file unless there is one with the new name.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let here = rustix::fs::CWD;
    match rustix::fs::renameat_with(here, from, here, to, RenameFlags::NOREPLACE) {
        // Not every file system knows how.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => std::fs::rename(from, to),
        renamed => Ok(renamed?),
    }
}
