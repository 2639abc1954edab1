//! Repositories as JSON.

use catalog::{FormatCounts, MetadataFormat, RepositoryCounts, RepositoryOverview};
use flows::{Removed, SelfDescription};
use serde::Serialize;
use utoipa::ToSchema;

use super::{FoundRepository, health_name};
use crate::{Context, Time};

/// The answer of a repository to Identify.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Identity {
    /// `repositoryName`
    pub name: Option<String>,
    /// `protocolVersion`
    pub protocol_version: Option<String>,
    /// `adminEmail`, each of them
    pub admin_emails: Vec<String>,
    /// `earliestDatestamp`
    pub earliest_datestamp: Option<String>,
    /// `deletedRecord`
    pub deleted_record: Option<String>,
    /// `granularity`
    pub granularity: Option<String>,
    /// `repositoryIdentifier` of the oai-identifier description
    pub repository_identifier: Option<String>,
}

/// A repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Repository {
    /// Its number.
    pub id: i64,
    /// Its base URL.
    pub base_url: String,
    /// Its own description.
    #[serde(flatten)]
    pub identity: Identity,
    /// The directory of its files, relative to the data directory.
    pub base_directory: String,
    /// The directory of its files.
    pub directory: String,
    /// When it was added.
    pub added: Time,
    /// When it was last identified.
    pub identified: Time,
    /// Records that are not deleted, in all formats.
    pub records: u64,
    /// Deleted records.
    pub deleted: u64,
    /// Its state by its last harvest: `ok`, `running`, `incomplete`, `failing` or `never`.
    pub health: &'static str,
    /// Its last harvest.
    pub last_harvest: Option<LastHarvest>,
    /// The number of its schedules.
    pub schedules: u64,
    /// When it is harvested next.
    pub next_run: Option<Time>,
    /// The words by which people group it.
    pub tags: Vec<String>,
    /// Its last harvests, the oldest first, in a list that was asked for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recent: Option<Vec<RecentHarvest>>,
}

/// One of the last harvests of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RecentHarvest {
    /// Its number in the history.
    pub id: i64,
    /// Its state: `running`, `complete`, `incomplete`, `failed` or `cancelled`.
    pub state: String,
    /// When it began.
    pub started: Time,
    /// Records that were new, updated or deleted.
    pub changes: u64,
}

/// The last harvest of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LastHarvest {
    /// Its number in the history.
    pub id: i64,
    /// When it began.
    pub started: Time,
    /// When it ended.
    pub ended: Option<Time>,
    /// Why it failed or is incomplete.
    pub reason: Option<String>,
}

/// A metadata format of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Format {
    /// Its `metadataPrefix`.
    pub metadata_prefix: String,
    /// Its `schema`; empty if it is not offered.
    pub schema: String,
    /// Its `metadataNamespace`; empty if it is not offered.
    pub namespace: String,
    /// Whether the repository offers it; others are held from earlier harvests.
    pub offered: bool,
    /// Records in it that are held and not deleted.
    pub records: u64,
    /// Deleted records in it.
    pub deleted: u64,
}

/// A set of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Set {
    /// Its `setSpec`.
    pub set_spec: String,
    /// Its `setName`.
    pub name: Option<String>,
    /// Whether the repository lists it; others are named by records alone.
    pub listed: bool,
    /// Its records, counted up to 10,000, in a list that was asked to count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
}

/// All answers of a repository about itself; nothing is kept.
#[derive(Debug, Serialize, ToSchema)]
pub struct Inspection {
    /// Its base URL.
    pub base_url: String,
    /// Whether the base URL is not the address that was asked for.
    pub is_guessed: bool,
    /// Its own description.
    #[serde(flatten)]
    pub identity: Identity,
    /// Its metadata formats; absent if it cannot tell.
    pub formats: Option<Vec<Format>>,
    /// Its sets; absent if it cannot tell.
    pub sets: Option<Vec<Set>>,
    /// Protocol problems that were met.
    pub quirks: Vec<String>,
}

/// The answers of a repository that is not kept yet.
#[derive(Debug, Serialize, ToSchema)]
pub struct Preview {
    /// Its base URL.
    pub base_url: String,
    /// Its own description.
    #[serde(flatten)]
    pub identity: Identity,
    /// Its metadata formats; absent if it cannot tell.
    pub formats: Option<Vec<Format>>,
    /// The number of its sets; absent if it cannot tell in time.
    pub sets: Option<u64>,
    /// Its number, if it is known already.
    pub known: Option<i64>,
}

/// A repository that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RemovedRepository {
    /// Its number.
    pub id: i64,
    /// Its base URL.
    pub base_url: String,
    /// Its name.
    pub name: Option<String>,
    /// Records that were not deleted.
    pub records: u64,
    /// Deleted records.
    pub deleted: u64,
    /// The number of its sets.
    pub sets: u64,
    /// The number of its harvests.
    pub harvests: u64,
    /// The number of removed files; absent if they stay.
    pub files: Option<u64>,
    /// The directory of its files.
    pub directory: String,
}

impl Repository {
    /// The name for people: its own, or its base URL.
    pub fn title(&self) -> &str {
        title(self.identity.name.as_deref(), &self.base_url)
    }

    pub(super) fn new(context: &Context, row: RepositoryOverview) -> Self {
        let repository = row.repository;
        let directory = context.holdings().base_directory(&repository);
        Self {
            id: repository.id,
            base_url: repository.base_url,
            identity: repository.identity.into(),
            base_directory: repository.base_directory,
            directory: directory.to_string_lossy().into_owned(),
            added: Time(repository.added),
            identified: Time(repository.identified),
            records: row.records,
            deleted: row.deleted,
            health: health_name(row.health),
            last_harvest: row.last.map(Into::into),
            schedules: row.schedules,
            next_run: row.next_run.map(Time),
            tags: row.tags,
            recent: None,
        }
    }
}

impl From<catalog::RecentHarvest> for RecentHarvest {
    fn from(harvest: catalog::RecentHarvest) -> Self {
        Self {
            id: harvest.id,
            state: harvest.state.name().to_owned(),
            started: Time(harvest.started),
            changes: harvest.changes,
        }
    }
}

impl RemovedRepository {
    /// The name for people: its own, or its base URL.
    pub fn title(&self) -> &str {
        title(self.name.as_deref(), &self.base_url)
    }

    pub(super) fn new(repository: &catalog::Repository, removed: Removed) -> Self {
        let RepositoryCounts {
            records,
            deleted,
            sets,
            harvests,
            ..
        } = removed.counts;
        Self {
            id: repository.id,
            base_url: repository.base_url.clone(),
            name: repository.identity.name.clone(),
            records,
            deleted,
            sets,
            harvests,
            files: removed.files,
            directory: removed.directory.to_string_lossy().into_owned(),
        }
    }
}

impl Inspection {
    /// The answers of a repository that was found.
    pub fn new(found: &FoundRepository) -> Self {
        let description = &found.description;
        let formats = description.formats();
        let set = |(set_spec, name): &(String, Option<String>)| Set {
            set_spec: set_spec.clone(),
            name: name.clone(),
            listed: true,
            records: None,
        };
        let quirks = description.quirks().iter();
        Self {
            base_url: description.base_url().to_owned(),
            is_guessed: found.is_guessed,
            identity: description.identity().clone().into(),
            formats: formats.map(|formats| Format::merge(formats.to_vec(), Vec::new())),
            sets: description
                .sets()
                .map(|sets| sets.iter().map(set).collect()),
            quirks: quirks.map(|(quirk, _)| quirk.to_string()).collect(),
        }
    }
}

impl Preview {
    pub(super) fn new(description: &SelfDescription, known: Option<i64>) -> Self {
        let formats = description.formats();
        Self {
            base_url: description.base_url().to_owned(),
            identity: description.identity().clone().into(),
            formats: formats.map(|formats| Format::merge(formats.to_vec(), Vec::new())),
            sets: description.sets().map(|sets| sets.len() as u64),
            known,
        }
    }
}

impl Format {
    /// Whether records in it are held.
    pub fn is_held(&self) -> bool {
        self.records > 0 || self.deleted > 0
    }

    /// The formats that are offered, with the counts of those that are held; then those that are held alone.
    pub(super) fn merge(offered: Vec<MetadataFormat>, held: Vec<FormatCounts>) -> Vec<Self> {
        let mut formats: Vec<_> = offered
            .into_iter()
            .map(|format| Self {
                metadata_prefix: format.metadata_prefix,
                schema: format.schema,
                namespace: format.namespace,
                offered: true,
                records: 0,
                deleted: 0,
            })
            .collect();
        for counts in held {
            let is_it = |format: &&mut Self| format.metadata_prefix == counts.metadata_prefix;
            match formats.iter_mut().find(is_it) {
                Some(format) => {
                    format.records = counts.records;
                    format.deleted = counts.deleted;
                }
                None => formats.push(Self {
                    metadata_prefix: counts.metadata_prefix,
                    schema: String::new(),
                    namespace: String::new(),
                    offered: false,
                    records: counts.records,
                    deleted: counts.deleted,
                }),
            }
        }
        formats
    }
}

impl From<catalog::Identity> for Identity {
    fn from(identity: catalog::Identity) -> Self {
        Self {
            name: identity.name,
            protocol_version: identity.protocol_version,
            admin_emails: identity.admin_emails,
            earliest_datestamp: identity.earliest_datestamp,
            deleted_record: identity.deleted_record,
            granularity: identity.granularity,
            repository_identifier: identity.repository_identifier,
        }
    }
}

impl From<catalog::LastHarvest> for LastHarvest {
    fn from(last: catalog::LastHarvest) -> Self {
        Self {
            id: last.id,
            started: Time(last.started),
            ended: last.ended.map(Time),
            reason: last.reason,
        }
    }
}

impl From<catalog::Set> for Set {
    fn from(set: catalog::Set) -> Self {
        Self {
            set_spec: set.set_spec,
            name: set.name,
            listed: set.listed,
            records: None,
        }
    }
}

fn title<'a>(name: Option<&'a str>, base_url: &'a str) -> &'a str {
    let name = name.map(str::trim).filter(|name| !name.is_empty());
    name.unwrap_or(base_url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_that_are_not_offered_any_more_are_still_held() {
        let offered = ["oai_dc", "marc"].map(|prefix| MetadataFormat {
            metadata_prefix: prefix.to_owned(),
            schema: String::new(),
            namespace: "http://a.example/".to_owned(),
        });
        let held = ["marc", "old"].map(|prefix| FormatCounts {
            metadata_prefix: prefix.to_owned(),
            records: 7,
            deleted: 1,
        });

        let formats = Format::merge(offered.to_vec(), held.to_vec());

        let shown = formats.iter().map(|format| {
            let prefix = format.metadata_prefix.as_str();
            (prefix, format.offered, format.records)
        });
        let expected = [("oai_dc", true, 0), ("marc", true, 7), ("old", false, 7)];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_repository_without_a_name_is_called_by_its_base_url() {
        let url = "http://a.example/oai";
        assert_eq!(title(Some("Maps"), url), "Maps");
        assert_eq!(title(Some("  "), url), url);
        assert_eq!(title(None, url), url);
    }
}
