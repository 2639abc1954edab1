//! `garner schedule add`: a repository is harvested by itself from now on.

use std::process::ExitCode;

use anyhow::bail;
use catalog::ScheduleSettings;
use clap::Args;
use harvester::Client;
use jobs::{HarvestParameters, Holdings};

use super::settings::Settings;
use super::show::show;
use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::network_options::NetworkOptions;

/// Add a schedule: what is harvested, and how often
///
/// A repository that is not known yet introduces itself first. With --every the first harvest is due at once, unless
/// --starts says otherwise.
#[derive(Debug, Args)]
pub(super) struct Add {
    /// Where the repository answers, or its number in garner repository list
    #[arg(value_name = "URL|NUMBER")]
    repository: String,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Do not run it until garner schedule resume
    #[arg(long)]
    paused: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten, next_help_heading = "What is harvested, and when")]
    settings: Settings,
    #[command(flatten)]
    network: NetworkOptions,
}

impl Add {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        if !self.settings.has_frequency() {
            bail!("how often? give --every '1 day', --cron '0 3 * * *' or --once");
        }
        let holdings = self.holdings.create()?;
        let mut settings = ScheduleSettings {
            repository: 0,
            name: String::new(),
            metadata_prefix: String::new(),
            set: None,
            parameters: HarvestParameters::default().text()?,
            frequency: String::new(),
            starts: None,
            ends: None,
        };
        // What is wrong with the options is told before anybody is asked.
        self.settings.apply(&holdings, &mut settings)?;
        settings.repository = self.repository(&holdings)?;
        let added = holdings.catalog().add_schedule(&settings, self.paused);
        let schedule = holdings.wait(added)?;
        show(&holdings, &schedule, self.json)
    }

    /// The number of the repository, which introduces itself if it is new.
    fn repository(&self, holdings: &Holdings) -> anyhow::Result<i64> {
        if self.repository.parse::<i64>().is_ok() {
            return Ok(holdings.repository(&self.repository)?.id);
        }
        let client = Client::new(self.network.client_options()?)?;
        let remote = client.repository(&self.repository)?;
        let base_url = remote.base_url();
        let known = holdings.catalog().repository_at(&base_url);
        if let Some(known) = holdings.wait(known)? {
            return Ok(known.id);
        }
        Ok(jobs::introduce(&remote)?.keep(holdings, None)?.id)
    }
}

/// Who changed something, if it was done here.
pub(super) const BY: &str = "the command line";
