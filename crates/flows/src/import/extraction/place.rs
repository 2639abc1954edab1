//! Where results lie: a directory, or a store of objects. A file comes under its name when it is whole, and what has a name
//! stays.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};
use crawl::Roots;
use store::Objects;
use tempfile::NamedTempFile;

use super::super::place as collection;
use super::super::place::of_store;
use super::temporary;

/// A place of results.
#[derive(Debug)]
pub(in crate::import) enum ResultPlace {
    Directory(PathBuf),
    Store(Box<dyn Objects>),
}

/// Opens a file; a pipe in its place is not waited for.
fn regular(path: &Path) -> io::Result<File> {
    Roots::default().open(path)
}

impl ResultPlace {
    /// Opens the place that results are written to; a directory is made if need be.
    pub(in crate::import) fn create(place: &str) -> anyhow::Result<Self> {
        let opened = Self::open(place)?;
        if let Self::Directory(directory) = &opened {
            let unwritten = || format!("`{place}` cannot be written");
            for name in [SOURCES, DOCUMENTS, BYTES, TEMPORARY] {
                std::fs::create_dir_all(directory.join(name)).with_context(unwritten)?;
            }
            opened.sweep();
        }
        Ok(opened)
    }

    /// Opens the place that results are read from.
    pub(in crate::import) fn existing(place: &str) -> anyhow::Result<Self> {
        let opened = Self::open(place)?;
        if let Self::Directory(directory) = &opened
            && !directory.join(SOURCES).is_dir()
        {
            bail!(
                "there are no results in `{place}`: it has no directory `{SOURCES}`; name what was the --output of garner extract"
            );
        }
        Ok(opened)
    }

    fn open(place: &str) -> anyhow::Result<Self> {
        if let Some(objects) = collection::objects(place)? {
            return Ok(Self::Store(objects));
        }
        if place.contains("://") {
            bail!("`{place}` cannot have results; name a directory or s3://BUCKET/PREFIX");
        }
        Ok(Self::Directory(PathBuf::from(place)))
    }

    /// For people.
    pub(in crate::import) fn shown(&self, path: &str) -> String {
        match self {
            Self::Directory(directory) => directory.join(path).display().to_string(),
            Self::Store(objects) => format!("{}/{path}", objects.location()),
        }
    }

    /// A file to be filled, and then put.
    pub(in crate::import) fn new_file(&self) -> anyhow::Result<NamedTempFile> {
        let made = match self {
            Self::Directory(directory) => tempfile::Builder::new()
                .prefix(&temporary::prefix())
                .tempfile_in(directory.join(TEMPORARY)),
            Self::Store(_) => NamedTempFile::new(),
        };
        made.with_context(|| format!("`{}` cannot be written", self.shown(TEMPORARY)))
    }

    /// Where large documents wait on this machine while they are read.
    pub(in crate::import) fn spool(&self) -> anyhow::Result<tempfile::TempDir> {
        let made = match self {
            Self::Directory(directory) => tempfile::Builder::new()
                .prefix(&temporary::prefix())
                .tempdir_in(directory.join(TEMPORARY)),
            Self::Store(_) => tempfile::tempdir(),
        };
        made.with_context(|| format!("`{}` cannot be written", self.shown(TEMPORARY)))
    }

    /// Puts a whole file under a name. One that has the name stays; whether none had.
    pub(in crate::import) fn put(&self, path: &str, file: NamedTempFile) -> anyhow::Result<bool> {
        let unwritten = || format!("`{}` cannot be written", self.shown(path));
        match self {
            Self::Store(objects) => {
                let put = objects.put(path, file.as_file(), true);
                put.with_context(unwritten).map_err(of_store)
            }
            Self::Directory(directory) => {
                let to = directory.join(path);
                let parent = to.parent().unwrap_or(directory);
                std::fs::create_dir_all(parent).with_context(unwritten)?;
                let readable = std::fs::Permissions::from_mode(0o644);
                file.as_file()
                    .set_permissions(readable)
                    .with_context(unwritten)?;
                file.as_file().sync_all().with_context(unwritten)?;
                let is_new = match file.persist_noclobber(&to) {
                    Ok(_) => true,
                    Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => false,
                    Err(error) => return Err(error.error).with_context(unwritten),
                };
                let synced = File::open(parent).and_then(|parent| parent.sync_all());
                synced.with_context(unwritten)?;
                Ok(is_new)
            }
        }
    }

    /// The bytes of a small file, if it is there.
    pub(in crate::import) fn read(&self, path: &str) -> anyhow::Result<Option<Vec<u8>>> {
        let unread = || format!("`{}` cannot be read", self.shown(path));
        let opened: io::Result<Box<dyn Read>> = match self {
            Self::Directory(directory) => {
                regular(&directory.join(path)).map(|file| Box::new(file) as Box<dyn Read>)
            }
            Self::Store(objects) => objects
                .get(path)
                .map(|reader| Box::new(reader) as Box<dyn Read>),
        };
        let reader = match opened {
            Ok(reader) => reader,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(unread).map_err(of_store),
        };
        let mut bytes = Vec::new();
        let read = reader.take(SMALL).read_to_end(&mut bytes);
        read.with_context(unread).map_err(of_store)?;
        Ok(Some(bytes))
    }

    /// A file as one on this machine, if it is there.
    pub(in crate::import) fn fetch(&self, path: &str) -> anyhow::Result<Option<File>> {
        let unread = || format!("`{}` cannot be read", self.shown(path));
        match self {
            Self::Directory(directory) => match regular(&directory.join(path)) {
                Ok(file) => Ok(Some(file)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error).with_context(unread),
            },
            Self::Store(objects) => {
                let mut from = match objects.get(path) {
                    Ok(reader) => reader,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                    Err(error) => return Err(error).with_context(unread).map_err(of_store),
                };
                let mut file = tempfile::tempfile().with_context(unread)?;
                let copied = io::copy(&mut from, &mut file);
                copied.with_context(unread).map_err(of_store)?;
                Ok(Some(file))
            }
        }
    }

    /// The names of the files in a directory, in order.
    pub(in crate::import) fn names(&self, directory: &str) -> anyhow::Result<Vec<String>> {
        let unread = || format!("`{}` cannot be read", self.shown(directory));
        let mut names = Vec::new();
        match self {
            Self::Directory(base) => {
                for entry in std::fs::read_dir(base.join(directory)).with_context(unread)? {
                    let name = entry.with_context(unread)?.file_name();
                    names.extend(name.into_string().ok());
                }
            }
            Self::Store(objects) => {
                let listed = objects.names(directory, &mut |name, size| {
                    if size.is_some() {
                        names.push(name.rsplit('/').next().unwrap_or(name).to_owned());
                    }
                });
                listed.with_context(unread).map_err(of_store)?;
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Removes what processes left that were killed long ago.
    fn sweep(&self) {
        let Self::Directory(directory) = self else {
            return;
        };
        let entries = std::fs::read_dir(directory.join(TEMPORARY))
            .into_iter()
            .flatten();
        for entry in entries.flatten() {
            let is_old = |modified: SystemTime| modified.elapsed().is_ok_and(|age| age > FORGOTTEN);
            let modified = entry.metadata().and_then(|metadata| metadata.modified());
            let name = entry.file_name();
            if temporary::is_abandoned(&name.to_string_lossy()) || modified.is_ok_and(is_old) {
                remove(&entry.path());
            }
        }
    }
}

/// One that cannot be removed does no harm.
fn remove(path: &Path) {
    let _ = match path.is_dir() {
        true => std::fs::remove_dir_all(path),
        false => std::fs::remove_file(path),
    };
}

/// Entries of sources whose results are complete.
pub(in crate::import) const SOURCES: &str = "_sources";
pub(super) const DOCUMENTS: &str = "documents";
pub(super) const BYTES: &str = "bytes";
/// Readers of Parquet pass over names that begin so.
const TEMPORARY: &str = "_temporary";
const FORGOTTEN: Duration = Duration::from_secs(7 * 24 * 3600);
/// An entry has a few kilobytes.
const SMALL: u64 = 4 << 20;
