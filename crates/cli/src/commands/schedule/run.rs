//! `garner schedule run`: the next run is due now.

use std::process::ExitCode;

use clap::Args;

use super::{Chosen, schedule};
use crate::commands::job::show;

/// Let a schedule run now, also if it is paused or has ended; prints the job
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    chosen: Chosen,
}

impl Run {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.chosen.holdings.open()?;
        let known = schedule(&holdings, self.chosen.number)?;
        let catalog = holdings.catalog();
        let due = catalog.run_schedule_now(known.id, jobs::ATTEMPTS, Some(super::add::BY));
        let job = holdings.wait(due)?;
        show(&job, &[], self.chosen.json)
    }
}
