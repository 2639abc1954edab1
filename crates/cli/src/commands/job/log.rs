//! `garner job log`: the log of a job.

use std::process::ExitCode;

use clap::Args;
use operations::jobs;

use super::Chosen;
use super::show::{ALL, log_line};
use crate::commands::operating::Operating;
use crate::output::{to_stdout, write_json};

/// Print the log of a job; garner job show --follow prints it as it grows
#[derive(Debug, Args)]
pub(super) struct Log {
    #[command(flatten)]
    chosen: Chosen,
}

impl Log {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let operating = Operating::open(&self.chosen.holdings)?;
        let lines = jobs::log(&operating.context, self.chosen.number, 0, ALL);
        let lines = operating.wait(lines)?.items;
        to_stdout(|out| {
            for line in &lines {
                match self.chosen.json {
                    true => write_json(out, line)?,
                    false => log_line(out, line)?,
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
