//! `[import]`: how crawls are imported, with the terms of the Crawl Document Importer that still make sense.
//!
//! The settings of imports are those of `garner import` and of the API; beside them the table has a few of its own.

use std::path::PathBuf;

use flows::ImportOrder;
use operations::{ImportPatch, ImportRules, Mistake, Refusal, read_fields};
use remote::Access;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::commands::confine::confiner;

/// The table `[import]`.
#[derive(Debug, Clone, Default)]
pub(crate) struct ImportConfig {
    /// The settings of imports.
    pub(crate) patch: ImportPatch,
    /// Directories that operators may have imported from by the console and the API; admins name any.
    roots: Vec<PathBuf>,
    access: AccessConfig,
    /// Settings of imports that cannot be read.
    mistakes: Vec<Mistake>,
}

/// The keys that are no settings of imports.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct OwnKeys {
    roots: Vec<PathBuf>,
    #[serde(flatten)]
    access: AccessConfig,
}

/// Where credentials for servers are found that sources are fetched from.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct AccessConfig {
    /// A file of passwords for FTP and SFTP, if not ~/.netrc.
    netrc: Option<PathBuf>,
    /// The key for SFTP, instead of the agent and those in ~/.ssh.
    ssh_key: Option<PathBuf>,
    /// The keys of known SFTP servers, if not ~/.ssh/known_hosts.
    known_hosts: Option<PathBuf>,
    /// Certificates in PEM to trust beside those of the system, for FTPS.
    ca_file: Option<PathBuf>,
}

impl<'de> Deserialize<'de> for ImportConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut settings = toml::Table::deserialize(deserializer)?;
        let mut own = toml::Table::new();
        for name in OWN_KEYS {
            own.extend(settings.remove_entry(name));
        }
        let own = OwnKeys::deserialize(own).map_err(D::Error::custom)?;
        let settings = serde_json::to_value(settings).map_err(D::Error::custom)?;
        let settings = settings.as_object().cloned().unwrap_or_default();
        let (patch, mistakes) = read_fields(settings);
        if let Some(unknown) = mistakes.iter().find(|mistake| mistake.field.is_none()) {
            return Err(D::Error::custom(&unknown.reason));
        }
        Ok(Self {
            patch,
            mistakes,
            roots: own.roots,
            access: own.access,
        })
    }
}

impl ImportConfig {
    /// An import as it is configured.
    pub(crate) fn order(&self) -> anyhow::Result<ImportOrder> {
        let mut order = ImportOrder::default();
        let mut mistakes = self.mistakes.clone();
        mistakes.extend(self.patch.apply(&mut order));
        if let Err(error) = order.texts.policy.check() {
            mistakes.push(Mistake::new("accept", error.to_string()));
        }
        Refusal::unless_empty(mistakes).map_err(|refusal| anyhow::anyhow!("import.{refusal}"))?;
        order.access = self.access(order.access);
        Ok(order)
    }

    /// Which imports the console lets people order. Workers may run elsewhere, so that all paths are whole.
    pub(crate) fn rules(&self) -> anyhow::Result<ImportRules> {
        let roots = self.roots.iter().map(std::path::absolute);
        Ok(ImportRules {
            roots: roots.collect::<Result<_, _>>()?,
            default: ImportOrder {
                confiner: Some(confiner()),
                ..ImportOrder::parse(&self.order()?.text()?)?
            },
        })
    }

    /// The access to servers that sources are fetched from: the configured one, on top of the environment.
    pub(crate) fn access(&self, environment: Access) -> Access {
        let mut access = environment;
        let own = &self.access;
        for (configured, used) in [
            (&own.netrc, &mut access.netrc),
            (&own.ssh_key, &mut access.ssh_key),
            (&own.known_hosts, &mut access.known_hosts),
            (&own.ca_file, &mut access.ca_file),
        ] {
            if configured.is_some() {
                used.clone_from(configured);
            }
        }
        access
    }
}

const OWN_KEYS: [&str; 5] = ["roots", "netrc", "ssh_key", "known_hosts", "ca_file"];
