//! What is asked for: all that can be set for a harvest.

use std::path::{Path, PathBuf};

use anyhow::Context;
use harvester::validation::Level;
use harvester::{Method, Repository};
use serde::{Deserialize, Serialize};
use store::{Durability, Layout};

use super::digest;
use crate::rules::RuleSource;
use crate::{Holdings, access};

/// A harvest of one repository, in one format, of one set or of all.
#[derive(Debug, Clone)]
pub struct HarvestRepository {
    /// Where the repository answers.
    pub base_url: String,
    /// How records are asked for.
    pub method: Method,
    /// In which format.
    pub metadata_prefix: String,
    /// In which set, if not in all.
    pub set: Option<String>,
    /// Since when. Without it, since the last harvest.
    pub from: Option<String>,
    /// Until when.
    pub until: Option<String>,
    /// Whether everything is harvested again. What is not listed any more is then taken for deleted, unless the
    /// repository keeps track of deletions for ever.
    pub full: bool,
    /// In how many spans of time the list is cut, to be harvested side by side.
    pub slices: usize,
    /// How strictly records are validated.
    pub validation: Level,
    /// Schemas beside those that are built in.
    pub schemas: Vec<PathBuf>,
    /// Rules that say which records are kept.
    pub filter: Option<RuleSource>,
    /// Rules that say what is added to records.
    pub normalise: Option<RuleSource>,
    /// Where the files of a new repository go.
    pub base_directory: Option<PathBuf>,
    /// Whether records that are held are removed if the filter does not accept them, and not only marked; and after a
    /// full harvest also those that may only be hidden from these credentials.
    pub prune: bool,
    /// How files are laid out.
    pub layout: Layout,
    /// What becomes of the files of deleted records.
    pub deleted: Deleted,
    /// When files must have reached the disk.
    pub durability: Durability,
    /// The directory of a mirror of the resources.
    pub unpack: Option<PathBuf>,
    /// The directory of WARC files with the resources.
    pub warc: Option<PathBuf>,
    /// The longest resource that is taken, in bytes.
    pub resource_limit: u64,
}

/// What becomes of the file of a record that is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deleted {
    /// It is removed.
    #[default]
    Remove,
    /// It is kept under a name that ends in `.deleted`.
    Keep,
}

/// What a harvest was begun with, as the history keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Parameters {
    pub(super) method: Method,
    pub(super) from: Option<String>,
    pub(super) until: Option<String>,
    pub(super) full: bool,
    pub(super) slices: usize,
    #[serde(default)]
    pub(super) prune: bool,
    #[serde(flatten)]
    pub(super) making: Making,
}

/// What decides on what is made of a record. If it changes, what was harvested before has to be made again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Making {
    pub(super) validation: String,
    /// The name of the filters, and the digest of what they said.
    pub(super) filter: Option<(String, String)>,
    pub(super) normalise: Option<(String, String)>,
    /// The digest of what the schemas said.
    pub(super) schemas: Vec<String>,
    pub(super) unpack: Option<PathBuf>,
    pub(super) warc: Option<PathBuf>,
    /// The mark of the credentials and the proxy, on which it depends what the repository shows.
    #[serde(default)]
    pub(super) access: Option<String>,
}

impl HarvestRepository {
    /// Everything in one format, with the usual settings.
    pub fn new(base_url: &str, metadata_prefix: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
            method: Method::default(),
            metadata_prefix: metadata_prefix.to_owned(),
            set: None,
            from: None,
            until: None,
            full: false,
            slices: 1,
            validation: Level::default(),
            schemas: Vec::new(),
            filter: None,
            normalise: None,
            base_directory: None,
            prune: false,
            layout: Layout::default(),
            deleted: Deleted::default(),
            durability: Durability::default(),
            unpack: None,
            warc: None,
            resource_limit: RESOURCE_LIMIT,
        }
    }

    /// What the history keeps of this harvest of a repository.
    pub(super) fn parameters(
        &self,
        holdings: &Holdings,
        remote: &Repository,
    ) -> anyhow::Result<Parameters> {
        Ok(Parameters {
            method: self.method,
            from: self.from.clone(),
            until: self.until.clone(),
            full: self.full,
            slices: self.slices,
            prune: self.prune,
            making: Making {
                validation: validation(self.validation).to_owned(),
                filter: self.filter.as_ref().map(RuleSource::noted).transpose()?,
                normalise: self.normalise.as_ref().map(RuleSource::noted).transpose()?,
                schemas: self
                    .schemas
                    .iter()
                    .map(|file| said(file))
                    .collect::<Result<_, _>>()?,
                unpack: self
                    .unpack
                    .as_deref()
                    .map(std::path::absolute)
                    .transpose()?,
                warc: self.warc.as_deref().map(std::path::absolute).transpose()?,
                access: access::mark(holdings, remote)?,
            },
        })
    }
}

impl Making {
    /// What is different from what another harvest made, in words.
    pub(super) fn difference(&self, other: &Self) -> Option<&'static str> {
        let said = |rules: &Option<(String, String)>| rules.as_ref().map(|(_, said)| said.clone());
        if said(&self.filter) != said(&other.filter) {
            return Some("the filters are not those of the last harvest");
        }
        if said(&self.normalise) != said(&other.normalise) {
            return Some("the mappings are not those of the last harvest");
        }
        if self.validation != other.validation || self.schemas != other.schemas {
            return Some("validation is not that of the last harvest");
        }
        if self.unpack.is_some() && self.unpack != other.unpack {
            return Some("the last harvest did not unpack into this directory");
        }
        if self.unpack.as_ref().is_some_and(|mirror| !mirror.exists()) {
            return Some("the mirror is gone");
        }
        if self.warc.is_some() && other.warc.is_none() {
            return Some("the last harvest wrote no WARC files");
        }
        if self.access != other.access {
            return Some("the credentials or the proxy are not those of the last harvest");
        }
        None
    }
}

fn validation(level: Level) -> &'static str {
    match level {
        Level::Strict => "strict",
        Level::VeryStrict => "very-strict",
        Level::Loose => "loose",
    }
}

/// The digest of what a file says.
fn said(file: &Path) -> anyhow::Result<String> {
    let bytes =
        std::fs::read(file).with_context(|| format!("`{}` cannot be read", file.display()))?;
    Ok(digest::of_bytes(&bytes))
}

/// A web site has larger files now and then, but a harvest that fills the disk helps nobody.
const RESOURCE_LIMIT: u64 = 4 << 30;
