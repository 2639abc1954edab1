//! A backup becomes a data directory again.

use std::fs::{DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};
use catalog::Catalog;
use harvester::Stop;
use serde::Serialize;

use super::file::copy_digested;
use super::list::{Entry, Header};
use super::place::{Place, object_name};
use crate::Holdings;

/// Which backup is restored, and where its catalog goes.
#[derive(Debug, Clone, Default)]
pub struct RestoreOptions {
    /// The name of the backup; the newest if nothing is said.
    pub name: Option<String>,
    /// The database that gets the catalog, if it is not to be a file in the directory.
    pub catalog: Option<String>,
}

/// Counts of a restoration.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Restored {
    /// The name of the backup.
    pub name: String,
    /// The files that are there now.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that the backup has no longer as they were.
    pub damaged: Vec<String>,
}

/// Restores a backup into a directory that is empty or not there. Every file is compared with its digest; the damaged ones
/// are left out and named. One that was interrupted can be done again.
pub fn restore(
    target: &str,
    directory: &Path,
    options: &RestoreOptions,
    stop: &Stop,
    progress: &dyn Fn(&Restored),
) -> anyhow::Result<Restored> {
    let place = Place::open(target)?;
    let lists = place.lists()?;
    let name = match &options.name {
        Some(name) if lists.contains(name) => name.clone(),
        Some(name) => bail!(
            "there is no backup `{name}` at {target}; there are: {}",
            lists.join(", ")
        ),
        None => match lists.last() {
            Some(name) => name.clone(),
            None => bail!(
                "no backup at {target} was finished; run garner backup again, it resumes the one that was interrupted"
            ),
        },
    };
    let mut list = place.open_list(&name)?;
    check_schema(&list.header)?;
    begin(directory)?;
    let mut done = Restored {
        name,
        ..Restored::default()
    };
    let catalog = restore_catalog(&place, directory, &list.header)?;
    while let Some(entry) = list.next_entry()? {
        if stop.is_set() {
            bail!("the restore was stopped; run it again to resume it");
        }
        let path = entry.relative_path()?;
        match restore_file(&place, directory, &path, &entry)? {
            Ok(()) => {
                done.files += 1;
                done.bytes += entry.size;
            }
            Err(reason) => done.damaged.push(format!("`{}`: {reason}", path.display())),
        }
        progress(&done);
    }
    settle_catalog(directory, &catalog, options.catalog.as_deref())?;
    std::fs::remove_file(directory.join(MARKER))?;
    rustix::fs::syncfs(File::open(directory)?)?;
    Ok(done)
}

fn check_schema(header: &Header) -> anyhow::Result<()> {
    let (made, known) = (header.catalog.schema, Catalog::schema_version());
    if made > known {
        bail!(
            "the backup {} was made by a newer garner ({}, catalog version {made}; this one knows {known}); use that garner to restore it",
            header.name,
            header.garner
        );
    }
    Ok(())
}

/// Makes the directory, and marks it until all is there.
fn begin(directory: &Path) -> anyhow::Result<()> {
    let shown = directory.display();
    let made = DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory);
    made.with_context(|| format!("the directory {shown} cannot be made"))?;
    let marker = directory.join(MARKER);
    if marker.exists() {
        return Ok(());
    }
    let mut entries = std::fs::read_dir(directory)
        .with_context(|| format!("the directory {shown} cannot be read"))?;
    if entries.next().is_some() {
        bail!("the directory {shown} is not empty; name one that is new, with --data");
    }
    std::fs::write(&marker, "a restore is not finished here\n")
        .with_context(|| format!("the directory {shown} cannot be written"))
}

/// Brings the catalog, under a name of its own for now.
fn restore_catalog(place: &Place, directory: &Path, header: &Header) -> anyhow::Result<PathBuf> {
    let file = directory.join(".garner-backup-catalog");
    for suffix in ["", "-wal", "-shm"] {
        remove(&PathBuf::from(format!("{}{suffix}", file.display())))?;
    }
    let expected = &header.catalog;
    let damaged = |reason: String| {
        format!(
            "the catalog of the backup {} is damaged ({reason}); restore an earlier backup with --name, or the files of this one can be imported again",
            header.name
        )
    };
    let mut bytes = place
        .get(&object_name(&expected.sha256))
        .with_context(|| damaged("it cannot be read".to_owned()))?;
    let mut out = new_file(&file, 0o600)?;
    let (sha256, size) = copy_digested(&mut bytes, &mut out)?;
    if (sha256.as_str(), size) != (expected.sha256.as_str(), expected.size) {
        bail!(damaged("its digest differs".to_owned()));
    }
    out.sync_all()?;
    Ok(file)
}

/// Puts the catalog where it belongs, as the last of all.
fn settle_catalog(directory: &Path, file: &Path, to: Option<&str>) -> anyhow::Result<()> {
    let Some(location) = to else {
        std::fs::rename(file, directory.join("catalog.sqlite"))?;
        return Ok(());
    };
    let target = Holdings::create(directory, Some(location))?;
    let source = target.wait(Catalog::open(&file.to_string_lossy()))?;
    target.wait(source.copy_to(target.catalog(), &mut |_| {}))?;
    target.wait(source.close());
    for suffix in ["", "-wal", "-shm"] {
        remove(&PathBuf::from(format!("{}{suffix}", file.display())))?;
    }
    Ok(())
}

/// Brings a file. The inner error is a damage of the backup.
fn restore_file(
    place: &Place,
    directory: &Path,
    path: &Path,
    entry: &Entry,
) -> anyhow::Result<Result<(), String>> {
    let target = directory.join(path);
    let folder = target.parent().unwrap_or(directory);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("the directory {} cannot be made", folder.display()))?;
    let mut bytes = match place.get(&object_name(&entry.sha256)) {
        Ok(bytes) => bytes,
        Err(error) => return Ok(Err(format!("its bytes cannot be read: {error:#}"))),
    };
    // One that a restore before this one brought is brought again.
    remove(&target)?;
    let mut out = new_file(&target, entry.mode)?;
    let copied = copy_digested(&mut bytes, &mut out)
        .with_context(|| format!("`{}` cannot be written", target.display()))?;
    if copied != (entry.sha256.clone(), entry.size) {
        drop(out);
        remove(&target)?;
        return Ok(Err(
            "its bytes in the backup are not those that were backed up".to_owned(),
        ));
    }
    let since = Duration::from_nanos(entry.modified.unsigned_abs());
    let modified = match entry.modified >= 0 {
        true => SystemTime::UNIX_EPOCH + since,
        false => SystemTime::UNIX_EPOCH - since,
    };
    out.set_modified(modified)?;
    Ok(Ok(()))
}

fn new_file(path: &Path, mode: u32) -> anyhow::Result<File> {
    let file =
        File::create_new(path).with_context(|| format!("`{}` cannot be made", path.display()))?;
    file.set_permissions(PermissionsExt::from_mode(mode & 0o777))?;
    Ok(file)
}

fn remove(path: &Path) -> anyhow::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("`{}` cannot be removed", path.display()))
        }
        _ => Ok(()),
    }
}

/// There until a restore is finished.
const MARKER: &str = ".garner-restore";
