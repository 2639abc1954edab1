//! `garner schedule remove`: nothing runs by itself any more; harvested records and imported documents stay.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::schedules;

use crate::commands::operating::Operating;
use crate::commands::schedule::Chosen;
use crate::output::{to_stdout, write_json};

/// Remove a schedule; records and documents stay, and a job that runs goes on
#[derive(Debug, Args)]
pub(super) struct Remove {
    #[command(flatten)]
    chosen: Chosen,
}

impl Remove {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let operating = Operating::open(&self.chosen.holdings)?;
        let removed = schedules::remove(&operating.context, &operating.actor, self.chosen.number);
        let removed = operating.wait(removed)?;
        to_stdout(|out| {
            match self.chosen.json {
                true => write_json(out, &removed)?,
                false => writeln!(out, "removed schedule {}", removed.id)?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
