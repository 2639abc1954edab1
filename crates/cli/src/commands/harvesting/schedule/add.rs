//! `garner schedule add`: a repository is harvested, or a crawl imported, by itself from now on.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use catalog::Repository;
use clap::Args;
use flows::{Access, HarvestOrder, Holdings};
use harvester::{Client, ClientOptions};
use operations::schedules::{self, NewSchedule, SchedulePatch};
use operations::{HarvestPatch, ImportPatch, Mistake, Refusal, Secret, Setting};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::operating::Operating;
use crate::commands::schedule::settings::Times;
use crate::commands::schedule::show::show;
use crate::config::Config;

/// Add a schedule: what is harvested or imported, and how often
///
/// A repository that is not known yet introduces itself first. With --every the first run is due at once, unless
/// --starts says otherwise.
///
/// Credentials, proxy and certificates are copied into a file of the data directory that only its owner may read, and
/// are never shown. Network options that are not given are those of garner worker or garner up.
///
/// With --import a crawl is imported, as garner import does it. Each run resumes where the last one ended, so that only
/// new archives are read, and what was added to others.
#[derive(Debug, Args)]
pub(super) struct Add {
    /// Where the repository answers, or its number in garner repository list
    #[arg(value_name = "URL|NUMBER")]
    repository: Option<String>,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Do not run it until garner schedule resume
    #[arg(long)]
    paused: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten, next_help_heading = "When")]
    times: Times,
    /// The format of the records [default: oai_dc; oai_didl with --unpack or --warc]
    #[arg(long, value_name = "PREFIX", help_heading = "Harvest options")]
    prefix: Option<String>,
    /// Only records of this set; given several times, a schedule is added for each
    #[arg(long, value_name = "SET", help_heading = "Harvest options")]
    set: Vec<String>,
    #[command(flatten)]
    harvest: HarvestPatch,
    /// Import this, not harvest: archives, directories of archives, or the directory of a mirror. Each run imports what
    /// has come since the last
    #[arg(long = "import", value_name = "PATH", num_args = 1.., help_heading = "Which documents")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    import: ImportPatch,
}

impl Add {
    pub(super) fn run(mut self) -> anyhow::Result<ExitCode> {
        let config = self.holdings.configuration()?;
        if !self.paths.is_empty() {
            self.import.paths = Some(self.paths.clone());
        }
        let is_import = self.import.names_sources()
            || self.repository.is_none() && self.holdings.config_file().is_some();
        match (&self.repository, is_import) {
            (Some(_), true) => {
                bail!("a schedule harvests a repository or imports a crawl; give one of them")
            }
            (None, true) => self.add_import(&config),
            (None, false) => bail!("what? give the URL of a repository, or --import PATH"),
            (Some(_), false) => {
                share_no_sync(&mut self.harvest, &mut self.import);
                if self.import.is_given() {
                    bail!("--import PATH is missing: these options are about an import");
                }
                self.add_harvests()
            }
        }
    }

    fn add_import(&self, config: &Config) -> anyhow::Result<ExitCode> {
        if self.harvest.is_given() || self.prefix.is_some() || !self.set.is_empty() {
            bail!(
                "an import has no format, set, credentials or the like; see garner schedule add --help"
            );
        }
        let mut operating = Operating::on(self.holdings.create()?);
        operating.context = operating.context.configured(config.settings()?);
        // The sources of the configuration are imported, unless flags name others.
        let mut import = self.import.clone();
        let configured = &config.import.patch;
        import.paths = import.paths.or_else(|| configured.paths.clone());
        let new = NewSchedule {
            repository: None,
            paused: self.paused,
            patch: SchedulePatch {
                import: Some(import),
                ..self.times.patch()
            },
        };
        let added = schedules::add(&operating.context, &operating.actor, &new);
        show(&operating, &operating.wait(added)?, self.json)
    }

    fn add_harvests(&mut self) -> anyhow::Result<ExitCode> {
        // Mistakes in the options are reported before any request is sent.
        let mut order = HarvestOrder::default();
        self.harvest.apply(&mut order);
        let mut mistakes = order.check();
        // The way is settled when the repository is asked.
        let is_directory = |mistake: &Mistake| matches!(mistake.field, Some("unpack" | "warc"));
        mistakes.extend(order.check_places().into_iter().filter(is_directory));
        Refusal::unless_empty(mistakes)?;
        let operating = Operating::on(self.holdings.create()?);
        let times = self.times.patch();
        let times = schedules::preview_times(&operating.context, &times, 1);
        Refusal::unless_empty(operating.wait(times)?.mistakes)?;
        let repository = self.repository(&operating.holdings, &order)?;
        for set in self.sets() {
            let new = NewSchedule {
                repository: Some(repository.id),
                paused: self.paused,
                patch: SchedulePatch {
                    metadata_prefix: self.prefix.clone(),
                    set,
                    harvest: Some(self.harvest.clone()),
                    ..self.times.patch()
                },
            };
            let added = schedules::add(&operating.context, &operating.actor, &new);
            show(&operating, &operating.wait(added)?, self.json)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The sets that schedules are added for, each once; without any, one schedule for all records.
    fn sets(&self) -> Vec<Option<String>> {
        let mut sets = Vec::new();
        for set in self.set.iter().filter(|set| !set.is_empty()) {
            if !sets.contains(&Some(set.clone())) {
                sets.push(Some(set.clone()));
            }
        }
        if sets.is_empty() {
            sets.push(None);
        }
        sets
    }

    /// The repository, which introduces itself if it is new. Credentials of its URL are those of the schedule, unless
    /// others are given.
    fn repository(
        &mut self,
        holdings: &Holdings,
        order: &HarvestOrder,
    ) -> anyhow::Result<Repository> {
        let named = self.repository.clone().unwrap_or_default();
        if named.parse::<i64>().is_ok() {
            return holdings.repository(&named);
        }
        let mut options = ClientOptions::default();
        let mut access = Access::default();
        self.harvest.apply_access(&mut access);
        access.apply(&mut options);
        order.apply_network(&mut options);
        let client = Client::new(options)?;
        let order = order.clone().of(&named, "", None);
        let order = flows::settle_way(&client, &order, &|told| eprintln!("{told}"))?;
        if self.harvest.via.is_some() {
            self.harvest.via = Some(Setting::To(order.via));
        }
        let remote = client.repository(&order.base_url)?;
        if self.harvest.credentials.is_none() {
            let own = remote.credentials().cloned();
            self.harvest.credentials = own.map(|own| Setting::To(Secret(own)));
        }
        let base_url = remote.base_url();
        let known = holdings.catalog().repository_at(&base_url);
        match holdings.wait(known)? {
            Some(known) => Ok(known),
            None => flows::introduce_for(&client, &order)?.keep(holdings, None),
        }
    }
}

/// `--no-sync` is a flag of imports here; for a harvest it means the harvest.
pub(super) fn share_no_sync(harvest: &mut HarvestPatch, import: &mut ImportPatch) {
    harvest.no_sync = import.no_sync.take();
}
