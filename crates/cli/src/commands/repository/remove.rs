//! `garner repository remove`: forgets a repository, and removes its files if asked.

use std::io::{self, Write};
use std::process::ExitCode;

use catalog::RepositoryCounts;
use clap::Args;
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
        let removed = jobs::remove_repository(&holdings, &repository, self.files)?;
        let removed = Removed {
            id: repository.id,
            base_url: &repository.base_url,
            directory: removed.directory.to_string_lossy().into_owned(),
            counts: removed.counts,
            files: removed.files,
        };
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &removed)?,
                false => removed.say(out)?,
            }
            Ok(ExitCode::SUCCESS)
        })
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
