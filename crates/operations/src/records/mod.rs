//! Records: the list, one of them, its file, and its Dublin Core elements.

mod dublin_core;
mod file;
mod link;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use catalog::{Order, RecordEntry, RecordQuery, Repository};
use flows::Holdings;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

pub use self::dublin_core::{Element, ElementValue, dublin_core};
pub use self::file::{RecordFile, RecordText};
pub use self::link::web_address;

use crate::mirrored::mirrored;
use crate::{Context, FilePath, Listed, Refusal, Time, page_limit};

/// A record: the metadata of an item in one format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Record {
    /// Its number.
    pub id: i64,
    /// The number of its repository.
    pub repository: i64,
    /// The base URL of its repository.
    pub base_url: String,
    /// Its format.
    pub metadata_prefix: String,
    /// Its identifier.
    pub identifier: String,
    /// Its title, if its words were read.
    pub title: Option<String>,
    /// Its datestamp; `null` if it cannot be read.
    pub datestamp: Option<Time>,
    /// Whether it is deleted.
    pub deleted: bool,
    /// The sets that it is in.
    pub set_specs: Vec<String>,
    /// Its file, below the directory of its repository and format.
    pub file: Option<String>,
    /// Where its file is on this machine.
    pub path: Option<FilePath>,
    /// The SHA-256 of its file.
    pub sha256: Option<String>,
    /// When it was harvested.
    pub harvested: Time,
    /// The outcome of validation.
    pub validation: Validation,
    /// The harvest that found it to be new or changed.
    pub changed_by: i64,
    /// The harvest that saw it last.
    pub seen_by: i64,
}

mirrored! {
    /// The outcome of validation.
    Validation = Validation {
        /// The record is as it was sent.
        Ok = "ok",
        /// The record was repaired.
        Repaired = "repaired",
        /// The record was skipped; only its header is known.
        Skipped = "skipped",
        /// The filter rejects it now; the record from before stays.
        Filtered = "filtered",
    }
}

/// Which records are wanted.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RecordFilter {
    /// Records with all of these words: `sea coast`, `"a phrase"`, `begin*`.
    pub text: Option<String>,
    /// Records of one repository.
    pub repository: Option<i64>,
    /// Records in one format.
    pub metadata_prefix: Option<String>,
    /// Records of a set or of one below it.
    pub set: Option<String>,
    /// Records with this datestamp or a later one.
    #[param(value_type = Option<String>, format = DateTime)]
    pub since: Option<Time>,
    /// Records with this datestamp or an earlier one.
    #[param(value_type = Option<String>, format = DateTime)]
    pub until: Option<Time>,
    /// Only deleted records, or only others.
    pub deleted: Option<bool>,
    /// Records that this harvest found to be new or changed.
    pub harvest: Option<i64>,
    /// Records with a smaller number, for the next page.
    pub before: Option<i64>,
    /// Records with a larger number, from the oldest on: `0` begins with the first, `next` is for `after` then.
    pub after: Option<i64>,
    /// Records on a page, at most 1000; the default is 100.
    pub limit: Option<u64>,
}

/// Records, the newest first, or with `after` the oldest first.
pub async fn list(context: &Context, filter: &RecordFilter) -> Result<Listed<Record>, Refusal> {
    let limit = page_limit(filter.limit);
    let query = filter.query(limit + 1);
    let entries = context.catalog().records(&query).await?;
    let mut repositories: HashMap<i64, Repository> = HashMap::new();
    let mut records = Vec::with_capacity(entries.len());
    for entry in entries {
        let id = entry.repository;
        let repository = match repositories.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(repository(context, id).await?),
        };
        records.push(record(context.holdings(), repository, entry));
    }
    Ok(Listed::page(records, limit, |record| record.id))
}

/// The number of records that `filter` selects, counted up to `at_most`.
pub async fn count(context: &Context, filter: &RecordFilter, at_most: u64) -> Result<u64, Refusal> {
    let catalog = context.catalog();
    Ok(catalog.count_records(&filter.query(1), at_most).await?)
}

/// One record.
pub async fn show(context: &Context, id: i64) -> Result<Record, Refusal> {
    let entry = entry(context, id).await?;
    let repository = repository(context, entry.repository).await?;
    Ok(record(context.holdings(), &repository, entry))
}

/// The file of a record.
pub async fn xml(context: &Context, id: i64) -> Result<RecordFile, Refusal> {
    let entry = entry(context, id).await?;
    let repository = repository(context, entry.repository).await?;
    let file = RecordFile::of(context.holdings(), &repository, &entry);
    file.ok_or_else(|| Refusal::not_found(format!("record {id} has no file")))
}

async fn entry(context: &Context, id: i64) -> Result<RecordEntry, Refusal> {
    let entry = context.catalog().record(id).await?;
    entry.ok_or_else(|| Refusal::not_found(format!("there is no record {id}")))
}

async fn repository(context: &Context, id: i64) -> Result<Repository, Refusal> {
    let repository = context.catalog().repository(id).await?;
    Ok(repository.ok_or(catalog::Error::UnknownRepository { id })?)
}

fn record(holdings: &Holdings, repository: &Repository, entry: RecordEntry) -> Record {
    let file = RecordFile::of(holdings, repository, &entry);
    Record {
        id: entry.id,
        repository: entry.repository,
        base_url: repository.base_url.clone(),
        metadata_prefix: entry.metadata_prefix,
        identifier: entry.identifier,
        title: entry.title,
        datestamp: entry.datestamp.map(Time),
        deleted: entry.deleted,
        set_specs: entry.set_specs,
        file: entry.file,
        path: file.map(|file| FilePath(file.path())),
        sha256: entry.sha256,
        harvested: Time(entry.harvested),
        validation: entry.validation.into(),
        changed_by: entry.changed_by,
        seen_by: entry.seen_by,
    }
}

impl Record {
    /// Whether more than its header is held.
    pub fn is_held(&self) -> bool {
        !self.deleted && (self.validation != Validation::Skipped || self.file.is_some())
    }
}

impl RecordFilter {
    fn query(&self, limit: u64) -> RecordQuery {
        RecordQuery {
            repository: self.repository,
            metadata_prefix: self.metadata_prefix.clone(),
            set: self.set.clone(),
            since: self.since.map(|time| time.0),
            until: self.until.map(|time| time.0),
            text: self.text.clone(),
            changed_by: self.harvest,
            deleted: self.deleted,
            before: self.before,
            after: self.after.unwrap_or(0),
            order: match self.after {
                Some(_) => Order::Oldest,
                None => Order::Newest,
            },
            limit,
            ..RecordQuery::default()
        }
    }
}
