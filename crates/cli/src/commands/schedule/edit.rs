//! `garner schedule edit`: changes what is given, and leaves the rest.

use std::process::ExitCode;

use clap::Args;

use super::settings::Settings;
use super::show::show;
use super::{Chosen, schedule};

/// Change a schedule
///
/// What is not given stays. An empty text takes a setting away: --set '' harvests all sets again. A harvest that runs
/// goes on as it was begun.
#[derive(Debug, Args)]
pub(super) struct Edit {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten, next_help_heading = "What is harvested, and when")]
    settings: Settings,
}

impl Edit {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.chosen.holdings.open()?;
        let known = schedule(&holdings, self.chosen.number)?;
        let mut settings = known.settings.clone();
        self.settings.apply(&holdings, &mut settings)?;
        let catalog = holdings.catalog();
        let changed = catalog.change_schedule(known.id, known.version, &settings);
        show(&holdings, &holdings.wait(changed)?, self.chosen.json)
    }
}
