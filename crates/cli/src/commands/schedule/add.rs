//! `garner schedule add`: a repository is harvested, or a crawl imported, by itself from now on.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use catalog::{Repository, ScheduleSettings, Scheduled};
use clap::Args;
use harvester::{Client, Credentials};
use jobs::{HarvestParameters, Holdings};

use super::importing::Importing;
use super::settings::{Harvesting, Times};
use super::show::show;
use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::network_options::NetworkOptions;
use crate::config::Config;

/// Add a schedule: what is harvested or imported, and how often
///
/// A repository that is not known yet introduces itself first. With --every the first run is due at once, unless
/// --starts says otherwise.
///
/// Network options are those of its harvests. Credentials, proxy and certificates are copied into a file of the data
/// directory that only its owner may read, and are never shown; what else is not given is as garner worker or garner up
/// has it.
///
/// With --import a crawl is imported, as garner import does it. Each run goes on where the last one ended, so that only
/// what was added to archives is read, and archives that are new.
#[derive(Debug, Args)]
pub(super) struct Add {
    /// Where the repository answers, or its number in garner repository list
    #[arg(value_name = "URL|NUMBER")]
    repository: Option<String>,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// A configuration file with a table "import", for an import; flags win over it
    #[arg(long, value_name = "FILE", conflicts_with = "repository")]
    config: Option<PathBuf>,
    /// Do not run it until garner schedule resume
    #[arg(long)]
    paused: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten, next_help_heading = "When")]
    times: Times,
    #[command(flatten, next_help_heading = "What is harvested")]
    harvesting: Harvesting,
    #[command(flatten, next_help_heading = "What is imported")]
    importing: Importing,
    #[command(flatten)]
    network: NetworkOptions,
}

impl Add {
    pub(super) fn run(mut self) -> anyhow::Result<ExitCode> {
        if !self.times.has_frequency() {
            bail!("how often? give --every '1 day', --cron '0 3 * * *' or --once");
        }
        let settings = |what, parameters| ScheduleSettings {
            what,
            name: String::new(),
            parameters,
            frequency: String::new(),
            starts: None,
            ends: None,
        };
        let config = match &self.config {
            Some(file) => Config::read(file)?,
            None => Config::default(),
        };
        self.holdings = self.holdings.configured(&config);
        let is_import = self.importing.is_import() || self.config.is_some();
        let (holdings, settings) = match (&self.repository, is_import) {
            (Some(_), true) => {
                bail!("a schedule harvests a repository or imports a crawl; give one of them")
            }
            (None, true) => {
                if self.harvesting.is_given() || self.network.is_given() {
                    bail!(
                        "an import has no format, set, credentials or the like; see garner schedule add --help"
                    );
                }
                let mut settings = settings(Scheduled::Import, String::new());
                self.times.apply(&mut settings)?;
                let order = config.import.order()?;
                if config.import.no_database.is_some() {
                    bail!(
                        "what is scheduled goes into the catalog, and import.no_database wants it elsewhere; leave that out of the configuration file"
                    );
                }
                self.importing.apply(order, &mut settings)?;
                (self.holdings.create()?, settings)
            }
            (None, false) => bail!("what? give the URL of a repository, or --import PATH"),
            (Some(_), false) if self.importing.is_given() => {
                bail!("--import PATH is missing: these options are about an import")
            }
            (Some(repository), false) => {
                let holdings = self.holdings.create()?;
                let harvest = Scheduled::Harvest {
                    repository: 0,
                    metadata_prefix: String::new(),
                    set: None,
                };
                let mut settings = settings(harvest, HarvestParameters::default().text()?);
                // What is wrong with the options is told before anybody is asked.
                self.times.apply(&mut settings)?;
                self.harvesting.apply(&holdings, &mut settings)?;
                let (known, own) = self.known(&holdings, repository)?;
                if let Scheduled::Harvest { repository, .. } = &mut settings.what {
                    *repository = known.id;
                }
                self.network
                    .apply(&holdings, &known.base_url, own.as_ref(), &mut settings)?;
                (holdings, settings)
            }
        };
        for set in self.harvesting.sets() {
            let mut settings = settings.clone();
            if let Scheduled::Harvest { set: own, .. } = &mut settings.what {
                *own = set;
            }
            let added = holdings.catalog().add_schedule(&settings, self.paused);
            show(&holdings, &holdings.wait(added)?, self.json)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The repository, which introduces itself if it is new, and what opens it.
    fn known(
        &self,
        holdings: &Holdings,
        repository: &str,
    ) -> anyhow::Result<(Repository, Option<Credentials>)> {
        if repository.parse::<i64>().is_ok() {
            return Ok((holdings.repository(repository)?, None));
        }
        let client = Client::new(self.network.client_options()?)?;
        let remote = client.repository(repository)?;
        let base_url = remote.base_url();
        let known = holdings.catalog().repository_at(&base_url);
        if let Some(known) = holdings.wait(known)? {
            return Ok((known, remote.credentials().cloned()));
        }
        let known = jobs::introduce(&remote)?.keep(holdings, None)?;
        Ok((known, remote.credentials().cloned()))
    }
}

/// Who changed something, if it was done here.
pub(super) const BY: &str = "the command line";
