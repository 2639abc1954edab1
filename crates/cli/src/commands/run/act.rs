//! `garner run stop`, `retry` and `again`.

use std::process::ExitCode;

use clap::Args;
use operations::runs::{self, Run};

use super::Chosen;
use super::show::describe;
use crate::commands::operating::Operating;
use crate::output::{to_stdout, write_json};

/// Stop a run, or withdraw it from the queue; what it has so far is kept
///
/// One that runs is asked to stop, and ends within seconds. A schedule goes on with its next run.
#[derive(Debug, Args)]
pub(super) struct Stop {
    #[command(flatten)]
    chosen: Chosen,
}

/// Retry a run that failed or was cancelled, under its own number
#[derive(Debug, Args)]
pub(super) struct Retry {
    #[command(flatten)]
    chosen: Chosen,
}

/// Do the same again, as a new run in the queue
#[derive(Debug, Args)]
pub(super) struct Again {
    #[command(flatten)]
    chosen: Chosen,
    /// Harvest everything, not only what changed
    #[arg(long)]
    full: bool,
}

impl Stop {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let operating = Operating::open(&self.chosen.holdings)?;
        let (context, id) = (&operating.context, self.chosen.number);
        operating.wait(runs::stop(context, &operating.actor, id))?;
        print(&operating.wait(runs::show(context, id))?, self.chosen.json)
    }
}

impl Retry {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let operating = Operating::open(&self.chosen.holdings)?;
        let retried = runs::retry(&operating.context, &operating.actor, self.chosen.number);
        print(&operating.wait(retried)?, self.chosen.json)
    }
}

impl Again {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let operating = Operating::open(&self.chosen.holdings)?;
        let (context, id) = (&operating.context, self.chosen.number);
        let again = runs::again(context, &operating.actor, id, self.full);
        print(&operating.wait(again)?, self.chosen.json)
    }
}

fn print(run: &Run, json: bool) -> anyhow::Result<ExitCode> {
    to_stdout(|out| {
        match json {
            true => write_json(out, run)?,
            false => describe(out, run)?,
        }
        Ok(ExitCode::SUCCESS)
    })
}
