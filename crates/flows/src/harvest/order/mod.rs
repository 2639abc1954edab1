//! A harvest order: everything that can be set for a harvest. As JSON, it is the parameters of schedules and jobs.

mod check;
mod kept;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use catalog::RulesKind;
use harvester::{ClientOptions, Leniency, Method};
use rules::validation::Level;
use serde::{Deserialize, Serialize};
use store::{Durability, Layout};

pub(super) use self::kept::Parameters;
use crate::Holdings;
use crate::access::Access;
use crate::harvest::Via;
use crate::mistake::first;
use crate::rules::{RuleSource, RulesName};

/// A harvest of one repository, in one format, of one set or of all. The default is an incremental harvest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HarvestOrder {
    /// Where the repository answers.
    #[serde(skip)]
    pub base_url: String,
    /// The format; empty for [`HarvestOrder::default_prefix`].
    #[serde(skip)]
    pub metadata_prefix: String,
    /// The set, if not all records are harvested.
    #[serde(skip)]
    pub set: Option<String>,
    /// The directory for the files of a new repository.
    #[serde(skip)]
    pub base_directory: Option<PathBuf>,
    /// The way in which the site is harvested.
    #[serde(skip_serializing_if = "Via::is_oai")]
    pub via: Via,
    /// Whether resources on other hosts than the site's are included, where its lists name any.
    #[serde(skip_serializing_if = "is_false")]
    pub other_hosts: bool,
    /// How records are requested.
    pub method: Method,
    /// Lower bound of the datestamps. Without it, the harvest starts where the last one ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Upper bound of the datestamps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Whether everything is harvested again. Records that are not listed any more count as deleted then, unless the
    /// repository keeps track of deletions for ever.
    pub full: bool,
    /// The number of spans of time that the list is cut into, to be harvested side by side.
    pub slices: u16,
    /// How strictly records are validated.
    pub validation: Level,
    /// XML Schemas beside those that are built in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub schemas: Vec<PathBuf>,
    /// Rules that decide which records are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<RulesName>,
    /// Rules that add to records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normalise: Option<RulesName>,
    /// Whether held records that the filter rejects are removed, and not only marked; and after a full harvest also
    /// those that may only be hidden from these credentials.
    pub prune: bool,
    /// The fate of the files of deleted records.
    pub deleted: Deleted,
    /// Whether identifiers are parsed into directories.
    pub parse_id: bool,
    /// The greatest number of files in a directory.
    pub files_per_directory: u64,
    /// Whether files need not have reached the disk before their records are committed.
    pub no_sync: bool,
    /// The directory of a mirror of the resources; a relative path lies below the data directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unpack: Option<PathBuf>,
    /// The directory of WARC files with the resources; a relative path lies below the data directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warc: Option<PathBuf>,
    /// The longest resource that is kept, in MiB.
    pub resource_limit: u64,
    /// The name of a file in the data directory with credentials, a proxy or certificates; see [`Access`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
    /// The e-mail address that is sent in the header From.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
    /// The value of the header User-Agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// Further request headers, each as `Name: value`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
    /// The minimum time between requests, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_ms: Option<u64>,
    /// The number of requests that may be open at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<u16>,
    /// The timeout without data, and for each 16 KiB, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The number of attempts for each request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// The longest wait that the server may ask for, in milliseconds; if it asks for more, the job is put off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_wait_ms: Option<u64>,
    /// How many parts of the list are asked for if its first page never comes.
    #[serde(skip_serializing_if = "is_zero")]
    pub first_page_parts: u32,
}

/// The fate of the file of a deleted record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deleted {
    /// It is removed.
    #[default]
    Remove,
    /// It is kept under a name that ends in `.deleted`.
    Keep,
}

impl Default for HarvestOrder {
    fn default() -> Self {
        let layout = Layout::default();
        Self {
            base_url: String::new(),
            metadata_prefix: String::new(),
            set: None,
            base_directory: None,
            via: Via::default(),
            other_hosts: false,
            method: Method::default(),
            from: None,
            until: None,
            full: false,
            slices: 1,
            validation: Level::default(),
            schemas: Vec::new(),
            filter: None,
            normalise: None,
            prune: false,
            deleted: Deleted::default(),
            parse_id: layout.parse_id,
            files_per_directory: layout.files_per_directory,
            no_sync: false,
            unpack: None,
            warc: None,
            resource_limit: RESOURCE_LIMIT,
            access: None,
            contact: None,
            user_agent: None,
            headers: Vec::new(),
            interval_ms: None,
            connections: None,
            timeout_ms: None,
            attempts: None,
            longest_wait_ms: None,
            first_page_parts: 0,
        }
    }
}

impl HarvestOrder {
    /// Everything in one format, with the default settings.
    pub fn new(base_url: &str, metadata_prefix: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
            metadata_prefix: metadata_prefix.to_owned(),
            ..Self::default()
        }
    }

    /// Reads the parameters of a schedule or a job, and checks them.
    pub fn parse(json: &str) -> anyhow::Result<Self> {
        let order: Self =
            serde_json::from_str(json).context("the parameters of the harvest cannot be read")?;
        first(order.check())?;
        first(order.check_places())?;
        Ok(order)
    }

    /// The order as the catalog keeps it, without its target.
    pub fn text(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string(self)?)
    }

    /// This order for a target.
    pub fn of(self, base_url: &str, metadata_prefix: &str, set: Option<&str>) -> Self {
        Self {
            base_url: base_url.to_owned(),
            metadata_prefix: metadata_prefix.to_owned(),
            set: set.map(str::to_owned),
            ..self
        }
    }

    /// The format of an order that names none: the one that holds resources where they are wanted.
    pub fn default_prefix(&self) -> &'static str {
        match self.unpack.is_some() || self.warc.is_some() || self.via.reads_lists() {
            true => "oai_didl",
            false => "oai_dc",
        }
    }

    /// How the repository is asked: as `defaults` say, but for what the order says.
    pub fn client_options(
        &self,
        holdings: &Holdings,
        defaults: &ClientOptions,
    ) -> anyhow::Result<ClientOptions> {
        let mut options = defaults.clone();
        if let Some(name) = &self.access {
            Access::load(holdings, name, &self.base_url)?.apply(&mut options);
        }
        self.apply_network(&mut options);
        Ok(options)
    }

    /// Puts everything but the access into `options`.
    pub fn apply_network(&self, options: &mut ClientOptions) {
        let time = |given: Option<u64>, default| given.map_or(default, Duration::from_millis);
        if let Some(contact) = &self.contact {
            options.from = Some(contact.clone());
        }
        if let Some(user_agent) = &self.user_agent {
            options.user_agent.clone_from(user_agent);
        }
        options.headers.extend(self.headers.iter().cloned());
        options.interval = time(self.interval_ms, options.interval);
        options.read_timeout = time(self.timeout_ms, options.read_timeout);
        options.connect_timeout = options.connect_timeout.min(options.read_timeout);
        options.longest_wait = time(self.longest_wait_ms, options.longest_wait);
        if let Some(connections) = self.connections {
            options.set_connections(connections);
        }
        options.attempts = self.attempts.unwrap_or(options.attempts);
        if self.validation == Level::Loose {
            options.read.leniency = Leniency::Repair;
        }
    }

    /// The same order with directories that do not depend on the data directory.
    pub(super) fn placed(&self, data: &Path) -> Self {
        let place = |place: &Option<PathBuf>| place.as_ref().map(|place| data.join(place));
        Self {
            unpack: place(&self.unpack),
            warc: place(&self.warc),
            ..self.clone()
        }
    }

    /// How files are laid out.
    pub(super) fn layout(&self) -> Layout {
        Layout {
            parse_id: self.parse_id,
            files_per_directory: self.files_per_directory,
        }
    }

    /// When files must have reached the disk.
    pub(super) fn durability(&self) -> Durability {
        match self.no_sync {
            true => Durability::None,
            false => Durability::Page,
        }
    }

    /// The longest resource that is kept, in bytes.
    pub(super) fn longest_resource(&self) -> u64 {
        self.resource_limit << 20
    }

    /// The filter and the mapping, as they are now.
    pub(super) fn rules(
        &self,
        holdings: &Holdings,
    ) -> anyhow::Result<(Option<RuleSource>, Option<RuleSource>)> {
        let source = |kind, name: &Option<RulesName>| {
            let source = name.as_ref().map(|name| name.source(holdings, kind));
            source.transpose()
        };
        Ok((
            source(RulesKind::Filter, &self.filter)?,
            source(RulesKind::Mapping, &self.normalise)?,
        ))
    }
}

/// Whether a number is its default. The reference is what serde gives.
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Whether a switch is off. The reference is what serde gives.
fn is_false(switch: &bool) -> bool {
    !*switch
}

/// A web site has larger files now and then, but a harvest that fills the disk helps nobody. In MiB.
const RESOURCE_LIMIT: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_object_is_an_incremental_harvest() {
        let order = HarvestOrder::parse("{}").unwrap();
        assert_eq!(order, HarvestOrder::default());
        assert_eq!(HarvestOrder::parse(&order.text().unwrap()).unwrap(), order);
    }

    #[test]
    fn orders_of_earlier_versions_are_read() {
        let json = r#"{"method":"ListIdentifiers","from":null,"until":"2024-01-01","full":true,"slices":3,
            "validation":"very-strict","filter":7,"normalise":null,"prune":false,"deleted":"keep","parse_id":false,
            "files_per_directory":12,"unpack":null,"warc":"warc/a","resource_limit":4096,"access":null,"contact":null,
            "interval_ms":500,"connections":2,"timeout_ms":null,"attempts":3,"longest_wait_ms":null}"#;

        let order = HarvestOrder::parse(json).unwrap();

        let order = order.of("http://a.example/oai", "oai_didl", Some("s"));
        let order = order.placed(Path::new("/data"));
        assert_eq!(order.method, Method::ListIdentifiers);
        assert_eq!((order.slices, order.layout().parse_id), (3, false));
        assert_eq!(order.filter, Some(RulesName::Number(7)));
        assert_eq!(order.warc, Some(PathBuf::from("/data/warc/a")));
        assert_eq!(order.set.as_deref(), Some("s"));
        let mut options = ClientOptions::default();
        order.apply_network(&mut options);
        assert_eq!(options.interval, Duration::from_millis(500));
        assert_eq!((options.connections, options.attempts), (2, 3));
    }
}
