//! `[aggregator]`: how the catalog is exposed as a repository.

mod shown;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use ::aggregator::{Aggregator, AggregatorSettings, QuerySet, RemovedRepositories, token_secret};
use anyhow::{Context, bail};
use flows::Holdings;
use oai::SetSpec;
use provider::{Description, PageLimits};
use serde::Deserialize;
use server::config::{FlowControlConfig, PagesConfig};
use server::{Repository, RepositoryConfig};
use site::AreaConfig;
use site::config::ByValueConfig;

/// The exposed content, its audience and its names.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AggregatorConfig {
    /// Whether `garner up` exposes the catalog.
    pub(crate) enabled: bool,
    /// Where it listens.
    pub(crate) listen: SocketAddr,
    /// The path at which it answers.
    path: String,
    /// Where it answers, as harvesters see it.
    pub(crate) base_url: Option<String>,
    /// Its name.
    pub(crate) name: Option<String>,
    /// Whom to write to.
    pub(crate) admin_emails: Vec<String>,
    /// Containers that say more about it.
    descriptions: Vec<Description>,
    /// The host in the identifiers of documents.
    repository_identifier: Option<String>,
    /// Whether harvested records are exposed.
    records: bool,
    /// Whether documents of the collection are exposed.
    documents: bool,
    /// Whether the files of documents are given out.
    downloads: bool,
    /// Repositories whose records are exposed.
    repositories: Vec<String>,
    /// Formats that are offered.
    formats: Vec<String>,
    /// The treatment of records whose repository was removed.
    removed_repositories: Removed,
    /// How much of a document goes into its record.
    by_value: ByValueConfig,
    /// Parts that only some may see.
    area: Vec<AreaConfig>,
    /// Sets of the operator's own.
    set: Vec<SetConfig>,
    /// How long pages may get.
    pages: PagesConfig,
    /// How much may be asked at once.
    flow_control: FlowControlConfig,
    /// Proxies whose word on the client's address is taken.
    trusted_proxies: Vec<String>,
    /// Password files are relative to this directory.
    #[serde(skip)]
    pub(super) relative_to: PathBuf,
}

/// The treatment of records whose repository was removed.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Removed {
    #[default]
    Tombstones,
    Gone,
}

/// `[[aggregator.set]]`: what fits all conditions that are given.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SetConfig {
    /// The end of its setSpec.
    spec: String,
    /// Its name for people.
    name: Option<String>,
    repositories: Vec<String>,
    sets: Vec<String>,
    kinds: Vec<String>,
    media_types: Vec<String>,
    hosts: Vec<String>,
}

impl Default for AggregatorConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            listen: SocketAddr::from(([127, 0, 0, 1], 8091)),
            path: "/oai".to_owned(),
            base_url: None,
            name: None,
            admin_emails: Vec::new(),
            descriptions: Vec::new(),
            repository_identifier: None,
            records: true,
            documents: true,
            downloads: true,
            repositories: Vec::new(),
            formats: Vec::new(),
            removed_repositories: Removed::default(),
            by_value: ByValueConfig::default(),
            area: Vec::new(),
            set: Vec::new(),
            pages: PagesConfig::default(),
            flow_control: FlowControlConfig::default(),
            trusted_proxies: Vec::new(),
            relative_to: PathBuf::from("."),
        }
    }
}

impl AggregatorConfig {
    /// Serves the catalog until `stop` is ready.
    pub(crate) async fn serve(
        self,
        holdings: Arc<Holdings>,
        setting: &'static str,
        stop: impl Future<Output = ()>,
    ) -> anyhow::Result<()> {
        self.check()?;
        let server = RepositoryConfig {
            listen: self.listen,
            setting,
            path: self.path.clone(),
            trusted_proxies: self.trusted_proxies.clone(),
            flow_control: self.flow_control.clone(),
        };
        let base_url = |address: SocketAddr| match &self.base_url {
            Some(base_url) => base_url.clone(),
            None => format!("http://{address}{}", self.path),
        };
        let make = |address| {
            let settings = self.settings(base_url(address))?;
            let secret = token_secret(holdings.directory())?;
            let aggregator = Aggregator::new(Arc::clone(&holdings), settings, &secret)?;
            Ok(Arc::new(aggregator) as Arc<dyn Repository>)
        };
        let ready = |address| {
            eprintln!(
                "garner is ready: what the catalog holds, at {}?verb=Identify",
                base_url(address)
            );
        };
        server::run_repository(server, make, ready, stop).await
    }

    /// Finds mistakes before anything runs.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
        if !self.path.starts_with('/')
            || self.path.len() < 2
            || self.path.ends_with('/')
            || !self.path.bytes().all(is_plain)
        {
            bail!(
                "aggregator.path `{}` must begin with a slash, have a name after it and end without one, such as /oai",
                self.path
            );
        }
        if let Some(url) = &self.base_url
            && !(url.starts_with("http://") || url.starts_with("https://"))
        {
            bail!("aggregator.base_url `{url}` must begin with http:// or https://");
        }
        self.settings(String::new()).map(drop)
    }

    fn settings(&self, base_url: String) -> anyhow::Result<AggregatorSettings> {
        let set = |set: &SetConfig| {
            let spec = SetSpec::parse(&format!("query:{}", set.spec));
            Ok(QuerySet {
                spec: spec.with_context(|| {
                    format!(
                        "the set `{}` of [[aggregator.set]] has no legal spec; use letters, digits, - and .",
                        set.spec
                    )
                })?,
                name: set.name.clone().unwrap_or_else(|| set.spec.clone()),
                repositories: set.repositories.clone(),
                sets: set.sets.clone(),
                kinds: set.kinds.clone(),
                media_types: set.media_types.clone(),
                hosts: set.hosts.clone(),
            })
        };
        let pages = &self.pages;
        Ok(AggregatorSettings {
            name: self.name.clone().unwrap_or_else(|| shown::NAME.to_owned()),
            admin_emails: match self.admin_emails.is_empty() {
                true => vec!["webmaster@example.org".to_owned()],
                false => self.admin_emails.clone(),
            },
            descriptions: self.descriptions.clone(),
            repository_identifier: match &self.repository_identifier {
                Some(identifier) => identifier.clone(),
                None => host_of(&base_url),
            },
            base_url,
            records: self.records,
            documents: self.documents,
            downloads: self.downloads,
            repositories: self.repositories.clone(),
            formats: self.formats.clone(),
            removed: match self.removed_repositories {
                Removed::Tombstones => RemovedRepositories::Tombstones,
                Removed::Gone => RemovedRepositories::Gone,
            },
            by_value: self.by_value.clone(),
            areas: self.area.clone(),
            relative_to: self.relative_to.clone(),
            sets: self.set.iter().map(set).collect::<anyhow::Result<_>>()?,
            limits: PageLimits {
                bytes: pages.bytes.0,
                identifiers: pages.identifiers,
                records: pages.records,
                seconds: pages.seconds,
                lookups: pages.lookups,
                ..PageLimits::default()
            },
        })
    }
}

/// The host of a URL, without a port.
fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    match host.is_empty() {
        true => "localhost".to_owned(),
        false => host.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<(), String> {
        let config: AggregatorConfig = toml::from_str(text).unwrap();
        config.check().map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(checked(""), Ok(()));
        for (text, part) in [
            ("path = 'oai'", "must begin with a slash"),
            ("path = '/'", "must begin with a slash"),
            ("base_url = 'a.example'", "http://"),
            ("[[set]]\nspec = 'a b'\nkinds = ['paper']", "`a b`"),
        ] {
            let error = checked(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn the_host_of_a_base_url_names_documents() {
        for (url, host) in [
            ("http://a.example:8080/oai", "a.example"),
            ("https://a.example", "a.example"),
            ("http://[::1]:80/oai", "::1"),
            ("", "localhost"),
        ] {
            assert_eq!(host_of(url), host);
        }
    }
}
