//! Options that say where harvested records are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use clap::Args;
use flows::Holdings;
use operations::Context;

use crate::config::Config;
use crate::text::plain;

/// Where the files are, and what is known of them.
#[derive(Debug, Args)]
pub(crate) struct HoldingsOptions {
    /// The directory of the harvested files [default: ./garner-data]
    #[arg(
        long,
        value_name = "DIR",
        default_value = DATA,
        hide_default_value = true
    )]
    data: PathBuf,
    /// The catalog, if it is not in that directory: postgres://USER@HOST/DATABASE, or a SQLite file
    #[arg(long, value_name = "URL|FILE")]
    catalog: Option<String>,
}

impl HoldingsOptions {
    /// A catalog, and the directory of its files.
    pub(crate) fn at(data: Option<PathBuf>, catalog: Option<String>) -> Self {
        Self {
            data: data.unwrap_or_else(|| DATA.into()),
            catalog,
        }
    }

    /// Opens the holdings, and makes them if need be.
    pub(crate) fn create(&self) -> anyhow::Result<Holdings> {
        Holdings::create(&self.data, self.catalog.as_deref()).inspect(warn)
    }

    /// Opens holdings that are there. A slip of the pen is not to make a new, empty catalog.
    pub(crate) fn open(&self) -> anyhow::Result<Holdings> {
        if let Some(catalog) = &self.catalog
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
        Holdings::open(&self.data, self.catalog.as_deref()).inspect(warn)
    }

    /// The same as [`Self::create`], for operations.
    pub(crate) fn create_context(&self) -> anyhow::Result<Context> {
        Ok(Context::new(Arc::new(self.create()?)))
    }

    /// The same as [`Self::open`], for operations.
    pub(crate) fn context(&self) -> anyhow::Result<Context> {
        Ok(Context::new(Arc::new(self.open()?)))
    }

    /// These options on top of a configuration file.
    pub(crate) fn configured(mut self, config: &Config) -> Self {
        if let Some(data) = config
            .data
            .as_ref()
            .filter(|_| self.data == Path::new(DATA))
        {
            self.data.clone_from(data);
        }
        self.catalog = self.catalog.or_else(|| config.catalog.clone());
        self
    }

    /// The options as they have to be given to another command; nothing if the defaults do.
    pub(crate) fn said(&self) -> String {
        let mut said = String::new();
        if self.data != Path::new(DATA) {
            said.push_str(&format!(" --data {}", self.data.display()));
        }
        // A password in it is not for the screen.
        if self.catalog.is_some() {
            said.push_str(" --catalog …");
        }
        said
    }

    /// The directory of the harvested files, as it was given.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }
}

/// Tells what others on this machine may look into.
pub(crate) fn warn(holdings: &Holdings) {
    for exposed in holdings.exposed() {
        eprintln!("warning: {}", plain(&exposed));
    }
}

const DATA: &str = "./garner-data";
