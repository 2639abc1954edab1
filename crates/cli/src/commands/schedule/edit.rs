//! `garner schedule edit`: changes what is given, and leaves the rest.

use std::process::ExitCode;

use anyhow::bail;
use catalog::Scheduled;
use clap::Args;
use jobs::ImportCrawl;

use super::importing::Importing;
use super::settings::{Harvesting, Times};
use super::show::show;
use super::{Chosen, schedule};
use crate::commands::network_options::NetworkOptions;

/// Change a schedule
///
/// What is not given stays. An empty text takes a setting of a harvest away: --set '' harvests all sets again, and
/// --credentials '' forgets the credentials. A harvest or an import that runs goes on as it was begun. An import of which something else is wanted reads everything again.
#[derive(Debug, Args)]
pub(super) struct Edit {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten, next_help_heading = "When")]
    times: Times,
    #[command(flatten, next_help_heading = "What is harvested")]
    harvesting: Harvesting,
    #[command(flatten, next_help_heading = "What is imported")]
    importing: Importing,
    #[command(flatten)]
    network: NetworkOptions,
}

impl Edit {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        if self.harvesting.sets().len() > 1 {
            bail!("a schedule harvests one set; add another with garner schedule add");
        }
        let holdings = self.chosen.holdings.open()?;
        let known = schedule(&holdings, self.chosen.number)?;
        let mut settings = known.settings.clone();
        self.times.apply(&mut settings)?;
        match &settings.what {
            Scheduled::Harvest { .. } if self.importing.is_given() => {
                bail!(
                    "schedule {} harvests a repository; it imports nothing",
                    known.id
                )
            }
            Scheduled::Import if self.harvesting.is_given() || self.network.is_given() => {
                bail!("schedule {} imports a crawl; it harvests nothing", known.id)
            }
            Scheduled::Harvest { .. } => {
                self.harvesting.apply(&holdings, &mut settings)?;
                let base_url = known.base_url.as_deref().unwrap_or_default();
                self.network
                    .apply(&holdings, base_url, None, &mut settings)?;
            }
            Scheduled::Import if self.importing.is_given() => {
                let mut order = ImportCrawl::parse(&settings.parameters)?;
                // Whoever runs this command names any file, whoever made the schedule.
                order.within.clear();
                self.importing.apply(order, &mut settings)?;
            }
            Scheduled::Import => {}
        }
        let catalog = holdings.catalog();
        let changed = catalog.change_schedule(known.id, known.version, &settings);
        let changed = holdings.wait(changed)?;
        if changed.settings.parameters != known.settings.parameters {
            holdings.wait(jobs::forget_access(&holdings, &known.settings.parameters))?;
        }
        show(&holdings, &changed, self.chosen.json)
    }
}
