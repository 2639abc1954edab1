//! `garner job cancel`: withdraws a job that waits, and stops one that runs.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::bail;
use catalog::{Cancelled, LogLevel};
use clap::Args;

use super::{Chosen, job, show};

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
        let holdings = self.chosen.holdings.open()?;
        let known = job(&holdings, self.chosen.number)?;
        let catalog = holdings.catalog();
        match holdings.wait(catalog.cancel_job(known.id))? {
            Cancelled::Withdrawn => {}
            Cancelled::Asked => {
                let line = "asked to stop by the command line";
                holdings.wait(catalog.log_job(known.id, LogLevel::Info, line))?;
                let give_up = Instant::now() + LONGEST;
                while !job(&holdings, known.id)?.state.is_over() {
                    if Instant::now() > give_up {
                        bail!(
                            "job {} was asked to stop, and its worker has not said anything yet",
                            known.id
                        );
                    }
                    std::thread::sleep(Duration::from_millis(100));
                }
            }
            Cancelled::Over(state) => bail!("job {} is {} already", known.id, state.name()),
            Cancelled::Unknown => bail!("job {} was removed meanwhile", known.id),
        }
        show(&job(&holdings, known.id)?, &[], self.chosen.json)
    }
}

/// A worker hears of it within a second, and ends a harvest within a few more.
const LONGEST: Duration = Duration::from_secs(30);
