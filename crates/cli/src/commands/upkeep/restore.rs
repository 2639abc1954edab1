//! `garner restore`: a backup becomes a data directory again.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use flows::{RestoreOptions, Restored};
use harvester::Stop;

use crate::commands::LEFT_OUT;
use crate::commands::holdings_options::warn_of_password;
use crate::output::{to_stdout, write_json};
use crate::text::{bytes, plain};

/// Restore a backup into a new data directory
///
/// Every file is compared with its digest; damaged ones are left out and named. With --catalog the catalog goes into an
/// empty database, of either kind. Afterwards start garner up on the directory: what was running when the backup was
/// made is resumed.
///
/// Exits with 0 if all is there, with 3 if files were damaged, and with 1 if nothing was restored.
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// The directory or s3://BUCKET/PREFIX that garner backup was given
    place: String,
    /// The data directory to make; it has to be empty or not there
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// An empty database for the catalog: postgres://USER@HOST/DATABASE, or a SQLite file [default: catalog.sqlite in DIR]
    #[arg(long, value_name = "URL|FILE")]
    catalog: Option<String>,
    /// Restore the backup of this name [default: the newest]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Say nothing unless something is wrong
    #[arg(long, short)]
    quiet: bool,
}

impl Restore {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        warn_of_password(self.catalog.as_deref());
        let stop = Stop::default();
        super::stop_on_signal(&stop)?;
        let options = RestoreOptions {
            name: self.name.clone(),
            catalog: self.catalog.clone(),
        };
        let bar = super::file_bar(self.quiet);
        let progress = |done: &Restored| bar.set_position(done.files);
        let restored = flows::restore(&self.place, &self.data, &options, &stop, &progress);
        bar.finish_and_clear();
        let restored = restored?;
        for damaged in &restored.damaged {
            eprintln!("damaged, and not restored: {}", plain(damaged));
        }
        if self.json {
            to_stdout(|out| {
                write_json(out, &restored)?;
                Ok(ExitCode::SUCCESS)
            })?;
        } else if !self.quiet {
            eprintln!(
                "restored {}: {} files, {}, in {}",
                restored.name,
                restored.files,
                bytes(restored.bytes),
                plain(&self.data.display().to_string())
            );
        }
        Ok(match restored.damaged.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(LEFT_OUT),
        })
    }
}
