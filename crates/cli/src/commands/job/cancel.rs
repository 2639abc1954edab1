//! `garner job cancel`: withdraws a job that waits, and stops one that runs.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Args;
use operations::jobs;

use super::{Chosen, show};
use crate::commands::operating::Operating;

/// Withdraw a job that waits, or stop one that runs
///
/// One that runs ends within seconds, and what it has so far is kept. A schedule goes on with its next run.
#[derive(Debug, Args)]
pub(super) struct Cancel {
    #[command(flatten)]
    chosen: Chosen,
}

impl Cancel {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let operating = Operating::open(&self.chosen.holdings)?;
        let (context, id) = (&operating.context, self.chosen.number);
        let cancelled = operating.wait(jobs::cancel(context, &operating.actor, id))?;
        let mut job = cancelled.job;
        let give_up = Instant::now() + LONGEST;
        while cancelled.asked && !job.state.is_over() {
            if Instant::now() > give_up {
                bail!("job {id} was asked to stop, and its worker has not answered yet");
            }
            std::thread::sleep(Duration::from_millis(100));
            job = operating.wait(jobs::show(context, id))?;
        }
        show(&job, &[], self.chosen.json)
    }
}

/// A worker hears of it within a second, and ends a harvest within a few more.
const LONGEST: Duration = Duration::from_secs(30);
