//! `garner backup`: the data directory and the catalog, copied while everything runs.

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use flows::{BackedUp, BackupOptions};
use harvester::Stop;
use operations::{Actor, Context, upkeep};

use crate::commands::LEFT_OUT;
use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{to_stdout, write_json};
use crate::text::{bytes, plain};

/// Back up the data directory and the catalog, while everything runs
///
/// PLACE is a directory, best on another disk, or s3://BUCKET/PREFIX. The catalog is copied as it stands at one moment,
/// on SQLite and on PostgreSQL. A further backup to the same place copies only new and changed files; all backups there
/// can be restored, see garner restore. One that was interrupted is resumed by the next.
///
/// Documents in a bucket, and records outside of the data directory, are named and not copied.
///
/// Exits with 0 if all was copied, with 3 if files could not be read, and with 1 if there is no backup.
#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// A directory that is empty or has backups, or s3://BUCKET/PREFIX
    place: String,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Keep the newest N backups, with this one, and remove the others [default: all]
    #[arg(long, value_name = "N")]
    keep: Option<NonZeroUsize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Say nothing unless something is wrong
    #[arg(long, short)]
    quiet: bool,
}

impl Backup {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let context = Context::new(Arc::new(self.holdings.open()?));
        let stop = Stop::default();
        super::stop_on_signal(&stop)?;
        let options = BackupOptions {
            keep: self.keep.map(NonZeroUsize::get),
        };
        let bar = super::file_bar(self.quiet);
        let progress = |done: &BackedUp| bar.set_position(done.files);
        let actor = Actor::command_line();
        let done = upkeep::backup(&context, &actor, &self.place, options, &stop, &progress);
        bar.finish_and_clear();
        let done = done?;
        for failure in &done.failures {
            eprintln!("not backed up: {}", plain(failure));
        }
        if self.json {
            to_stdout(|out| {
                write_json(out, &done)?;
                Ok(ExitCode::SUCCESS)
            })?;
        } else if !self.quiet {
            tell(&done);
        }
        Ok(match done.failures.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(LEFT_OUT),
        })
    }
}

fn tell(done: &BackedUp) {
    if done.resumed {
        eprintln!("the backup that was interrupted here was resumed");
    }
    for place in &done.elsewhere {
        eprintln!(
            "not in the backup: {}; back that up where it is",
            plain(place)
        );
    }
    eprintln!(
        "backup {} at {}: {} files, {}; {} new or changed, {} copied",
        done.name,
        plain(&done.place),
        done.files,
        bytes(done.bytes),
        done.copied_files,
        bytes(done.copied_bytes)
    );
    if done.removed > 0 {
        eprintln!("{} older backups were removed", done.removed);
    }
}
