//! What is to be imported, and how.

use std::path::{Path, PathBuf};

use anyhow::Context;
use document::container::Containers;
use serde::{Deserialize, Serialize};
use store::Durability;

use crate::harvest::digest;

/// An import: which crawl, which of its documents, and where they go.
#[derive(Debug, Clone)]
pub struct ImportCrawl {
    /// Archives, directories of archives, or the directory of a mirror.
    pub paths: Vec<PathBuf>,
    /// The crawler's log: what the archives lack, or the list of what is in a mirror.
    pub log: Option<PathBuf>,
    /// The format of the log: the name of one that is built in, or a TOML file that describes it.
    pub log_format: Option<String>,
    /// The directory that the files of the log lie in.
    pub root: Option<PathBuf>,
    /// What the URLs begin with, where a list only has paths.
    pub base_url: Option<String>,
    /// The media types that are taken.
    pub types: Vec<String>,
    /// Containers that are opened.
    pub open: Containers,
    /// A file of hosts and URLs that are not wanted.
    pub blacklist: Option<PathBuf>,
    /// Longer URLs are refused.
    pub max_url_length: usize,
    /// Whether the older content of a changed document is kept.
    pub keep_versions: bool,
    /// The name of the crawler, for the `.met` files.
    pub crawler: Option<String>,
    /// How many threads read.
    pub threads: usize,
    /// Where documents go, if not into DIR/documents: a directory or `s3://BUCKET/PREFIX`.
    pub collection: Option<String>,
    /// When files must have reached the disk.
    pub durability: Durability,
}

/// What an import was begun with, as the catalog keeps it: one that was interrupted is gone on with only if all of it is
/// the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Parameters {
    types: Vec<String>,
    open: String,
    log: Option<PathBuf>,
    /// The name of the format, or the digest of the file that describes it.
    log_format: Option<String>,
    root: Option<PathBuf>,
    base_url: Option<String>,
    /// The digest of what the blacklist said.
    blacklist: Option<String>,
    max_url_length: usize,
    keep_versions: bool,
    crawler: Option<String>,
    collection: Option<String>,
}

impl Default for ImportCrawl {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            log: None,
            log_format: None,
            root: None,
            base_url: None,
            types: TYPES.map(str::to_owned).to_vec(),
            open: Containers::default(),
            blacklist: None,
            max_url_length: LONGEST_URL,
            keep_versions: false,
            crawler: None,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            collection: None,
            durability: Durability::default(),
        }
    }
}

impl ImportCrawl {
    pub(super) fn parameters(&self) -> anyhow::Result<Parameters> {
        let log_format = match &self.log_format {
            Some(format) if Path::new(format).is_file() => Some(said(Path::new(format))?),
            format => format.clone(),
        };
        let mut types = self.types.clone();
        types.sort();
        Ok(Parameters {
            types,
            open: format!("{:?}", self.open),
            log: absolute(self.log.as_deref())?,
            log_format,
            root: absolute(self.root.as_deref())?,
            base_url: self.base_url.clone(),
            blacklist: self.blacklist.as_deref().map(said).transpose()?,
            max_url_length: self.max_url_length,
            keep_versions: self.keep_versions,
            crawler: self.crawler.clone(),
            collection: self.collection.clone(),
        })
    }
}

fn absolute(path: Option<&Path>) -> anyhow::Result<Option<PathBuf>> {
    Ok(path.map(std::path::absolute).transpose()?)
}

/// The digest of what a file says.
fn said(file: &Path) -> anyhow::Result<String> {
    let bytes =
        std::fs::read(file).with_context(|| format!("`{}` cannot be read", file.display()))?;
    Ok(digest::of_bytes(&bytes))
}

/// What CiteSeerX takes.
const TYPES: [&str; 2] = ["application/pdf", "application/postscript"];
/// Longer ones are hardly ever links to documents, and browsers do not follow them.
const LONGEST_URL: usize = 2048;
