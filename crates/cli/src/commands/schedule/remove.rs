//! `garner schedule remove`: nothing runs by itself any more; what was harvested stays.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;

use super::show::ScheduleJson;
use super::{Chosen, schedule};
use crate::output::{to_stdout, write_json};

/// Remove a schedule; what was harvested or imported stays, and a job that runs goes on
#[derive(Debug, Args)]
pub(super) struct Remove {
    #[command(flatten)]
    chosen: Chosen,
}

impl Remove {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.chosen.holdings.open()?;
        let known = schedule(&holdings, self.chosen.number)?;
        holdings.wait(holdings.catalog().remove_schedule(known.id))?;
        holdings.wait(jobs::forget_access(&holdings, &known.settings.parameters))?;
        to_stdout(|out| {
            match self.chosen.json {
                true => write_json(out, &ScheduleJson::new(&known))?,
                false => writeln!(out, "removed schedule {}", known.id)?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
