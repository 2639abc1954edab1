//! Options that several commands share.

pub(super) mod blacklist_options;
pub(crate) mod holdings_options;
pub(crate) mod network_options;
pub(crate) mod operating;
pub(super) mod paging;
pub(super) mod sorting;
pub(super) mod stopping;
pub(super) mod worker_options;

use std::path::{Path, PathBuf};

use clap::Args;
use server::Config;

/// Options that say how the site is set up and where it is seen.
#[derive(Debug, Args)]
pub(crate) struct PlaceOptions {
    /// A configuration file in TOML; flags win over it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
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
    /// The configuration file.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// The base URL.
    pub(crate) fn base_url(&self) -> Option<&String> {
        self.base_url.as_ref()
    }

    /// Whether something is said that only a site has.
    pub(crate) fn is_of_sites(&self) -> bool {
        self.site_url.is_some() || self.origin.is_some()
    }

    /// The configuration file with these options on top.
    pub(crate) fn config(&self, dir: Option<&PathBuf>) -> anyhow::Result<Config> {
        let mut config = match &self.config {
            Some(path) => Config::read(path)?,
            None => Config {
                relative_to: PathBuf::from("."),
                ..Config::default()
            },
        };
        set(&mut config.server.root, dir);
        set(&mut config.server.base_url, self.base_url.as_ref());
        set(&mut config.server.site_url, self.site_url.as_ref());
        set(&mut config.origin.url, self.origin.as_ref());
        Ok(config)
    }
}

/// Lets an option that was given win over the configuration file.
pub(super) fn set<T: Clone>(target: &mut Option<T>, value: Option<&T>) {
    if let Some(value) = value {
        *target = Some(value.clone());
    }
}
