//! `garner job retry`: tries a job again that failed or was cancelled.

use std::process::ExitCode;

use clap::Args;

use super::{Chosen, job, show};

/// Try a job again that failed or was cancelled
#[derive(Debug, Args)]
pub(super) struct Retry {
    #[command(flatten)]
    chosen: Chosen,
}

impl Retry {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.chosen.holdings.open()?;
        let known = job(&holdings, self.chosen.number)?;
        let again = holdings.wait(holdings.catalog().retry_job(known.id))?;
        show(&again, &[], self.chosen.json)
    }
}
