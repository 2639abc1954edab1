//! `garner repository remove`: forgets a repository, and removes its files if asked.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use catalog::{Repository, RepositoryCounts};
use clap::Args;
use jobs::Holdings;
use serde::Serialize;

use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{Out, to_stdout, write_json};
use crate::text::plain;

/// Remove a repository with its records and its history from the catalog
///
/// Its files stay unless --files is given. Nothing is asked. It is refused while the repository is being harvested.
#[derive(Debug, Args)]
pub(super) struct Remove {
    /// Its base URL, or its number in garner repository list
    #[arg(value_name = "URL|NUMBER")]
    repository: String,
    /// Remove the files of its records too
    #[arg(long)]
    files: bool,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was removed.
#[derive(Serialize)]
struct Removed<'a> {
    id: i64,
    base_url: &'a str,
    directory: String,
    counts: RepositoryCounts,
    /// How many files; `None` if they stay.
    files: Option<u64>,
}

impl Remove {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.holdings.open()?;
        let repository = holdings.repository(&self.repository)?;
        let base = holdings.base_directory(&repository);
        // What stands in the way of this is found before anything is removed.
        let directories = match self.files {
            true => Some(self.directories(&holdings, &repository, &base)?),
            false => None,
        };
        let counts = holdings.wait(holdings.catalog().remove_repository(repository.id))?;
        let files = match directories {
            Some(directories) => Some(remove_files(&directories, &base).with_context(|| {
                format!(
                    "the catalog has forgotten {}, but not all of its files are removed",
                    repository.base_url
                )
            })?),
            None => None,
        };
        let removed = Removed {
            id: repository.id,
            base_url: &repository.base_url,
            directory: base.to_string_lossy().into_owned(),
            counts,
            files,
        };
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &removed)?,
                false => removed.say(out)?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }

    /// The directories of the repository's records: one for each format below its base directory. They must be its
    /// alone, and in the data directory.
    fn directories(
        &self,
        holdings: &Holdings,
        repository: &Repository,
        base: &Path,
    ) -> anyhow::Result<Vec<PathBuf>> {
        let Ok(own) = base.canonicalize() else {
            return Ok(Vec::new());
        };
        let data = self.holdings.data();
        let whole = data
            .canonicalize()
            .with_context(|| format!("the data directory {}", data.display()))?;
        if !own.starts_with(&whole) || own == whole {
            bail!(
                "the files lie in {}, not in a directory of their own below {}; leave out --files, and remove them yourself",
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
                    "the files of repository {} lie in {} too; leave out --files, and remove them yourself",
                    other.id,
                    base.display()
                );
            }
        }
        let held = holdings.wait(catalog.format_counts(repository.id))?;
        let directories = held
            .iter()
            .map(|held| holdings.record_directory(repository, &held.metadata_prefix));
        Ok(directories.collect())
    }
}

impl Removed<'_> {
    fn say(&self, out: &mut Out) -> io::Result<()> {
        let RepositoryCounts {
            records,
            deleted,
            sets,
            harvests,
            ..
        } = self.counts;
        let (id, base_url) = (self.id, plain(self.base_url));
        writeln!(
            out,
            "removed repository {id}, {base_url}: {records} records, {deleted} deleted ones, {sets} sets, {harvests} harvests"
        )?;
        let directory = plain(&self.directory);
        match self.files {
            Some(files) => writeln!(out, "removed {files} files in {directory}"),
            None => writeln!(out, "its files stay in {directory}"),
        }
    }
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
