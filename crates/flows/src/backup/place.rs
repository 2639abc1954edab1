//! Where backups lie: a directory or a bucket.

use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::json;
use store::{Objects, Reader};
use tempfile::TempDir;

use super::directory::Directory;
use super::list::{FORMAT, ListReader};
use super::walk::SCRATCH;

/// A place, opened.
pub(super) struct Place {
    objects: Box<dyn Objects>,
    /// The directory, if it is one.
    directory: Option<(PathBuf, Directory)>,
}

/// The place itself failed, and not a file that goes there.
#[derive(Debug, thiserror::Error)]
#[error("the backup at {location} cannot be {action}: {source}")]
pub(super) struct Unusable {
    location: String,
    action: &'static str,
    source: io::Error,
}

impl Place {
    /// Opens a place that gets a backup, and makes it if need be.
    pub(super) fn begin(target: &str, data: &Path) -> anyhow::Result<Self> {
        let place = Self::at(target)?;
        if let Some((directory, _)) = &place.directory {
            let mut builder = DirBuilder::new();
            let made = builder.recursive(true).mode(0o700).create(directory);
            made.with_context(|| format!("the directory `{target}` cannot be made"))?;
            let (backup, data) = (directory.canonicalize()?, data.canonicalize()?);
            if backup.starts_with(&data) || data.starts_with(&backup) {
                // Made a moment ago, perhaps; one that holds something stays.
                let _ = std::fs::remove_dir(directory);
                bail!(
                    "the backup `{}` and the data directory `{}` lie in one another; name a directory elsewhere, on another disk if there is one",
                    backup.display(),
                    data.display()
                );
            }
        }
        if place.size(MARKER)?.is_some() {
            place.check_format()?;
            return Ok(place);
        }
        let mut is_empty = true;
        let seen = place.objects.names("", &mut |_, _| is_empty = false);
        place.usable("read", seen)?;
        if !is_empty {
            bail!(
                "`{}` holds something else than backups of garner; name an empty place",
                place.location()
            );
        }
        let marker = json!({ "format": FORMAT, "garner": env!("CARGO_PKG_VERSION") });
        place.put_text(MARKER, &marker.to_string())?;
        Ok(place)
    }

    /// Opens a place that has backups.
    pub(super) fn open(target: &str) -> anyhow::Result<Self> {
        let place = Self::at(target)?;
        if place.size(MARKER)?.is_none() {
            bail!("there is no backup of garner at `{target}`: it has no {MARKER}");
        }
        place.check_format()?;
        Ok(place)
    }

    fn at(target: &str) -> anyhow::Result<Self> {
        if target.starts_with("s3://") {
            return Ok(Self {
                objects: bucket(target)?,
                directory: None,
            });
        }
        if target.contains("://") {
            bail!("backups cannot go to `{target}`; name a directory or s3://BUCKET/PREFIX");
        }
        let path = PathBuf::from(target);
        Ok(Self {
            objects: Box::new(Directory::new(&path)),
            directory: Some((path.clone(), Directory::new(&path))),
        })
    }

    fn check_format(&self) -> anyhow::Result<()> {
        let mut text = String::new();
        let marker = self.get(MARKER)?;
        io::Read::read_to_string(&mut io::Read::take(marker, 4096), &mut text)?;
        let marker: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        match marker["format"].as_u64() {
            Some(format) if format <= u64::from(FORMAT) => Ok(()),
            Some(format) => bail!(
                "the backup at {} has the format {format} of a newer garner; this one knows {FORMAT}",
                self.location()
            ),
            None => bail!("{MARKER} at {} is damaged", self.location()),
        }
    }

    pub(super) fn location(&self) -> &str {
        self.objects.location()
    }

    /// The names of the backups that are whole, the oldest first.
    pub(super) fn lists(&self) -> anyhow::Result<Vec<String>> {
        let mut names = Vec::new();
        let seen = self.objects.names(LISTS, &mut |name, _| {
            names.extend(name.strip_suffix(".jsonl.gz").map(str::to_owned));
        });
        self.usable("read", seen)?;
        names.sort();
        Ok(names)
    }

    pub(super) fn open_list(&self, name: &str) -> anyhow::Result<ListReader> {
        let bytes = self.get(&format!("{LISTS}/{name}.jsonl.gz"))?;
        ListReader::new(name, Box::new(bytes))
    }

    /// A directory for what is made on the way: on the disk of the backups, or else in the data directory.
    pub(super) fn scratch(&self, data: &Path) -> anyhow::Result<TempDir> {
        let parent = match &self.directory {
            Some((directory, _)) => directory,
            None => data,
        };
        let made = tempfile::Builder::new().prefix(SCRATCH).tempdir_in(parent);
        made.with_context(|| format!("no directory can be made in `{}`", parent.display()))
    }

    pub(super) fn size(&self, name: &str) -> anyhow::Result<Option<u64>> {
        self.usable("read", self.objects.size(name))
    }

    pub(super) fn get(&self, name: &str) -> anyhow::Result<Reader> {
        self.usable("read", self.objects.get(name))
    }

    pub(super) fn put(&self, name: &str, file: &File) -> anyhow::Result<()> {
        self.usable("written", self.objects.put(name, file, false))
            .map(drop)
    }

    /// Puts a file under a name that nothing has.
    pub(super) fn put_new(&self, name: &str, file: &File) -> anyhow::Result<()> {
        match self.usable("written", self.objects.put(name, file, true))? {
            true => Ok(()),
            false => bail!("another backup made {name} at this moment; run one at a time"),
        }
    }

    pub(super) fn put_text(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let mut file = tempfile::tempfile()?;
        writeln!(file, "{text}")?;
        self.put(name, &file)
    }

    pub(super) fn remove(&self, name: &str) -> anyhow::Result<()> {
        self.usable("written", self.objects.remove(name))
    }

    /// Calls `see` with the digest of each object.
    pub(super) fn each_object(
        &self,
        see: &mut dyn FnMut(&str) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut folders = Vec::new();
        let seen = self.objects.names(OBJECTS, &mut |name, size| {
            if size.is_none() {
                folders.push(name.to_owned());
            }
        });
        self.usable("read", seen)?;
        for folder in folders {
            let mut names = Vec::new();
            let directory = format!("{OBJECTS}/{folder}");
            let seen = self
                .objects
                .names(&directory, &mut |name, _| names.push(name.to_owned()));
            self.usable("read", seen)?;
            names.iter().try_for_each(|name| see(name))?;
        }
        Ok(())
    }

    /// Waits until all that was put is safe.
    pub(super) fn settle(&self) -> anyhow::Result<()> {
        match &self.directory {
            Some((_, directory)) => self.usable("written", directory.settle()),
            None => Ok(()),
        }
    }

    fn usable<T>(&self, action: &'static str, result: io::Result<T>) -> anyhow::Result<T> {
        Ok(result.map_err(|source| Unusable {
            location: self.location().to_owned(),
            action,
            source,
        })?)
    }
}

#[cfg(feature = "s3")]
fn bucket(target: &str) -> anyhow::Result<Box<dyn Objects>> {
    let location = bucket::Location::parse(target)?;
    let bucket = bucket::Bucket::open(location).context("the backups cannot be reached")?;
    Ok(Box::new(bucket))
}

#[cfg(not(feature = "s3"))]
fn bucket(_: &str) -> anyhow::Result<Box<dyn Objects>> {
    bail!("this garner was built without S3 (feature `s3`); name a directory")
}

/// The name of the object that has these bytes.
pub(super) fn object_name(sha256: &str) -> String {
    format!("{OBJECTS}/{}/{sha256}", sha256.get(..2).unwrap_or("xx"))
}

const OBJECTS: &str = "objects";
/// The lists of backups.
pub(super) const LISTS: &str = "backups";
/// Tells that these are backups, and in which form.
const MARKER: &str = "garner-backup.json";
/// There while a backup is made, and after one was interrupted.
pub(super) const UNFINISHED: &str = "unfinished.json";
