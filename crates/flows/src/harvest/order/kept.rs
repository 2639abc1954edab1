//! The history's copy of an order: all of it, and digests of the contents of its files.

use std::path::{Path, PathBuf};

use anyhow::Context;
use harvester::{Method, Repository};
use rules::validation::Level;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{HarvestOrder, is_false};
use crate::harvest::{Via, digest};
use crate::rules::RuleSource;
use crate::{Holdings, access};

/// The part of the history's parameters that decides whether a harvest is the same again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::harvest) struct Parameters {
    method: Method,
    from: Option<String>,
    until: Option<String>,
    full: bool,
    slices: u16,
    #[serde(default)]
    prune: bool,
    #[serde(flatten)]
    pub(in crate::harvest) making: TreatmentParameters,
}

/// The settings that decide on what is made of a record. If they change, what was harvested before has to be made again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::harvest) struct TreatmentParameters {
    validation: Level,
    /// The name of the filter, and the digest of its text.
    pub(in crate::harvest) filter: Option<(String, String)>,
    normalise: Option<(String, String)>,
    /// The digests of the schemas.
    schemas: Vec<String>,
    pub(in crate::harvest) unpack: Option<PathBuf>,
    warc: Option<PathBuf>,
    /// The mark of the credentials, the headers and the proxy, on which it depends what the repository shows.
    #[serde(default)]
    pub(in crate::harvest) access: Option<String>,
    /// The way in which the site is harvested, and how far.
    #[serde(default, skip_serializing_if = "Via::is_oai")]
    via: Via,
    #[serde(default, skip_serializing_if = "is_false")]
    other_hosts: bool,
}

impl Parameters {
    /// The parameters of `order`, which is placed, with its rules.
    pub(in crate::harvest) fn new(
        holdings: &Holdings,
        remote: &Repository,
        order: &HarvestOrder,
        (filter, normalise): (Option<&RuleSource>, Option<&RuleSource>),
    ) -> anyhow::Result<Self> {
        let absolute =
            |path: &Option<PathBuf>| path.as_deref().map(std::path::absolute).transpose();
        let schemas = order.schemas.iter().map(|file| digest_of(file));
        Ok(Self {
            method: order.method,
            from: order.from.clone(),
            until: order.until.clone(),
            full: order.full,
            slices: order.slices,
            prune: order.prune,
            making: TreatmentParameters {
                validation: order.validation,
                filter: filter.map(RuleSource::noted).transpose()?,
                normalise: normalise.map(RuleSource::noted).transpose()?,
                schemas: schemas.collect::<Result<_, _>>()?,
                unpack: absolute(&order.unpack)?,
                warc: absolute(&order.warc)?,
                access: access::mark(holdings, remote)?,
                via: order.via,
                other_hosts: order.other_hosts,
            },
        })
    }

    /// The JSON of the history: these parameters, and beside them all other settings of `order`.
    pub(in crate::harvest) fn with_order(&self, order: &HarvestOrder) -> anyhow::Result<String> {
        let mut all = serde_json::to_value(order)?;
        if let (Value::Object(all), Value::Object(own)) = (&mut all, serde_json::to_value(self)?) {
            all.extend(own);
        }
        Ok(all.to_string())
    }
}

impl TreatmentParameters {
    /// The first difference from what `other` made, in words.
    pub(in crate::harvest) fn difference(&self, other: &Self) -> Option<&'static str> {
        let digest =
            |rules: &Option<(String, String)>| rules.as_ref().map(|(_, digest)| digest.clone());
        if digest(&self.filter) != digest(&other.filter) {
            return Some("the filters are not those of the last harvest");
        }
        if digest(&self.normalise) != digest(&other.normalise) {
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
        if self.via != other.via {
            return Some("the last harvest went another way");
        }
        if self.access != other.access {
            return Some("the credentials or the proxy are not those of the last harvest");
        }
        None
    }
}

/// The digest of a file.
fn digest_of(file: &Path) -> anyhow::Result<String> {
    let bytes =
        std::fs::read(file).with_context(|| format!("`{}` cannot be read", file.display()))?;
    Ok(digest::of_bytes(&bytes))
}
