//! `garner schedule pause` and `garner schedule resume`.

use std::process::ExitCode;

use clap::Args;

use super::show::show;
use super::{Chosen, schedule};

/// Let a schedule rest: nothing runs until it is resumed; a job that runs goes on
#[derive(Debug, Args)]
pub(super) struct Pause {
    #[command(flatten)]
    chosen: Chosen,
}

/// Let a schedule that was paused run again
#[derive(Debug, Args)]
pub(super) struct Resume {
    #[command(flatten)]
    chosen: Chosen,
}

impl Pause {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.chosen.holdings.open()?;
        let known = schedule(&holdings, self.chosen.number)?;
        let paused = holdings.catalog().pause_schedule(known.id);
        show(&holdings, &holdings.wait(paused)?, self.chosen.json)
    }
}

impl Resume {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.chosen.holdings.open()?;
        let known = schedule(&holdings, self.chosen.number)?;
        let resumed = holdings.catalog().resume_schedule(known.id);
        show(&holdings, &holdings.wait(resumed)?, self.chosen.json)
    }
}
