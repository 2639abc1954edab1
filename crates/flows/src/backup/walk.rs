//! The files of a data directory, in the order of their paths.

use std::collections::VecDeque;
use std::fs::{DirEntry, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// A file as it was met.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// Relative to the data directory.
    pub(super) path: PathBuf,
    /// Where it lies.
    pub(super) place: PathBuf,
    pub(super) size: u64,
    pub(super) modified: i64,
    pub(super) changed: i64,
    pub(super) mode: u32,
}

impl Found {
    fn new(path: PathBuf, place: PathBuf, metadata: &Metadata) -> Self {
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Self {
            path,
            place,
            size: metadata.len(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            mode: metadata.mode() & 0o777,
        }
    }
}

/// Goes through all files but those of the catalog and temporary ones. What cannot be read is told as a failure.
pub(super) struct Walk {
    root: PathBuf,
    /// The catalog's files, which are in the backup already.
    catalog: Option<String>,
    /// For each directory that is open, what is left of it.
    levels: Vec<VecDeque<PathBuf>>,
}

impl Walk {
    pub(super) fn new(root: &Path, catalog: Option<&Path>) -> anyhow::Result<Self> {
        let root = root
            .canonicalize()
            .with_context(|| format!("cannot read the data directory {}", root.display()))?;
        let catalog = catalog
            .and_then(|file| file.canonicalize().ok())
            .and_then(|file| Some(file.strip_prefix(&root).ok()?.to_str()?.to_owned()));
        let mut walk = Self {
            root,
            catalog,
            levels: Vec::new(),
        };
        let first = walk.names(Path::new(""));
        walk.levels.push(first.map_err(anyhow::Error::msg)?);
        Ok(walk)
    }

    /// The names in a directory, in order.
    fn names(&self, directory: &Path) -> Result<VecDeque<PathBuf>, String> {
        let place = self.root.join(directory);
        let read = || -> std::io::Result<Vec<DirEntry>> { std::fs::read_dir(&place)?.collect() };
        let entries = read().map_err(|error| format!("`{}`: {error}", directory.display()))?;
        let mut names: Vec<_> = entries.into_iter().map(|entry| entry.file_name()).collect();
        names.sort();
        let paths = names.into_iter().map(|name| directory.join(name));
        Ok(paths.filter(|path| !self.is_left_out(path)).collect())
    }

    fn is_left_out(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if LEFT_OUT.contains(&&*name) || name.starts_with(SCRATCH) {
            return true;
        }
        let is_top = path.components().count() == 1;
        let (Some(catalog), Some(path)) = (&self.catalog, path.to_str()) else {
            return false;
        };
        // A file of an import that is in work, and the service's own configuration.
        is_top && matches!(path, "spool" | ".config" | ".cache")
            || CATALOG_FILES.iter().any(|suffix| {
                path.strip_suffix(suffix)
                    .is_some_and(|path| path == catalog)
            })
    }

    fn look(&mut self, path: PathBuf) -> Option<Result<Found, String>> {
        let place = self.root.join(&path);
        let failed = |error: std::io::Error| match error.kind() {
            // Others work meanwhile.
            ErrorKind::NotFound => None,
            _ => Some(Err(format!("`{}`: {error}", path.display()))),
        };
        let mut metadata = match std::fs::symlink_metadata(&place) {
            Ok(metadata) => metadata,
            Err(error) => return failed(error),
        };
        if metadata.is_symlink() {
            // A directory on another disk is linked at the top; links below are nobody's but the operator's.
            metadata = match std::fs::metadata(&place) {
                Ok(metadata) if metadata.is_dir() && path.components().count() == 1 => metadata,
                _ => {
                    let path = path.display();
                    return Some(Err(format!("`{path}`: symbolic links are not backed up")));
                }
            };
        }
        if metadata.is_dir() {
            return match self.names(&path) {
                Ok(names) => {
                    self.levels.push(names);
                    None
                }
                Err(_) if !place.exists() => None,
                Err(failure) => Some(Err(failure)),
            };
        }
        if !metadata.is_file() {
            return None;
        }
        Some(Ok(Found::new(path, place, &metadata)))
    }
}

impl Iterator for Walk {
    type Item = Result<Found, String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let level = self.levels.last_mut()?;
            let Some(path) = level.pop_front() else {
                self.levels.pop();
                continue;
            };
            if let Some(found) = self.look(path) {
                return Some(found);
            }
        }
    }
}

/// How the directories begin that backups and restores work in.
pub(super) const SCRATCH: &str = ".garner-backup-";
const LEFT_OUT: [&str; 2] = [".garner-tmp", "lost+found"];
const CATALOG_FILES: [&str; 4] = ["", "-wal", "-shm", "-journal"];
