//! The settings per server and virtual host. Nothing set means: as the server around it, else the default.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use process::Confiner;
use provider::{Description, PageLimits};
use site::config::{ByValueConfig, ByteSize, FixityConfig, OwnSetConfig, RightsConfig};
use site::fixity::Algorithm;
use site::plugin::PluginRule;

use super::aliases::{Alias, GeneralAlias};

/// The settings of one server or virtual host.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerConfig {
    /// Whether some location of it has the handler.
    pub(crate) offers: bool,
    /// The URL path of such a location.
    pub(crate) location: Option<String>,
    pub(crate) base_url: Option<String>,
    pub(crate) repository_name: Option<String>,
    pub(crate) admin_emails: Vec<String>,
    pub(crate) descriptions: Vec<Description>,
    pub(super) by_value_limit: Option<ByteSize>,
    pub(super) by_value_types: BTreeMap<String, ByteSize>,
    pub(super) page_bytes: Option<u64>,
    pub(super) page_identifiers: Option<u64>,
    pub(super) page_records: Option<u64>,
    pub(super) page_lookups: Option<u64>,
    pub(super) page_seconds: Option<u64>,
    pub(super) page_programs: Option<u64>,
    pub(super) flow_lists: Option<u64>,
    pub(super) flow_lists_per_client: Option<u64>,
    pub(super) flow_programs: Option<u64>,
    pub(super) fixity: Option<Vec<Algorithm>>,
    pub(crate) plugins: Vec<PluginRule>,
    pub(crate) sets: Vec<OwnSetConfig>,
    pub(crate) rights: Vec<RightsConfig>,
    pub(super) confiner: Option<PathBuf>,
    pub(super) state_dir: Option<PathBuf>,
    pub(super) freshness: Option<u64>,
    /// The URL path of the repository that is announced at the root of the site.
    pub(crate) announce: Option<String>,
    pub(super) users: Option<Vec<String>>,
    pub(crate) roots: Vec<Alias>,
    /// Those whose URLs cannot be enumerated.
    pub(crate) general_aliases: Vec<GeneralAlias>,
    /// The aliases of locations; they go before the others, as in mod_alias.
    pub(super) location_aliases: Vec<Alias>,
    pub(super) aliases: Vec<Alias>,
    /// The arguments of `UserDir` that name directories.
    pub(super) user_dirs: Option<Vec<String>>,
}

/// How much may run at once; 0 is no limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FlowLimits {
    pub(crate) lists: u64,
    pub(crate) lists_per_client: u64,
    pub(crate) programs: u64,
}

impl ServerConfig {
    /// The settings of a virtual host: its own, and where it has none those of the server around it.
    pub(super) fn merge(base: &Self, add: &Self) -> Self {
        let mut by_value_types = base.by_value_types.clone();
        by_value_types.extend(add.by_value_types.clone());
        // The own ones first: where several match a URL, the first counts.
        let chain = |own: &[Alias], outer: &[Alias]| [own, outer].concat();
        Self {
            offers: add.offers || base.offers,
            location: add.location.clone().or_else(|| base.location.clone()),
            // The URL of one host cannot be that of another.
            base_url: add.base_url.clone(),
            repository_name: add
                .repository_name
                .clone()
                .or_else(|| base.repository_name.clone()),
            admin_emails: own_or(&add.admin_emails, &base.admin_emails),
            descriptions: own_or(&add.descriptions, &base.descriptions),
            by_value_limit: add.by_value_limit.or(base.by_value_limit),
            by_value_types,
            page_bytes: add.page_bytes.or(base.page_bytes),
            page_identifiers: add.page_identifiers.or(base.page_identifiers),
            page_records: add.page_records.or(base.page_records),
            page_lookups: add.page_lookups.or(base.page_lookups),
            page_seconds: add.page_seconds.or(base.page_seconds),
            page_programs: add.page_programs.or(base.page_programs),
            flow_lists: add.flow_lists.or(base.flow_lists),
            flow_lists_per_client: add.flow_lists_per_client.or(base.flow_lists_per_client),
            flow_programs: add.flow_programs.or(base.flow_programs),
            fixity: add.fixity.clone().or_else(|| base.fixity.clone()),
            plugins: own_or(&add.plugins, &base.plugins),
            sets: own_or(&add.sets, &base.sets),
            rights: own_or(&add.rights, &base.rights),
            confiner: add.confiner.clone().or_else(|| base.confiner.clone()),
            state_dir: add.state_dir.clone().or_else(|| base.state_dir.clone()),
            freshness: add.freshness.or(base.freshness),
            announce: add.announce.clone().or_else(|| base.announce.clone()),
            users: add.users.clone().or_else(|| base.users.clone()),
            roots: chain(&add.roots, &base.roots),
            general_aliases: [&*add.general_aliases, &*base.general_aliases].concat(),
            location_aliases: chain(&add.location_aliases, &base.location_aliases),
            aliases: chain(&add.aliases, &base.aliases),
            user_dirs: add.user_dirs.clone().or_else(|| base.user_dirs.clone()),
        }
    }

    /// The program that confines plug-ins, or why there is none. httpd cannot do it by itself.
    pub(crate) fn confiner(&self) -> Result<Confiner, String> {
        if let Some(path) = &self.confiner {
            return Confiner::installed(path);
        }
        let mut reasons = Vec::new();
        for path in CONFINERS {
            match Confiner::installed(Path::new(path)) {
                Ok(confiner) => return Ok(confiner),
                Err(reason) => reasons.push(reason),
            }
        }
        let reasons = reasons.join("; ");
        Err(format!("{reasons}; install it, or name it by OaiConfiner"))
    }

    /// Where the indexes are kept.
    pub(crate) fn state_dir(&self) -> PathBuf {
        self.state_dir
            .clone()
            .unwrap_or_else(|| PathBuf::from(STATE_DIR))
    }

    /// How old an answer may be.
    pub(crate) fn freshness(&self) -> Duration {
        Duration::from_secs(self.freshness.unwrap_or(FRESHNESS_SECONDS))
    }

    pub(crate) fn page_limits(&self) -> PageLimits {
        let default = PageLimits::default();
        PageLimits {
            bytes: self.page_bytes.unwrap_or(default.bytes),
            identifiers: self.page_identifiers.unwrap_or(default.identifiers),
            records: self.page_records.unwrap_or(default.records),
            lookups: self.page_lookups.unwrap_or(default.lookups),
            seconds: self.page_seconds.unwrap_or(default.seconds),
            programs: self.page_programs.unwrap_or(default.programs),
        }
    }

    pub(crate) fn flow_limits(&self) -> FlowLimits {
        FlowLimits {
            lists: self.flow_lists.unwrap_or(LISTS),
            lists_per_client: self.flow_lists_per_client.unwrap_or(LISTS_PER_CLIENT),
            programs: self.flow_programs.unwrap_or(PROGRAMS),
        }
    }

    pub(crate) fn by_value(&self) -> ByValueConfig {
        ByValueConfig {
            limit: self
                .by_value_limit
                .unwrap_or_else(|| ByValueConfig::default().limit),
            media_types: self.by_value_types.clone(),
        }
    }

    pub(crate) fn fixity(&self) -> FixityConfig {
        let fixity = self.fixity.clone();
        fixity.map_or_else(FixityConfig::default, |algorithms| FixityConfig {
            algorithms,
        })
    }
}

fn own_or<T: Clone>(own: &[T], outer: &[T]) -> Vec<T> {
    match own.is_empty() {
        true => outer.to_vec(),
        false => own.to_vec(),
    }
}

/// The places at which `garner-confine` is installed: with the module, or with garner.
const CONFINERS: [&str; 3] = [
    "/usr/lib/mod_oai/garner-confine",
    "/usr/bin/garner-confine",
    "/usr/local/bin/garner-confine",
];

/// Where the indexes are unless `OaiStateDir` says otherwise.
const STATE_DIR: &str = "/var/lib/mod_oai";

/// The defaults of `OaiFlowLimit`; lists are as in the stand-alone server.
const LISTS: u64 = 32;
const LISTS_PER_CLIENT: u64 = 8;
const PROGRAMS: u64 = 4;

/// The default of `OaiFreshness`.
const FRESHNESS_SECONDS: u64 = 10;
