//! `garner statistics`: figures on everything that is held.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::statistics;

use super::holdings_options::HoldingsOptions;
use crate::output::{to_stdout, write_json};

/// Show figures on repositories, records, harvests and jobs
///
/// `unread` counts the records that cannot be found by their words, because their files could not be read.
#[derive(Debug, Args)]
pub(crate) struct Statistics {
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Statistics {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        let totals = context.wait(statistics::totals(&context))?;
        to_stdout(|out| {
            if self.json {
                write_json(out, &totals)?;
                return Ok(ExitCode::SUCCESS);
            }
            let (jobs, health) = (&totals.jobs, &totals.health);
            for (name, number) in [
                ("repositories", totals.repositories),
                ("  ok", health.ok),
                ("  running", health.running),
                ("  incomplete", health.incomplete),
                ("  failing", health.failing),
                ("  never harvested", health.never),
                ("records", totals.records),
                ("  deleted", totals.deleted),
                ("  unread", totals.unread),
                ("harvests", totals.harvests),
                ("  bytes", totals.bytes),
                ("jobs scheduled", jobs.scheduled),
                ("jobs running", jobs.running),
                ("jobs finished", jobs.finished),
                ("jobs failed", jobs.failed),
                ("jobs cancelled", jobs.cancelled),
            ] {
                writeln!(out, "{name:<18} {number:>16}")?;
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
