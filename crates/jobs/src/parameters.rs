//! How a schedule or a job harvests, as the catalog keeps it: JSON that people and browsers write.
//!
//! Rules are named by their numbers in the catalog and directories lie below the data directory, so that nobody who may
//! steer harvests can reach a file of the machine.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use catalog::RulesKind;
use harvester::validation::Level;
use harvester::{ClientOptions, Method};
use oai::Datestamp;
use serde::{Deserialize, Serialize};
use store::{Durability, Layout};

use crate::access::{self, Access};
use crate::harvest::UNFINISHED;
use crate::rules::RuleSource;
use crate::{Deleted, HarvestRepository, Holdings};

/// All that can be set for a harvest beside the repository, the format and the set. The default is an incremental
/// harvest as `garner harvest` does it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HarvestParameters {
    /// How records are asked for.
    pub method: Method,
    /// Since when. Without it, since the last harvest.
    pub from: Option<String>,
    /// Until when.
    pub until: Option<String>,
    /// Whether everything is harvested again each time.
    pub full: bool,
    /// In how many spans of time the list is cut, to be harvested side by side.
    pub slices: u16,
    /// How strictly records are validated.
    pub validation: Level,
    /// The number of the filter that says which records are kept.
    pub filter: Option<i64>,
    /// The number of the mapping that says what is added to records.
    pub normalise: Option<i64>,
    /// Whether records that are held are removed if the filter does not accept them, and not only marked.
    pub prune: bool,
    /// What becomes of the files of deleted records.
    pub deleted: Deleted,
    /// Whether identifiers are parsed into directories.
    pub parse_id: bool,
    /// How many files a directory has at most.
    pub files_per_directory: u64,
    /// The directory of a mirror of the resources, below the data directory.
    pub unpack: Option<String>,
    /// The directory of WARC files with the resources, below the data directory.
    pub warc: Option<String>,
    /// The longest resource that is taken, in MiB.
    pub resource_limit: u64,
    /// The name of a file in the data directory with credentials, a proxy or certificates; see [`Access`].
    pub access: Option<String>,
    /// Whom the repository may write to, sent in the header From. Without it, as the worker says.
    pub contact: Option<String>,
    /// The least time between the beginnings of two requests. Without it, as the worker says.
    pub interval_ms: Option<u64>,
    /// How many requests may be open at once. Without it, as the worker says.
    pub connections: Option<u16>,
    /// How long the server may be silent, and may take for 16 KiB. Without it, as the worker says.
    pub timeout_ms: Option<u64>,
    /// How often a request is made before it is given up. Without it, as the worker says.
    pub attempts: Option<u32>,
    /// The longest wait that the server may ask for; if it asks for more, the job is put off. Without it, as the worker
    /// says.
    pub longest_wait_ms: Option<u64>,
}

impl Default for HarvestParameters {
    fn default() -> Self {
        let layout = Layout::default();
        Self {
            method: Method::default(),
            from: None,
            until: None,
            full: false,
            slices: 1,
            validation: Level::default(),
            filter: None,
            normalise: None,
            prune: false,
            deleted: Deleted::default(),
            parse_id: layout.parse_id,
            files_per_directory: layout.files_per_directory,
            unpack: None,
            warc: None,
            resource_limit: 4096,
            access: None,
            contact: None,
            interval_ms: None,
            connections: None,
            timeout_ms: None,
            attempts: None,
            longest_wait_ms: None,
        }
    }
}

impl HarvestParameters {
    /// Reads what the catalog has, and checks it.
    pub fn parse(json: &str) -> anyhow::Result<Self> {
        let parameters: Self =
            serde_json::from_str(json).context("the parameters of the harvest cannot be read")?;
        parameters.check()?;
        Ok(parameters)
    }

    /// As the catalog keeps them.
    pub fn text(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string(self)?)
    }

    /// Finds what no harvest could be made with.
    pub fn check(&self) -> anyhow::Result<()> {
        for (name, date) in [("from", &self.from), ("until", &self.until)] {
            if let Some(date) = date
                && Datestamp::parse(date).is_none()
            {
                bail!("{name}: `{date}` is not a date; write YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ");
            }
        }
        if let (Some(from), Some(until)) = (&self.from, &self.until)
            && from.get(..10) > until.get(..10)
        {
            bail!("from: `{from}` is later than until: `{until}`; nothing could be between them");
        }
        if self.full && self.from.is_some() {
            bail!("full: everything is harvested, so there can be no from; leave one of them out");
        }
        if !(1..=1000).contains(&self.slices) {
            bail!("slices: write a number from 1 to 1000");
        }
        if self.files_per_directory == 0 {
            bail!("files_per_directory: write a number from 1 on");
        }
        if !(1..1 << 40).contains(&self.resource_limit) {
            bail!("resource_limit: write a number of MiB from 1 on");
        }
        for (name, place) in [("unpack", &self.unpack), ("warc", &self.warc)] {
            if let Some(place) = place {
                below(Path::new(""), place).with_context(|| name.to_owned())?;
            }
        }
        self.check_network()
    }

    fn check_network(&self) -> anyhow::Result<()> {
        if let Some(name) = &self.access {
            access::check_name(name)?;
        }
        if let Some(contact) = &self.contact
            && (contact.len() > LONGEST_PLACE
                || !contact.bytes().all(|it| (b' '..=b'~').contains(&it)))
        {
            bail!("contact: write an e-mail address");
        }
        for (name, time) in [
            ("interval_ms", self.interval_ms),
            ("longest_wait_ms", self.longest_wait_ms),
        ] {
            if time.is_some_and(|time| time > A_DAY_MS) {
                bail!("{name}: write milliseconds, up to a day (86400000)");
            }
        }
        if self
            .timeout_ms
            .is_some_and(|it| !(1..=A_DAY_MS).contains(&it))
        {
            bail!("timeout_ms: write milliseconds from 1 on, up to a day (86400000)");
        }
        if self.connections.is_some_and(|it| !(1..=64).contains(&it)) {
            bail!("connections: write a number from 1 to 64");
        }
        if self.attempts == Some(0) {
            bail!("attempts: write a number from 1 on");
        }
        Ok(())
    }

    /// How the repository at `base_url` is asked: as a worker asks others, but for what is said here.
    pub(crate) fn client_options(
        &self,
        holdings: &Holdings,
        base_url: &str,
        usual: &ClientOptions,
    ) -> anyhow::Result<ClientOptions> {
        let mut options = usual.clone();
        if let Some(name) = &self.access {
            Access::load(holdings, name, base_url)?.apply(&mut options);
        }
        options.from = self.contact.clone().or(options.from);
        if let Some(interval) = self.interval_ms {
            options.interval = Duration::from_millis(interval);
        }
        if let Some(connections) = self.connections {
            options.connections = usize::from(connections);
        }
        if let Some(timeout) = self.timeout_ms {
            options.read_timeout = Duration::from_millis(timeout);
            options.connect_timeout = options.connect_timeout.min(options.read_timeout);
        }
        if let Some(wait) = self.longest_wait_ms {
            options.longest_wait = Duration::from_millis(wait);
        }
        options.attempts = self.attempts.unwrap_or(options.attempts);
        Ok(options)
    }

    /// The format that is asked for if none is named: the one that holds resources where they are wanted.
    pub fn usual_prefix(&self) -> &'static str {
        match self.unpack.is_some() || self.warc.is_some() {
            true => "oai_didl",
            false => "oai_dc",
        }
    }

    /// The harvest that is meant, with its rules as they are in the catalog now.
    pub(crate) fn harvest(
        &self,
        holdings: &Holdings,
        base_url: &str,
        metadata_prefix: &str,
        set: Option<&str>,
    ) -> anyhow::Result<HarvestRepository> {
        Ok(HarvestRepository {
            filter: rules(holdings, RulesKind::Filter, self.filter)?,
            normalise: rules(holdings, RulesKind::Mapping, self.normalise)?,
            ..self.order(base_url, metadata_prefix, set, holdings.directory())?
        })
    }

    /// The harvest without its rules.
    fn order(
        &self,
        base_url: &str,
        metadata_prefix: &str,
        set: Option<&str>,
        data: &Path,
    ) -> anyhow::Result<HarvestRepository> {
        self.check()?;
        let place = |place: &Option<String>| -> anyhow::Result<Option<PathBuf>> {
            place.as_deref().map(|place| below(data, place)).transpose()
        };
        Ok(HarvestRepository {
            method: self.method,
            set: set.map(str::to_owned),
            from: self.from.clone(),
            until: self.until.clone(),
            full: self.full,
            slices: usize::from(self.slices),
            validation: self.validation,
            layout: Layout {
                parse_id: self.parse_id,
                files_per_directory: self.files_per_directory,
            },
            prune: self.prune,
            deleted: self.deleted,
            durability: Durability::Page,
            unpack: place(&self.unpack)?,
            warc: place(&self.warc)?,
            resource_limit: self.resource_limit << 20,
            ..HarvestRepository::new(base_url, metadata_prefix)
        })
    }
}

/// The rules with a number, as the catalog has them now.
fn rules(
    holdings: &Holdings,
    kind: RulesKind,
    number: Option<i64>,
) -> anyhow::Result<Option<RuleSource>> {
    let Some(number) = number else {
        return Ok(None);
    };
    let found = holdings.wait(holdings.catalog().rules_of(number))?;
    let found = found.filter(|rules| rules.kind == kind);
    let what = kind.name();
    let rules = found.with_context(|| {
        format!("the {what} with the number {number} was removed; give the schedule another")
    })?;
    Ok(Some(RuleSource::Text {
        name: rules.name,
        content: rules.content,
    }))
}

/// A place below a directory, named by somebody who may not name others.
fn below(directory: &Path, place: &str) -> anyhow::Result<PathBuf> {
    let complaint = || {
        format!(
            "`{place}` is not a directory below the data directory; write a name such as mirror, of letters, digits, -, _ and dots"
        )
    };
    let path = Path::new(place);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => names.push(name.to_string_lossy()),
            _ => bail!(complaint()),
        }
    }
    let hidden = names.iter().any(|name| name.starts_with('.'));
    let Some(first) = names
        .first()
        .filter(|_| !hidden && place.chars().all(plain))
    else {
        bail!(complaint());
    };
    if place.len() > LONGEST_PLACE {
        bail!("`{place}` is too long for the name of a directory; write a shorter one");
    }
    // Records have their own directories there, and so have credentials; and the catalog has its files.
    if first.eq_ignore_ascii_case("records")
        || first.eq_ignore_ascii_case(access::DIRECTORY)
        || first.eq_ignore_ascii_case(UNFINISHED)
        || first.eq_ignore_ascii_case("set-aside")
        || first.to_ascii_lowercase().starts_with("catalog.")
    {
        bail!("`{place}` is for other files of garner; write another name, such as mirror");
    }
    Ok(directory.join(path))
}

const LONGEST_PLACE: usize = 200;
const A_DAY_MS: u64 = 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_said_is_an_incremental_harvest() {
        let parameters = HarvestParameters::parse("{}").unwrap();
        assert_eq!(parameters, HarvestParameters::default());
        let text = parameters.text().unwrap();
        assert_eq!(HarvestParameters::parse(&text).unwrap(), parameters);
    }

    #[test]
    fn an_order_has_all_that_was_said() {
        let json = r#"{"method":"ListIdentifiers","until":"2024-01-01","full":true,"slices":3,
            "validation":"very-strict","deleted":"keep","parse_id":false,"warc":"warc/a"}"#;
        let parameters = HarvestParameters::parse(json).unwrap();

        let order = parameters
            .order(
                "http://a.example/oai",
                "oai_didl",
                Some("s"),
                Path::new("/data"),
            )
            .unwrap();

        assert_eq!(order.method, Method::ListIdentifiers);
        assert_eq!(order.until.as_deref(), Some("2024-01-01"));
        assert!(order.full && !order.layout.parse_id);
        assert_eq!(order.slices, 3);
        assert_eq!(order.validation, Level::VeryStrict);
        assert_eq!(order.deleted, Deleted::Keep);
        assert_eq!(order.warc, Some(PathBuf::from("/data/warc/a")));
        assert_eq!(order.set.as_deref(), Some("s"));
    }

    #[test]
    fn directories_stay_below_the_data_directory() {
        for place in [
            "..",
            "/etc",
            "a/../../b",
            "",
            ".",
            ".hidden",
            "a/.b",
            "a\0b",
            "a b",
            "~",
            "C:\\x",
            "records",
            "records/x",
            "Records",
            "secrets",
            "unfinished",
            "set-aside/x",
            "catalog.sqlite",
            "catalog.sqlite-wal",
        ] {
            let parameters = HarvestParameters {
                unpack: Some(place.to_owned()),
                ..HarvestParameters::default()
            };
            assert!(parameters.check().is_err(), "{place:?}");
        }
        for place in ["mirror", "mirror/of-me_2.0", "warc"] {
            let parameters = HarvestParameters {
                warc: Some(place.to_owned()),
                ..HarvestParameters::default()
            };
            parameters.check().unwrap();
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_and_named() {
        for (json, said) in [
            (r#"{"from":"yesterday"}"#, "from"),
            (
                r#"{"from":"2024-02-02","until":"2024-01-01"}"#,
                "later than",
            ),
            (r#"{"from":"2024-02-02","full":true}"#, "full"),
            (r#"{"slices":0}"#, "slices"),
            (r#"{"files_per_directory":0}"#, "files_per_directory"),
            (r#"{"resource_limit":0}"#, "resource_limit"),
            (r#"{"access":"../catalog.sqlite"}"#, "access"),
            (r#"{"contact":"a\nHost: b"}"#, "contact"),
            (r#"{"interval_ms":86400001}"#, "interval_ms"),
            (r#"{"connections":0}"#, "connections"),
            (r#"{"base_directory":"/etc"}"#, "base_directory"),
            ("{", "cannot be read"),
        ] {
            let error = HarvestParameters::parse(json).unwrap_err();
            let error = crate::message(&error);
            assert!(error.contains(said), "{json}: {error}");
        }
    }
}
