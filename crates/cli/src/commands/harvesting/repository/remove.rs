//! `garner repository remove`: removes a repository, and its files if asked.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use operations::Actor;
use operations::repositories::{self, RemovedRepository};

use crate::commands::repository::Chosen;
use crate::output::{Out, to_stdout, write_json};
use crate::text::plain;

/// Remove a repository with its records and its history from the catalog
///
/// Its files stay unless --files is given. Nothing is asked. It is refused while the repository is being harvested.
#[derive(Debug, Args)]
pub(super) struct Remove {
    #[command(flatten)]
    chosen: Chosen,
    /// Remove the files of its records too
    #[arg(long)]
    files: bool,
}

impl Remove {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (context, actor) = (self.chosen.holdings.context()?, Actor::command_line());
        let id = context.holdings().repository(&self.chosen.repository)?.id;
        let removed = context.wait(repositories::remove(&context, &actor, id, self.files))?;
        to_stdout(|out| {
            match self.chosen.json {
                true => write_json(out, &removed)?,
                false => text(out, &removed)?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn text(out: &mut Out, removed: &RemovedRepository) -> io::Result<()> {
    let RemovedRepository {
        id,
        records,
        deleted,
        sets,
        harvests,
        ..
    } = removed;
    writeln!(
        out,
        "removed repository {id}, {}: {records} records, {deleted} deleted ones, {sets} sets, {harvests} harvests",
        plain(&removed.base_url)
    )?;
    let directory = plain(&removed.directory);
    match removed.files {
        Some(files) => writeln!(out, "removed {files} files in {directory}"),
        None => writeln!(out, "its files stay in {directory}"),
    }
}
