//! What is to be imported, and how.

use std::path::{Path, PathBuf};

use anyhow::Context;
use document::container::Containers;
use serde::{Deserialize, Serialize};
use store::Durability;

use super::sources::is_file;
use crate::harvest::digest;

/// An import: which crawl, which of its documents, and where they go. As JSON, these are the parameters of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
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
    #[serde(with = "opened")]
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
    /// The directory that documents go into, if not DIR/documents. The catalog keeps to that of its first import.
    pub collection: Option<String>,
    /// When files must have reached the disk.
    #[serde(skip)]
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
    /// The digest of how the sources begin: another file under an old name is not gone on with.
    beginnings: String,
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
    /// Reads the parameters of a job.
    pub fn parse(json: &str) -> anyhow::Result<Self> {
        serde_json::from_str(json).context("the parameters of the import cannot be read")
    }

    /// The parameters of a job that any process can do which sees the files under the same names.
    pub fn text(&self) -> anyhow::Result<String> {
        let place = |path: &Path| std::path::absolute(path);
        let mut order = self.clone();
        for path in &mut order.paths {
            *path = place(path)?;
        }
        for path in [&mut order.log, &mut order.root, &mut order.blacklist] {
            *path = absolute(path.as_deref())?;
        }
        if let Some(format) = &mut order.log_format
            && is_file(format)
        {
            *format = place(Path::new(format))?.to_string_lossy().into_owned();
        }
        Ok(serde_json::to_string(&order)?)
    }

    pub(super) fn parameters(&self, beginnings: String) -> anyhow::Result<Parameters> {
        let log_format = match &self.log_format {
            Some(format) if is_file(format) => Some(said(Path::new(format))?),
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
            beginnings,
        })
    }
}

fn absolute(path: Option<&Path>) -> anyhow::Result<Option<PathBuf>> {
    Ok(path.map(std::path::absolute).transpose()?)
}

/// Containers as a list of their names.
mod opened {
    use document::container::Containers;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(open: &Containers, to: S) -> Result<S::Ok, S::Error> {
        let all = [(open.gzip, "gzip"), (open.tar, "tar"), (open.zip, "zip")];
        let names: Vec<_> = all
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, name)| *name)
            .collect();
        names.serialize(to)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Containers, D::Error> {
        let names = Vec::<String>::deserialize(from)?;
        let is = |name: &str| names.iter().any(|named| named == name);
        Ok(Containers {
            gzip: is("gzip"),
            tar: is("tar"),
            zip: is("zip"),
        })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_of_a_job_say_all_that_an_order_says() {
        let order = ImportCrawl {
            paths: vec![PathBuf::from("/crawls/a.warc.gz")],
            types: vec!["text/html".to_owned()],
            open: Containers::ALL,
            keep_versions: true,
            max_url_length: 99,
            crawler: Some("mine".to_owned()),
            ..ImportCrawl::default()
        };

        let read = ImportCrawl::parse(&order.text().unwrap()).unwrap();

        assert_eq!(format!("{read:?}"), format!("{order:?}"));
        assert!(ImportCrawl::parse("{\"pathes\":[]}").is_err());
    }
}
