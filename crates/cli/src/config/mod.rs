//! The configuration file of `garner up`, `garner worker`, `garner import` and `garner schedule add`: one TOML file, one
//! struct per concern. Unknown keys are errors that name the nearest.

mod aggregator;
mod friends;
mod history;
mod import;
mod jobs;
mod network;
mod site;

use std::path::{Path, PathBuf};

use ::jobs::alert::{AlertOptions, MailConfig};
use ::jobs::hook::Hook;
use anyhow::{Context, bail};
use console::ConsoleConfig;
use operations::Settings;
use operations::alerts::AlertRule;
use serde::Deserialize;
use server::config::complaint;

pub(crate) use self::aggregator::AggregatorConfig;
pub(crate) use self::friends::FriendsConfig;
pub(crate) use self::history::HistoryConfig;
pub(crate) use self::import::ImportConfig;
pub(crate) use self::jobs::JobsConfig;
pub(crate) use self::network::NetworkConfig;
pub(crate) use self::site::SiteConfig;

/// Everything that can be configured.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// The directory of the harvested files.
    pub(crate) data: Option<PathBuf>,
    /// The catalog, if it is not in that directory.
    pub(crate) catalog: Option<String>,
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
    /// Who is told of what.
    pub(crate) alert: Vec<AlertRule>,
    /// The server that takes e-mails.
    pub(crate) mail: MailConfig,
    /// What is done after harvests.
    pub(crate) hook: Vec<Hook>,
    /// Sites that are exposed.
    pub(crate) site: Vec<SiteConfig>,
    /// How the catalog itself is exposed.
    pub(crate) aggregator: AggregatorConfig,
}

impl Config {
    /// Reads a configuration file. Paths in it are relative to its directory.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        let config = Self::parse(&text).with_context(|| format!("in `{}`", path.display()))?;
        let directory = path
            .parent()
            .filter(|directory| !directory.as_os_str().is_empty());
        Ok(config.relative_to(directory.unwrap_or(Path::new("."))))
    }

    /// The settings that operations go by.
    pub(crate) fn settings(&self) -> anyhow::Result<Settings> {
        let sites = self.site.iter().map(SiteConfig::exposed);
        Ok(Settings {
            sites: sites.collect::<Result<_, _>>()?,
            attempts: self.jobs.attempts,
            imports: self.import.rules()?,
            alerts: self.alert.clone(),
        })
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
            bail!("{mistake}");
        }
        Ok(AlertOptions {
            rules: self.alert.clone(),
            mail: self.mail.clone(),
            client: self.network.client_options()?,
        })
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        toml::from_str(text).map_err(|error| anyhow::anyhow!(complaint(text, &error)))
    }

    fn relative_to(mut self, directory: &Path) -> Self {
        let place = |path: &mut PathBuf| *path = directory.join(&*path);
        self.data.as_mut().map(place);
        self.network.ca.as_mut().map(place);
        self.mail.password_file.as_mut().map(place);
        self.import.relative_to(directory);
        if let Some(catalog) = &mut self.catalog
            && !catalog.contains(':')
        {
            *catalog = directory.join(&*catalog).to_string_lossy().into_owned();
        }
        if let Some(source) = &mut self.friends.source
            && !source.contains("://")
        {
            *source = directory.join(&*source).to_string_lossy().into_owned();
        }
        self.aggregator.relative_to = directory.to_owned();
        for site in &mut self.site {
            site.relative_to = directory.to_owned();
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let error = Config::parse(text).unwrap_err().to_string();
            let said = format!("did you mean `{nearest}`?");
            assert!(error.contains(&said) && error.contains("line"), "{error}");
        }
    }

    #[test]
    fn paths_are_relative_to_the_file() {
        let config = Config::parse(
            "data = 'd'\ncatalog = 'c.sqlite'\n[network]\nca = '/ca.pem'\n[friends]\nsource = 'friends.xml'\n",
        );
        let config = config.unwrap().relative_to(Path::new("/etc/garner"));

        assert_eq!(config.data, Some(PathBuf::from("/etc/garner/d")));
        assert_eq!(config.catalog.as_deref(), Some("/etc/garner/c.sqlite"));
        assert_eq!(config.network.ca, Some(PathBuf::from("/ca.pem")));
        let source = config.friends.source.as_deref();
        assert_eq!(source, Some("/etc/garner/friends.xml"));

        let config = Config::parse(
            "catalog = 'postgres://a@b/c'\n[friends]\nsource = 'https://a.example/'\n",
        );
        let config = config.unwrap().relative_to(Path::new("/etc/garner"));
        assert_eq!(config.catalog.as_deref(), Some("postgres://a@b/c"));
        assert_eq!(config.friends.source.as_deref(), Some("https://a.example/"));
    }

    #[test]
    fn the_documented_example_parses() {
        let text = include_str!("../../../../examples/garner.toml");
        Config::parse(text).unwrap();
    }
}
