//! `garner job retry`: retries a job that failed or was cancelled.

use std::process::ExitCode;

use clap::Args;
use operations::jobs;

use super::{Chosen, show};
use crate::commands::operating::Operating;

/// Retry a job that failed or was cancelled
#[derive(Debug, Args)]
pub(super) struct Retry {
    #[command(flatten)]
    chosen: Chosen,
}

impl Retry {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let operating = Operating::open(&self.chosen.holdings)?;
        let again = jobs::retry(&operating.context, &operating.actor, self.chosen.number);
        show(&operating.wait(again)?, &[], self.chosen.json)
    }
}
