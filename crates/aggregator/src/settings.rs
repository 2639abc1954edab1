//! The exposed content, its audience and its names.

use std::path::PathBuf;

use oai::SetSpec;
use provider::{Description, PageLimits};
use site::AreaConfig;
use site::config::ByValueConfig;

/// How an aggregator is set up.
#[derive(Debug, Clone, Default)]
pub struct AggregatorSettings {
    /// Where harvesters ask.
    pub base_url: String,
    /// Its name.
    pub name: String,
    /// Whom to write to.
    pub admin_emails: Vec<String>,
    /// Containers that say more about it.
    pub descriptions: Vec<Description>,
    /// The host in the identifiers of documents.
    pub repository_identifier: String,
    /// Whether harvested records are exposed.
    pub records: bool,
    /// Whether documents of the collection are exposed.
    pub documents: bool,
    /// Whether the files of documents are given out, if `oai_didl` is offered.
    pub downloads: bool,
    /// Repositories whose records are exposed, by base URL or number; all if there are none.
    pub repositories: Vec<String>,
    /// Formats that are offered; all if there are none.
    pub formats: Vec<String>,
    /// The treatment of records whose repository was removed.
    pub removed: RemovedRepositories,
    /// How much of a document goes into its `oai_didl` record.
    pub by_value: ByValueConfig,
    /// Parts that only some may see.
    pub areas: Vec<AreaConfig>,
    /// Password files are relative to this directory.
    pub relative_to: PathBuf,
    /// Sets of the operator's own.
    pub sets: Vec<QuerySet>,
    /// How long pages may get.
    pub limits: PageLimits,
}

/// The treatment of records whose repository was removed from the catalog.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RemovedRepositories {
    /// They are listed as deleted.
    #[default]
    Tombstones,
    /// They are not mentioned.
    Gone,
}

/// A set that an operator defines by a query: what fits all conditions that are given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuerySet {
    /// Its name, from which its setSpec is made: `query:NAME`.
    pub spec: SetSpec,
    /// Its name for people.
    pub name: String,
    /// Records of one of these repositories, by base URL or number.
    pub repositories: Vec<String>,
    /// Records of one of these sets of their repositories, or of sets below them.
    pub sets: Vec<String>,
    /// Documents of one of these kinds.
    pub kinds: Vec<String>,
    /// Documents of one of these media types.
    pub media_types: Vec<String>,
    /// Documents of one of these hosts, or of hosts below them.
    pub hosts: Vec<String>,
}

impl QuerySet {
    /// Whether it has records.
    pub(crate) fn is_of_records(&self) -> bool {
        !self.repositories.is_empty() || !self.sets.is_empty()
    }

    /// Whether it has documents.
    pub(crate) fn is_of_documents(&self) -> bool {
        !self.kinds.is_empty() || !self.media_types.is_empty() || !self.hosts.is_empty()
    }
}
