//! `garner documents citations`: how often documents are cited, for whitelists.

use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use flows::counted;
use operations::{Actor, whitelist};

use crate::commands::LEFT_OUT;
use crate::commands::holdings_options::HoldingsOptions;

/// Keep how often documents are cited, for garner whitelist
///
/// The file is a CSV with the columns document (the number) or url, and citations. A number that is given again takes the
/// place of the one before. Numbers by URL are kept also for documents that are not there yet.
///
/// Exits with 3 if some of the numbers are not those of documents.
#[derive(Debug, Args)]
pub(super) struct Citations {
    /// The CSV
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    holdings: HoldingsOptions,
}

impl Citations {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        let path = self.file.display();
        let mut file = File::open(&self.file).with_context(|| format!("cannot read `{path}`"))?;
        let kept = whitelist::load_citations(&context, &Actor::command_line(), &mut file);
        let kept = kept.with_context(|| format!("in `{path}`"))?;
        eprintln!(
            "the citations of {} are kept",
            counted(kept.kept, "document")
        );
        if kept.unknown > 0 {
            eprintln!("{} numbers are not those of documents", kept.unknown);
            return Ok(ExitCode::from(LEFT_OUT));
        }
        Ok(ExitCode::SUCCESS)
    }
}
