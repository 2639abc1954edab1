//! Repositories are forgotten, and their files removed if that is wanted.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use catalog::{Repository, RepositoryCounts};

use crate::Holdings;
use crate::records::packs_in_store;

/// The result of a removal.
#[derive(Debug)]
pub struct Removed {
    /// Where its files lie, or lay.
    pub directory: PathBuf,
    /// The numbers of rows that the catalog had of it.
    pub counts: RepositoryCounts,
    /// How many files; `None` if they stay.
    pub files: Option<u64>,
}

/// Removes a repository with its records and its history from the catalog, and its files too if they are its alone and
/// lie in the data directory. Refused while it is being harvested.
pub fn remove_repository(
    holdings: &Holdings,
    repository: &Repository,
    files: bool,
) -> anyhow::Result<Removed> {
    let base = holdings.base_directory(repository);
    // Obstacles are found before anything is removed.
    let directories = match files {
        true => Some(directories(holdings, repository, &base)?),
        false => None,
    };
    let packs = match files {
        true => stored_packs(holdings, repository)?,
        false => Vec::new(),
    };
    let counts = holdings.wait(holdings.catalog().remove_repository(repository.id))?;
    let files = match directories {
        Some(directories) => Some(
            remove_all(holdings, &directories, &base, &packs).with_context(|| {
                format!(
                    "the catalog has forgotten {}, but not all of its files are removed",
                    repository.base_url
                )
            })?,
        ),
        None => None,
    };
    Ok(Removed {
        directory: base,
        counts,
        files,
    })
}

/// The packs in the store that the repository has records in.
fn stored_packs(holdings: &Holdings, repository: &Repository) -> anyhow::Result<Vec<String>> {
    let mut packs = Vec::new();
    for prefix in holdings.wait(holdings.catalog().formats_held(repository.id))? {
        packs.extend(packs_in_store(holdings, repository, &prefix)?);
    }
    Ok(packs)
}

fn remove_all(
    holdings: &Holdings,
    directories: &[PathBuf],
    base: &Path,
    packs: &[String],
) -> anyhow::Result<u64> {
    let files = remove_files(directories, base)?;
    for pack in packs {
        holdings.stored_packs()?.remove(pack)?;
    }
    Ok(files + packs.len() as u64)
}

/// Why the files of a repository cannot be removed with it, if they cannot.
pub fn check_files(holdings: &Holdings, repository: &Repository) -> anyhow::Result<()> {
    let base = holdings.base_directory(repository);
    directories(holdings, repository, &base).map(drop)
}

/// The directories of the repository's records: one for each format below its base directory. They must be its
/// alone, and in the data directory.
fn directories(
    holdings: &Holdings,
    repository: &Repository,
    base: &Path,
) -> anyhow::Result<Vec<PathBuf>> {
    let Ok(own) = base.canonicalize() else {
        return Ok(Vec::new());
    };
    let data = holdings.directory();
    let whole = data
        .canonicalize()
        .with_context(|| format!("the data directory {}", data.display()))?;
    if !own.starts_with(&whole) || own == whole {
        bail!(
            "the files lie in {}, not in a directory of their own below {}; keep the files here, and remove them yourself",
            base.display(),
            data.display()
        );
    }
    let catalog = holdings.catalog();
    for other in holdings.wait(catalog.repositories())? {
        let theirs = holdings.base_directory(&other).canonicalize();
        let mixed = |theirs: &PathBuf| theirs.starts_with(&own) || own.starts_with(theirs);
        if other.id != repository.id && theirs.is_ok_and(|theirs| mixed(&theirs)) {
            bail!(
                "the files of repository {} lie in {} too; keep the files here, and remove them yourself",
                other.id,
                base.display()
            );
        }
    }
    // Also those whose records an earlier removal took from the catalog before it was killed.
    let held = holdings.wait(catalog.formats_held(repository.id))?;
    let directories = held
        .iter()
        .map(|prefix| holdings.record_directory(repository, prefix));
    Ok(directories.collect())
}

/// Removes the directories, and the base directory if nothing else is in it. Links are removed, never followed.
fn remove_files(directories: &[PathBuf], base: &Path) -> anyhow::Result<u64> {
    let mut files = 0;
    for directory in directories {
        let removed = count(directory).and_then(|count| {
            std::fs::remove_dir_all(directory)?;
            Ok(count)
        });
        match removed {
            Ok(count) => files += count,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| directory.display().to_string()),
        }
    }
    // It is not empty if the user has put something there.
    let _ = std::fs::remove_dir(base);
    Ok(files)
}

fn count(directory: &Path) -> io::Result<u64> {
    let mut files = 0;
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => directories.push(entry.path()),
                false => files += 1,
            }
        }
    }
    Ok(files)
}
