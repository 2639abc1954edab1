//! `garner verify`: whether the catalog and the collection agree.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use flows::{Finding, HarvestVerification, VerifyOptions};
use indicatif::ProgressBar;
use operations::verify::{Verified, verify};
use operations::{Actor, Context};

use super::LEFT_OUT;
use super::confine::confiner;
use super::holdings_options::HoldingsOptions;
use crate::human::style;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Compare documents, harvested records and mirrors with the catalog
///
/// Each document must have its file with the right digest, its .met file and its text, if one was read, and each file
/// must belong to a document.
/// Each harvested record must have its file, each of its resources its file in the mirror that it was unpacked into, and
/// each file there must belong to a record.
///
/// With --repair, .met files are written anew from the catalog, texts are read from their documents again, files that belong to nothing are taken in if their .met
/// file tells what they are, and documents whose bytes are lost are marked, so that an import which meets these bytes
/// again brings them back. Files that cannot be taken in, and those with other bytes, are moved to set-aside in the
/// collection; what cannot be read is left as it is. No import runs meanwhile. Files of records and mirrors that belong
/// to nothing are moved to set-aside in the data directory, and the next harvest asks for those that are missing.
///
/// Exits with 0 if all is in order or was repaired, and with 3 if not.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Repair what can be repaired
    #[arg(long)]
    repair: bool,
    /// How many threads read [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Print what was found as JSON
    #[arg(long)]
    json: bool,
    /// Say nothing if all is in order
    #[arg(long, short)]
    quiet: bool,
}

impl Verify {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        // A catalog that is lost is made again from the files.
        let is_there = self.holdings.data()?.join("documents").is_dir();
        let holdings = match self.repair && is_there {
            true => self.holdings.create()?,
            false => self.holdings.open()?,
        };
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let options = VerifyOptions {
            repair: self.repair,
            threads: self.jobs.map_or_else(cores, usize::from),
            confiner: Some(confiner()),
        };
        let (context, actor) = (Context::new(Arc::new(holdings)), Actor::command_line());
        let bar = bar(self.quiet);
        let verified = verify(&context, &actor, options, &|done| bar.set_position(done));
        bar.finish_and_clear();
        let verified = verified?;
        if self.json {
            to_stdout(|out| {
                write_json(out, &verified)?;
                Ok(ExitCode::SUCCESS)
            })?;
        }
        let Verified {
            documents,
            harvested,
        } = verified;
        self.tell(&documents.findings, documents.is_well(), &documents.said());
        // Without harvests there is nothing to say on them.
        if harvested != HarvestVerification::default() {
            self.tell(&harvested.findings, harvested.is_well(), &harvested.said());
        }
        Ok(match documents.is_well() && harvested.is_well() {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(LEFT_OUT),
        })
    }

    fn tell(&self, findings: &[Finding], is_well: bool, said: &str) {
        for finding in findings {
            let repair = match &finding.repair {
                Some(repair) => format!("; {repair}"),
                None => String::new(),
            };
            let (file, problem) = (plain(&finding.file), plain(&finding.problem));
            eprintln!("{file}: {problem}{repair}");
        }
        if !(self.quiet && is_well) {
            eprintln!("{}", plain(said));
        }
    }
}

fn bar(quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    bar.set_style(style("{spinner} {human_pos} contents, {rate}, {elapsed}"));
    bar
}
