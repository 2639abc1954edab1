//! The configuration: TOML files and the environment in layers, one struct per concern. Unknown keys are errors that name
//! the nearest.

mod aggregator;
mod friends;
mod harvest;
mod history;
mod import;
mod jobs;
pub(crate) mod layers;
mod log;
mod network;
mod place;
mod site;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use ::jobs::alert::AlertOptions;
use ::jobs::hook::Hook;
use ::site::AreaConfig;
use ::site::OfferConfig;
use ::site::config::{
    ByValueConfig, FixityConfig, IndexConfig, MediaTypesConfig, OwnSetConfig, RightsConfig,
};
use ::site::plugin::PluginRule;
use ::site::records::RecordsConfig;
use anyhow::{Context, bail};
use console::ConsoleConfig;
use operations::Settings;
use operations::alerts::AlertRule;
use operations::mail::{MailConfig, Mailer};
use operations::overview::ExposedSite;
use operations::sites::ServedSites;
use operations::system::Configuration;
use serde::Deserialize;
use server::config::{
    AdminConfig, FlowControlConfig, OriginConfig, PagesConfig, RepositoryConfig, RobotsConfig,
    ServerConfig,
};

pub(crate) use self::aggregator::AggregatorConfig;
pub(crate) use self::friends::FriendsConfig;
pub(crate) use self::harvest::HarvestConfig;
pub(crate) use self::history::HistoryConfig;
pub(crate) use self::import::ImportConfig;
pub(crate) use self::jobs::JobsConfig;
pub(crate) use self::layers::Layers;
pub(crate) use self::log::{LogConfig, LogFormat};
pub(crate) use self::network::NetworkConfig;
pub(crate) use self::place::Place;
pub(crate) use self::site::SiteConfig;
use crate::commands::confine::confiner;
use crate::text::plain;

/// Everything that can be configured.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// The directory of the harvested files.
    pub(crate) data: Option<PathBuf>,
    /// The catalog, if it is not in that directory.
    pub(crate) catalog: Option<String>,
    /// The store that documents and records go to: s3://BUCKET/PREFIX.
    pub(crate) store: Option<String>,
    /// How harvests are kept.
    pub(crate) harvest: HarvestConfig,
    /// Where people steer.
    pub(crate) console: ConsoleConfig,
    /// How jobs run.
    pub(crate) jobs: JobsConfig,
    /// How repositories are asked.
    pub(crate) network: NetworkConfig,
    /// How long things are kept.
    pub(crate) history: HistoryConfig,
    /// Repositories to choose from.
    pub(crate) friends: FriendsConfig,
    /// How crawls are imported.
    pub(crate) import: ImportConfig,
    /// The alerts.
    pub(crate) alert: Vec<AlertRule>,
    /// The server that takes e-mails.
    pub(crate) mail: MailConfig,
    /// Hooks that run after harvests.
    pub(crate) hook: Vec<Hook>,
    /// Sites that are exposed.
    pub(crate) site: Vec<SiteConfig>,
    /// How the catalog itself is exposed.
    pub(crate) aggregator: AggregatorConfig,
    /// A file that holds the catalog's URL, for one with a password.
    pub(crate) catalog_file: Option<PathBuf>,
    /// The log.
    pub(crate) log: LogConfig,
    /// The address for operators.
    pub(crate) admin: AdminConfig,
    /// The tables of one site, which stand at the top of a file for `garner serve`.
    pub(crate) server: ServerConfig,
    repository: RepositoryConfig,
    pages: PagesConfig,
    flow_control: FlowControlConfig,
    origin: OriginConfig,
    offer: OfferConfig,
    media_types: MediaTypesConfig,
    area: Vec<AreaConfig>,
    by_value: ByValueConfig,
    fixity: FixityConfig,
    plugin: Vec<PluginRule>,
    set: Vec<OwnSetConfig>,
    rights: Vec<RightsConfig>,
    index: IndexConfig,
    records: RecordsConfig,
    robots: RobotsConfig,
    /// Whether one of the tables of a site is there.
    #[serde(skip)]
    pub(crate) has_site_tables: bool,
    /// Whether the catalog was named by the environment or by the file of `--config`.
    #[serde(skip)]
    pub(crate) is_catalog_named: bool,
    /// The data directory and the catalog that are used.
    #[serde(skip)]
    pub(crate) place: Place,
    /// The settings that were made, for people to look at.
    #[serde(skip)]
    pub(crate) effective: Configuration,
    /// The directory of the file that names the sites.
    #[serde(skip)]
    sites_in: PathBuf,
}

impl Config {
    /// The configuration of all layers, with the file that `--config` names on top. Deprecated keys are warned of.
    pub(crate) fn load(named: Option<&Path>) -> anyhow::Result<Self> {
        let layers = Layers::read(named)?;
        static TOLD: AtomicBool = AtomicBool::new(false);
        if !TOLD.swap(true, Ordering::Relaxed) {
            let is_told = |warning: &&String| warning.contains("deprecated");
            for warning in layers.warnings.iter().filter(is_told) {
                eprintln!("warning: {}", plain(warning));
            }
        }
        layers.config()
    }

    /// The settings that operations go by.
    pub(crate) fn settings(&self) -> anyhow::Result<Settings> {
        let exposed = |site: server::Config| ExposedSite {
            root: (site.server.root).map_or_else(String::new, |root| root.display().to_string()),
            listen: site.server.listen.to_string(),
        };
        Ok(Settings {
            sites: self.sites()?.into_iter().map(exposed).collect(),
            served: ServedSites::default(),
            aggregator: self.aggregator.shown(),
            attempts: self.jobs.attempts,
            imports: self.import.rules()?,
            alerts: self.alert.clone(),
            mailer: self.mailer(),
            configuration: self.effective.clone(),
            confiner: Some(confiner()),
        })
    }

    /// The server that takes e-mails. Certificates that repositories may have it may have too.
    fn mailer(&self) -> Mailer {
        Mailer {
            config: self.mail.clone(),
            ca_file: self.network.ca_file.clone(),
        }
    }

    /// The alerts, as the manager has them.
    pub(crate) fn alerts(&self) -> anyhow::Result<AlertOptions> {
        let mut names: Vec<_> = self.alert.iter().map(|rule| rule.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            bail!("two alerts have the name `{}`", twice[0]);
        }
        if let Some(mistake) = self.alert.iter().find_map(AlertRule::mistake) {
            bail!("{mistake}");
        }
        if self.alert.iter().any(|rule| !rule.email.is_empty())
            && let Some(mistake) = self.mail.mistake()
        {
            bail!("an alert has `email`, but {mistake}");
        }
        Ok(AlertOptions {
            rules: self.alert.clone(),
            mail: self.mailer(),
            client: self.network.client_options()?,
        })
    }

    /// All sites: the one of the tables at the top, and each `[[site]]`.
    pub(crate) fn sites(&self) -> anyhow::Result<Vec<server::Config>> {
        let mut sites = Vec::new();
        if self.has_site_tables {
            let site = self.top_site();
            site.check()?;
            sites.push(site);
        }
        for site in &self.site {
            sites.push(site.server()?);
        }
        Ok(sites)
    }

    /// The only site, or the one that `named` says: by its root, or by its number from 1 on.
    pub(crate) fn one_site(&self, named: Option<&str>) -> anyhow::Result<server::Config> {
        if self.site.is_empty() {
            return match named {
                None | Some("1") => Ok(self.top_site()),
                Some(named) => {
                    bail!("there is no site `{named}`: the configuration has no [[site]]")
                }
            };
        }
        let mut sites = self.sites()?;
        let root = |site: &server::Config| site.server.root.clone().unwrap_or_default();
        let at = match named {
            None if sites.len() == 1 => Some(0),
            None => bail!(
                "the configuration has {} sites; choose one with --select-site: {}",
                sites.len(),
                sites
                    .iter()
                    .map(|site| root(site).display().to_string())
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
            Some(named) => match named.parse::<usize>() {
                Ok(number) => number.checked_sub(1).filter(|at| *at < sites.len()),
                Err(_) => sites.iter().position(|site| root(site).ends_with(named)),
            },
        };
        let at = at.with_context(|| {
            let named = named.unwrap_or_default();
            format!(
                "the configuration has {} sites, and `{named}` is none of them",
                sites.len()
            )
        })?;
        Ok(sites.swap_remove(at))
    }

    /// The site of the tables at the top of the file.
    fn top_site(&self) -> server::Config {
        server::Config {
            server: self.server.clone(),
            repository: self.repository.clone(),
            pages: self.pages.clone(),
            flow_control: self.flow_control.clone(),
            origin: self.origin.clone(),
            offer: self.offer.clone(),
            media_types: self.media_types.clone(),
            area: self.area.clone(),
            by_value: self.by_value.clone(),
            fixity: self.fixity.clone(),
            plugin: self.plugin.clone(),
            set: self.set.clone(),
            rights: self.rights.clone(),
            index: self.index.clone(),
            records: self.records.clone(),
            robots: self.robots.clone(),
            admin: self.admin.clone(),
            confiner: None,
            relative_to: match self.sites_in.as_os_str().is_empty() {
                true => PathBuf::from("."),
                false => self.sites_in.clone(),
            },
        }
    }

    /// Finds all that can be found wrong before anything runs.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.jobs.check()?;
        self.network.client_options()?;
        self.console.check()?;
        self.aggregator.check()?;
        self.log.filter()?;
        self.admin.token()?;
        self.settings().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> anyhow::Result<()> {
        layers::checked(text).map(drop)
    }

    #[test]
    fn an_unknown_key_names_the_nearest_one_and_its_line() {
        for (text, nearest) in [
            ("[jobs]\nworker = 3\n", "workers"),
            ("[network]\nalow = []\n", "allow"),
            ("[histroy]\n", "history"),
            ("[import]\ntype = []\n", "types"),
            ("[aggregator]\nenable = true\n", "enabled"),
            ("[console]\nlisten_at = \"127.0.0.1:1\"\n", "listen"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            let said = format!("did you mean `{nearest}`?");
            assert!(error.contains(&said) && error.contains("line"), "{error}");
        }
    }

    #[test]
    fn the_documented_example_parses() {
        let text = include_str!("../../../../examples/garner.toml");
        parse(text).unwrap();
        parse(include_str!("../../../../examples/site.toml")).unwrap();
    }
}
