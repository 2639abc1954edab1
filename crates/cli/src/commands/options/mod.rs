//! Options that several commands share.

pub(super) mod blacklist_options;
pub(crate) mod holdings_options;
pub(crate) mod network_options;
pub(crate) mod operating;
pub(super) mod paging;
pub(super) mod sorting;
pub(super) mod stopping;
pub(super) mod worker_options;

use std::path::PathBuf;

use clap::Args;

use crate::config::layers::named_by_environment;
use crate::config::{Config, Layers, LogConfig, LogFormat};

/// Options that say how the site is set up and where it is seen.
#[derive(Debug, Args)]
pub(crate) struct PlaceOptions {
    /// A configuration file in TOML; flags win over it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Which site of the configuration, if it has several: the end of its root, or its number from 1 on
    #[arg(long, value_name = "ROOT|NUMBER")]
    select_site: Option<String>,
    /// Form of the log: lines for people, or one JSON object a line [default: text]
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    /// Base URL of the repository, as harvesters see it [default: http://ADDR:PORT/modoai]
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Beginning of the URLs of the files, as users see them [default: the origin, or the host of the base URL]
    #[arg(long, value_name = "URL")]
    site_url: Option<String>,
    /// The web server that serves DIR, such as http://127.0.0.1:8000/
    #[arg(long, value_name = "URL")]
    origin: Option<String>,
}

impl PlaceOptions {
    /// All of the configuration.
    pub(crate) fn configuration(&self) -> anyhow::Result<Config> {
        Config::load(self.config.as_deref())
    }

    /// The base URL.
    pub(crate) fn base_url(&self) -> Option<&String> {
        self.base_url.as_ref()
    }

    /// Whether something is said that only a site has.
    pub(crate) fn is_of_sites(&self) -> bool {
        self.site_url.is_some() || self.origin.is_some()
    }

    /// How the log is written.
    pub(crate) fn log_config(&self, has_dir: bool) -> anyhow::Result<LogConfig> {
        let mut log = self.all(has_dir)?.log;
        log.format = self.log_format.unwrap_or(log.format);
        Ok(log)
    }

    /// The configuration of a site with these options on top. A directory that is given is no site of the machine's
    /// configuration: then only a file that is named counts.
    pub(crate) fn config(&self, dir: Option<&PathBuf>) -> anyhow::Result<server::Config> {
        let mut config = self
            .all(dir.is_some())?
            .one_site(self.select_site.as_deref())?;
        set(&mut config.server.root, dir);
        set(&mut config.server.base_url, self.base_url.as_ref());
        set(&mut config.server.site_url, self.site_url.as_ref());
        set(&mut config.origin.url, self.origin.as_ref());
        Ok(config)
    }

    fn all(&self, has_dir: bool) -> anyhow::Result<Config> {
        let is_named = self.config.is_some() || named_by_environment().is_some();
        match has_dir && !is_named {
            true => Layers::of_environment()?.config(),
            false => self.configuration(),
        }
    }
}

/// Lets an option that was given win over the configuration file.
pub(super) fn set<T: Clone>(target: &mut Option<T>, value: Option<&T>) {
    if let Some(value) = value {
        *target = Some(value.clone());
    }
}
