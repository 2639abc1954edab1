//! The data directory and the catalog that a command uses: one rule for all commands.

use std::path::{Path, PathBuf};

use anyhow::Context;
use catalog::RecordWay;
use flows::Holdings;

use super::Config;
use super::layers::of_user;
use crate::text::plain;

/// A data directory, and the catalog if it is not in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    pub(crate) data: PathBuf,
    pub(crate) catalog: Option<String>,
    /// The store of records, and how they are kept, if the configuration says so.
    pub(crate) store: Option<String>,
    pub(crate) records: Option<RecordWay>,
    /// Whether the directory was not named anywhere.
    pub(crate) is_default: bool,
}

impl Config {
    /// The place: what was given on the command line, else what is configured, else `./garner-data` if it is there, else
    /// `garner` among the user's data.
    pub(crate) fn place(
        &self,
        data: Option<&Path>,
        catalog: Option<&str>,
    ) -> anyhow::Result<Place> {
        let named = data.map(Path::to_owned).or_else(|| self.data.clone());
        // Another directory on the command line is not to be mixed with the catalog of the machine's usual one.
        let is_elsewhere = data.is_some() && data != self.data.as_deref();
        let catalog = match catalog {
            Some(catalog) => Some(catalog.to_owned()),
            None if is_elsewhere && !self.is_catalog_named => None,
            None => self.catalog()?,
        };
        Ok(Place {
            is_default: named.is_none(),
            data: named.map_or_else(default_data, Ok)?,
            catalog,
            store: self.store.clone(),
            records: self.harvest.records,
        })
    }

    /// The catalog, from the file that holds it if need be.
    fn catalog(&self) -> anyhow::Result<Option<String>> {
        match (&self.catalog, &self.catalog_file) {
            (Some(_), Some(_)) => {
                anyhow::bail!("catalog and catalog_file are both set; leave one out")
            }
            (Some(catalog), None) => Ok(Some(catalog.clone())),
            (None, Some(file)) => {
                let text = std::fs::read_to_string(file)
                    .with_context(|| format!("cannot read catalog_file `{}`", file.display()))?;
                Ok(Some(text.trim().to_owned()))
            }
            (None, None) => Ok(None),
        }
    }
}

impl Place {
    /// Has the catalog know where records go, as the configuration says.
    pub(crate) fn settle(&self, holdings: &Holdings) -> anyhow::Result<()> {
        match (&self.records, &self.store) {
            (None, None) => Ok(()),
            (way, store) => holdings.settle_records(*way, store.as_deref()),
        }
    }

    /// Says which directory is used if nobody named it, unless the command is to be quiet.
    pub(crate) fn announce(&self) {
        let mut arguments = std::env::args().take_while(|argument| argument != "--");
        let is_quiet = arguments.any(|word| matches!(word.as_str(), "--json" | "--quiet" | "-q"));
        if self.is_default && !is_quiet {
            let data = self.data.display().to_string();
            eprintln!("the data directory is {}", plain(&data));
        }
    }
}

fn default_data() -> anyhow::Result<PathBuf> {
    let here = PathBuf::from(HERE);
    if here.is_dir() {
        return Ok(here);
    }
    let data = of_user("XDG_DATA_HOME", ".local/share");
    let data = data.context(
        "there is no place for the data: HOME and XDG_DATA_HOME are not set; name a directory with --data or GARNER_DATA",
    )?;
    Ok(data.join("garner"))
}

const HERE: &str = "./garner-data";
