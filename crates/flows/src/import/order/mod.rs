//! The order of an import: sources and options.

mod check;
mod containers;
mod digests;
mod listing;
mod lists;
mod parameters;
mod places;

use std::path::{Path, PathBuf};

use anyhow::Context;
use document::container::Containers;
use harvester::AddressPolicy;
use process::Confiner;
use remote::{Access, Address};
use serde::{Deserialize, Serialize};
use store::Durability;

pub use self::check::{TAGS, is_tag};
pub use self::containers::containers;
pub use self::digests::DigestRule;
pub use self::listing::Listing;
pub(in crate::import) use self::parameters::Parameters;
use super::judging::TextOrder;
use super::sources::fetched::FetchedSource;
use super::sources::is_file;
use super::sources::stored::StoredSource;

/// An import: which crawl, which of its documents, and where they go. As JSON, these are the parameters of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImportOrder {
    /// Archives, directories of archives, or the directory of a mirror; here, or at an address such as
    /// `sftp://user@host/crawl/` or `s3://bucket/crawl/`.
    pub paths: Vec<PathBuf>,
    /// The crawler's log: what the archives lack, or the list of what is in a mirror.
    pub log: Option<PathBuf>,
    /// The format of the log: the name of one that is built in, or a TOML file that describes it.
    pub log_format: Option<String>,
    /// The directory that the files of the log lie in.
    pub root: Option<PathBuf>,
    /// The beginning of the URLs, where a list only has paths.
    pub base_url: Option<String>,
    /// The media types that are taken.
    pub types: Vec<String>,
    /// Containers that are opened.
    #[serde(with = "containers")]
    pub open: Containers,
    /// A file of hosts and URLs that are not wanted.
    pub blacklist: Option<PathBuf>,
    /// Blacklists that are kept in the catalog, by their names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<String>,
    /// The text of these, once it was read.
    #[serde(skip)]
    pub listed: Option<String>,
    /// The folder that documents go to, if not into the catalog and its collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_database: Option<PathBuf>,
    /// Longer URLs are refused.
    pub max_url_length: usize,
    /// Whether the older content of a changed document is kept.
    pub keep_versions: bool,
    /// Whether documents are removed whose resources were deleted, according to the harvests of a data directory.
    #[serde(skip_serializing_if = "is_false")]
    pub mirror_deletions: bool,
    /// The treatment of documents that do not have the digests that their archive says.
    pub digests: DigestRule,
    /// The name of the crawler, for the `.met` files.
    pub crawler: Option<String>,
    /// How many threads read.
    pub threads: usize,
    /// The directory that documents go into, if not DIR/documents. The catalog keeps to that of its first import.
    pub collection: Option<String>,
    /// How documents are read for their text, and which are wanted by it.
    pub texts: TextOrder,
    /// How this program executes itself so that those which read documents do no harm; nothing is read for its text without.
    #[serde(skip)]
    pub confiner: Option<Confiner>,
    /// Directories that all that is read has to lie in, wherever links lead; anywhere if there are none.
    pub within: Vec<PathBuf>,
    /// When files must have reached the disk.
    #[serde(rename = "no_sync", with = "unsynced")]
    pub durability: Durability,
    /// The tags that a worker must have to do it as a job.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// The listing made where the import was ordered, if another machine may do it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listing: Option<Listing>,
    /// The credentials of the servers that sources are fetched from. They are never a part of a job.
    #[serde(skip, default = "Access::of_environment")]
    pub access: Access,
    /// Which servers may be connected to.
    #[serde(skip)]
    pub allow: AddressPolicy,
    /// The fetched sources.
    #[serde(skip)]
    pub fetched: Vec<FetchedSource>,
}

impl Default for ImportOrder {
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
            lists: Vec::new(),
            listed: None,
            no_database: None,
            max_url_length: LONGEST_URL,
            keep_versions: false,
            mirror_deletions: false,
            digests: DigestRule::default(),
            crawler: None,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            collection: None,
            texts: TextOrder::default(),
            confiner: None,
            within: Vec::new(),
            durability: Durability::default(),
            needs: Vec::new(),
            listing: None,
            access: Access::of_environment(),
            allow: AddressPolicy::default(),
            fetched: Vec::new(),
        }
    }
}

impl ImportOrder {
    /// Reads the parameters of a job.
    pub fn parse(json: &str) -> anyhow::Result<Self> {
        serde_json::from_str(json).context("the parameters of the import cannot be read")
    }

    /// The parameters of a job that any process can do which sees the files under the same names.
    pub fn text(&self) -> anyhow::Result<String> {
        let place = |path: &Path| match Address::is_meant(path) || StoredSource::is_meant(path) {
            true => Ok(path.to_owned()),
            false => std::path::absolute(path),
        };
        let mut order = self.clone();
        for path in order.paths.iter_mut().chain(&mut order.within) {
            *path = place(path)?;
        }
        for path in [
            &mut order.log,
            &mut order.root,
            &mut order.blacklist,
            &mut order.no_database,
        ] {
            *path = path.as_deref().map(place).transpose()?;
        }
        if let Some(format) = &mut order.log_format
            && is_file(format)
        {
            *format = place(Path::new(format))?.to_string_lossy().into_owned();
        }
        order.texts.absolute()?;
        Ok(serde_json::to_string(&order)?)
    }
}

/// Whether a switch is off. The reference is what serde gives.
fn is_false(switch: &bool) -> bool {
    !*switch
}

/// Whether files may reach the disk later.
mod unsynced {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use store::Durability;

    pub(super) fn serialize<S: Serializer>(from: &Durability, to: S) -> Result<S::Ok, S::Error> {
        (*from == Durability::None).serialize(to)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Durability, D::Error> {
        Ok(match bool::deserialize(from)? {
            true => Durability::None,
            false => Durability::Page,
        })
    }
}

/// The types that CiteSeerX takes.
const TYPES: [&str; 2] = ["application/pdf", "application/postscript"];
/// Longer ones are hardly ever links to documents, and browsers do not follow them.
const LONGEST_URL: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_of_a_job_say_all_that_an_order_says() {
        let order = ImportOrder {
            paths: vec![PathBuf::from("/crawls/a.warc.gz")],
            types: vec!["text/html".to_owned()],
            open: Containers::ALL,
            keep_versions: true,
            digests: DigestRule::Skip,
            max_url_length: 99,
            crawler: Some("mine".to_owned()),
            within: vec![PathBuf::from("/crawls")],
            durability: Durability::None,
            ..ImportOrder::default()
        };

        let read = ImportOrder::parse(&order.text().unwrap()).unwrap();

        assert_eq!(format!("{read:?}"), format!("{order:?}"));
        assert!(ImportOrder::parse("{\"pathes\":[]}").is_err());
        assert!(ImportOrder::parse(r#"{"open":["rar"]}"#).is_err());
    }
}
