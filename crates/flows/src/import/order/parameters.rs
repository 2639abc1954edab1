//! The parameters that make an import the same again.

use std::path::{Path, PathBuf};

use crawl::Roots;
use document::container::Containers;
use serde::{Deserialize, Serialize};

use super::{DigestRule, ImportOrder, containers};
use crate::harvest::digest;
use crate::import::sources::is_file;

/// The parameters of an import, as the catalog keeps them: one that was interrupted is resumed only if all of it is
/// the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::import) struct Parameters {
    types: Vec<String>,
    #[serde(with = "containers")]
    open: Containers,
    log: Option<PathBuf>,
    /// The name of the format, or the digest of the file that describes it.
    log_format: Option<String>,
    root: Option<PathBuf>,
    base_url: Option<String>,
    /// The digest of what the blacklist said.
    blacklist: Option<String>,
    /// The digest of what the blacklists of the catalog said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lists: Option<String>,
    max_url_length: usize,
    keep_versions: bool,
    #[serde(default, skip_serializing_if = "super::is_false")]
    mirror_deletions: bool,
    #[serde(default, skip_serializing_if = "DigestRule::is_usual")]
    digests: DigestRule,
    crawler: Option<String>,
    collection: Option<String>,
    /// How texts are read and judged, with the version of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    texts: Option<String>,
}

impl ImportOrder {
    pub(in crate::import) fn parameters(&self) -> anyhow::Result<Parameters> {
        let log_format = match &self.log_format {
            Some(format) if is_file(format) => Some(self.said(Path::new(format))?),
            format => format.clone(),
        };
        let mut types = self.types.clone();
        types.sort();
        Ok(Parameters {
            types,
            open: self.open,
            log: absolute(self.log.as_deref())?,
            log_format,
            root: absolute(self.root.as_deref())?,
            base_url: self.base_url.clone(),
            blacklist: self
                .blacklist
                .as_deref()
                .map(|file| self.said(file))
                .transpose()?,
            lists: self
                .listed
                .as_ref()
                .map(|text| digest::of_bytes(text.as_bytes())),
            max_url_length: self.max_url_length,
            keep_versions: self.keep_versions,
            mirror_deletions: self.mirror_deletions,
            digests: self.digests,
            crawler: self.crawler.clone(),
            collection: self.collection.clone(),
            texts: self.texts.said(&Roots::new(&self.within))?,
        })
    }

    /// The digest of what a file says.
    fn said(&self, file: &Path) -> anyhow::Result<String> {
        Ok(digest::of_bytes(self.read(file)?.as_bytes()))
    }
}

fn absolute(path: Option<&Path>) -> anyhow::Result<Option<PathBuf>> {
    Ok(path.map(std::path::absolute).transpose()?)
}
