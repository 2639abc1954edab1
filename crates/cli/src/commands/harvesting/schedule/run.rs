//! `garner schedule run`: the next run is due now.

use std::process::ExitCode;

use clap::Args;
use operations::schedules;

use crate::commands::job::show;
use crate::commands::operating::Operating;
use crate::commands::schedule::Chosen;

/// Run a schedule now, also if it is paused or has ended; prints the job
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    chosen: Chosen,
}

impl Run {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let operating = Operating::open(&self.chosen.holdings)?;
        let job = schedules::run(&operating.context, &operating.actor, self.chosen.number);
        show(&operating.wait(job)?, &[], self.chosen.json)
    }
}
