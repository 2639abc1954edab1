//! `garner schedule pause` and `garner schedule resume`.

use std::process::ExitCode;

use clap::Args;
use operations::schedules;

use crate::commands::operating::Operating;
use crate::commands::schedule::Chosen;
use crate::commands::schedule::show::show;

/// Pause a schedule: nothing runs until it is resumed; a job that runs goes on
#[derive(Debug, Args)]
pub(super) struct Pause {
    #[command(flatten)]
    chosen: Chosen,
}

/// Resume a schedule that was paused
#[derive(Debug, Args)]
pub(super) struct Resume {
    #[command(flatten)]
    chosen: Chosen,
}

impl Pause {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let operating = Operating::open(&self.chosen.holdings)?;
        let paused = schedules::pause(&operating.context, &operating.actor, self.chosen.number);
        show(&operating, &operating.wait(paused)?, self.chosen.json)
    }
}

impl Resume {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let operating = Operating::open(&self.chosen.holdings)?;
        let resumed = schedules::resume(&operating.context, &operating.actor, self.chosen.number);
        show(&operating, &operating.wait(resumed)?, self.chosen.json)
    }
}
