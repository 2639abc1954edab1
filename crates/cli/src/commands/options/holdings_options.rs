//! Options that say where harvested records are.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::bail;
use clap::Args;
use flows::Holdings;
use operations::Context;
use operations::system::Configuration;

use crate::config::layers::set_by_option;
use crate::config::{Config, Place};
use crate::text::plain;

/// Where the files are, and what is known of them.
#[derive(Debug, Args)]
pub(crate) struct HoldingsOptions {
    /// Data directory [default: $GARNER_DATA, else ./garner-data if it is there, else ~/.local/share/garner]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The catalog, if it is not in that directory: postgres://USER@HOST/DATABASE, or a SQLite file
    #[arg(long, value_name = "URL|FILE")]
    catalog: Option<String>,
    /// A configuration file in TOML, on top of /etc/garner/garner.toml and ~/.config/garner/garner.toml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[arg(skip)]
    place: OnceLock<Place>,
}

impl HoldingsOptions {
    /// A catalog, and the directory of its files.
    pub(crate) fn at(place: Place) -> Self {
        Self {
            data: None,
            catalog: None,
            config: None,
            place: OnceLock::from(place),
        }
    }

    /// The configuration of all layers.
    pub(crate) fn configuration(&self) -> anyhow::Result<Config> {
        Config::load(self.config.as_deref())
    }

    /// The file of `--config`.
    pub(crate) fn config_file(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// Opens the holdings, and makes them if need be.
    pub(crate) fn create(&self) -> anyhow::Result<Holdings> {
        let place = self.place()?;
        place.announce();
        let holdings = Holdings::create(&place.data, place.catalog.as_deref()).inspect(warn)?;
        place.settle(&holdings)?;
        Ok(holdings)
    }

    /// Opens holdings that are there. A slip of the pen is not to make a new, empty catalog.
    pub(crate) fn open(&self) -> anyhow::Result<Holdings> {
        let place = self.place()?;
        if let Some(catalog) = &place.catalog
            && !catalog.starts_with("postgres://")
            && !catalog.starts_with("postgresql://")
        {
            let path = catalog.strip_prefix("sqlite:").unwrap_or(catalog);
            let path = path.strip_prefix("//").unwrap_or(path);
            if !Path::new(path).exists() {
                bail!(
                    "there is no catalog `{path}`; harvest something first, or name another with --catalog"
                );
            }
        }
        place.announce();
        Holdings::open(&place.data, place.catalog.as_deref()).inspect(warn)
    }

    /// The same as [`Self::create`], for operations.
    pub(crate) fn create_context(&self) -> anyhow::Result<Context> {
        Ok(Context::new(Arc::new(self.create()?)))
    }

    /// The same as [`Self::open`], for operations.
    pub(crate) fn context(&self) -> anyhow::Result<Context> {
        Ok(Context::new(Arc::new(self.open()?)))
    }

    /// The same as [`Self::context`], with the settings of the configuration.
    pub(crate) fn configured_context(&self) -> anyhow::Result<Context> {
        let settings = self.configuration()?.settings()?;
        Ok(self.context()?.configured(settings))
    }

    /// The settings that were made, with those of these options.
    pub(crate) fn effective(&self) -> anyhow::Result<Configuration> {
        let config = self.configuration()?;
        let mut effective = config.effective.clone();
        if let Some(data) = &self.data {
            let data = data.display().to_string();
            set_by_option(&mut effective, "data", data, "--data");
        }
        if let Some(catalog) = &self.catalog {
            set_by_option(&mut effective, "catalog", catalog.as_str(), "--catalog");
        }
        let checked = config.check();
        effective
            .errors
            .extend(checked.err().map(|error| flows::message(&error)));
        Ok(effective)
    }

    /// The options as they have to be given to another command; nothing if the defaults do.
    pub(crate) fn said(&self) -> String {
        let mut said = String::new();
        if let Some(data) = &self.data {
            said.push_str(&format!(" --data {}", data.display()));
        }
        // A password in it is not for the screen.
        if self.catalog.is_some() {
            said.push_str(" --catalog …");
        }
        if let Some(config) = &self.config {
            said.push_str(&format!(" --config {}", config.display()));
        }
        said
    }

    /// The data directory.
    pub(crate) fn data(&self) -> anyhow::Result<&Path> {
        Ok(&self.place()?.data)
    }

    /// The data directory and the catalog, by the one rule for all commands.
    pub(crate) fn place(&self) -> anyhow::Result<&Place> {
        if let Some(place) = self.place.get() {
            return Ok(place);
        }
        let config = self.configuration()?;
        let place = config.place(self.data.as_deref(), self.catalog.as_deref())?;
        warn_of_password(self.catalog.as_deref());
        Ok(self.place.get_or_init(|| place))
    }
}

/// Warns of a password on the command line, which all users of the machine can read.
pub(crate) fn warn_of_password(catalog: Option<&str>) {
    let authority = catalog
        .and_then(|url| url.split_once("://"))
        .map_or("", |(_, rest)| {
            rest.split(['/', '?']).next().unwrap_or_default()
        });
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    if user.contains(':') {
        eprintln!(
            "warning: other users of this machine can read the password in --catalog; use catalog_file in the configuration, GARNER_CATALOG, PGPASSWORD or ~/.pgpass"
        );
    }
}

/// Tells what others on this machine may look into.
pub(crate) fn warn(holdings: &Holdings) {
    for exposed in holdings.exposed() {
        eprintln!("warning: {}", plain(&exposed));
    }
}
