//! Records: the list, one of them, its file, and its Dublin Core elements.

mod dublin_core;
mod export;
mod file;
mod link;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use catalog::{Order, RecordColumn, RecordEntry, RecordQuery, Repository, Subject};
use flows::Holdings;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

pub use self::dublin_core::{Element, ElementValue, dublin_core};
pub use self::export::{Export, ExportCounts, ExportFormat, export};
pub use self::file::{RecordFile, RecordText};
pub use self::link::web_address;

use crate::mirrored::mirrored;
use crate::sorting::unknown_order;
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
    /// All formats of the item that were found, in a list of items.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub formats: Vec<RecordFormat>,
}

/// A format of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RecordFormat {
    /// Its `metadataPrefix`.
    pub metadata_prefix: String,
    /// The number of the record in it.
    pub record: i64,
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
    /// One row for each item, with all its formats, in place of one for each record.
    pub items: Option<bool>,
    /// `added`, `datestamp` or `title`.
    pub sort: Option<String>,
    /// Whether the largest come first; with `added` they do by default.
    pub descending: Option<bool>,
    /// Records behind this one in the order of `sort`, for the next page.
    pub behind: Option<i64>,
    /// Whether they are counted, up to 10,000.
    pub count: Option<bool>,
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
    let query = filter.query(limit + 1)?;
    let mut listed = match filter.items {
        Some(true) => items(context, query, limit).await?,
        _ => {
            let entries = context.catalog().records(&query).await?;
            with_repositories(context, entries, limit).await?
        }
    };
    if filter.count == Some(true) {
        let query = filter.query(1)?;
        let (total, is_more) = match filter.items {
            Some(true) => context.catalog().count_items(&query, 2 * MAX_COUNT).await?,
            _ => {
                let total = context
                    .catalog()
                    .count_records(&query, MAX_COUNT + 1)
                    .await?;
                (total, total > MAX_COUNT)
            }
        };
        (listed.total, listed.is_more) = (Some(total.min(MAX_COUNT)), is_more || total > MAX_COUNT);
    }
    Ok(listed)
}

/// One record for each item that has any that `query` selects: the newest of these, one with a title first, with the
/// formats of all.
///
/// The formats of an item were harvested one after the other, so that its records are far from each other in the list.
/// A record is left out if another one of its item that comes before it is found as well.
async fn items(
    context: &Context,
    query: RecordQuery,
    limit: u64,
) -> Result<Listed<Record>, Refusal> {
    let catalog = context.catalog();
    let (mut found, mut formats) = (Vec::new(), HashMap::new());
    let mut query = RecordQuery {
        behind: query.behind.or(query.before),
        before: None,
        // Some are left out.
        limit: (limit + 1).saturating_mul(2),
        ..query
    };
    while found.len() as u64 <= limit {
        let batch = catalog.records(&query).await?;
        let is_last = (batch.len() as u64) < query.limit;
        query.behind = batch.last().map(|record| record.id);
        let all = catalog.records_of_items(&batch).await?;
        for all in all.chunks(MAX_AMONG) {
            let matching = RecordQuery {
                by: RecordColumn::Number,
                order: Order::Newest,
                behind: None,
                after: 0,
                among: Some(all.to_vec()),
                limit: all.len() as u64,
                ..query.clone()
            };
            for record in catalog.records(&matching).await? {
                let rank = (record.title.is_some(), record.id);
                let format = RecordFormat {
                    metadata_prefix: record.metadata_prefix,
                    record: record.id,
                };
                let item = (record.repository, record.identifier);
                let known: &mut HashMap<_, _> = formats.entry(item).or_default();
                known.insert(rank, format);
            }
        }
        let is_first = |record: &RecordEntry| {
            let item = (record.repository, record.identifier.clone());
            let known: Option<&HashMap<(bool, i64), _>> = formats.get(&item);
            let first = known.and_then(|known| known.keys().max());
            first.is_none_or(|(_, first)| *first == record.id)
        };
        found.extend(batch.into_iter().filter(is_first));
        if is_last {
            break;
        }
    }
    let mut listed = with_repositories(context, found, limit).await?;
    for record in &mut listed.items {
        let item = (record.repository, record.identifier.clone());
        let known = formats.remove(&item).unwrap_or_default();
        record.formats = known.into_values().collect();
        record
            .formats
            .sort_by(|a, b| a.metadata_prefix.cmp(&b.metadata_prefix));
    }
    Ok(listed)
}

/// A page of records, from one more than it has if there are more.
async fn with_repositories(
    context: &Context,
    entries: Vec<RecordEntry>,
    limit: u64,
) -> Result<Listed<Record>, Refusal> {
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

/// One record.
pub async fn show(context: &Context, id: i64) -> Result<Record, Refusal> {
    let entry = entry(context, id).await?;
    let repository = repository(context, entry.repository).await?;
    Ok(record(context.holdings(), &repository, entry))
}

/// A record that is named by its identifier.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct IdentifierQuery {
    /// The identifier.
    pub identifier: String,
    /// The format, if it is held in several.
    pub metadata_prefix: Option<String>,
    /// The repository, if several have it.
    pub repository: Option<i64>,
}

/// The one record with an identifier.
pub async fn find(context: &Context, query: &IdentifierQuery) -> Result<Record, Refusal> {
    let IdentifierQuery {
        identifier,
        metadata_prefix,
        repository,
    } = query;
    let prefix = metadata_prefix.as_deref();
    let rows = context
        .catalog()
        .with_identifier(identifier, prefix)
        .await?;
    let mut found = Vec::new();
    for row in rows {
        if let Subject::Record { record, .. } = row.subject
            && repository.is_none_or(|repository| repository == record.repository)
        {
            found.push(*record);
        }
    }
    match <[RecordEntry; 1]>::try_from(found) {
        Ok([only]) => show(context, only.id).await,
        Err(found) if found.is_empty() => Err(Refusal::not_found(format!(
            "no record `{identifier}` is held; garner records lists those that are"
        ))),
        Err(found) => {
            let each = found.iter().map(|record| {
                format!(
                    "{} of repository {}",
                    record.metadata_prefix, record.repository
                )
            });
            let each: Vec<_> = each.collect();
            Err(Refusal::invalid(
                "metadata_prefix",
                format!(
                    "`{identifier}` is held {} times, in {}; name the format and the repository",
                    each.len(),
                    each.join(", ")
                ),
            ))
        }
    }
}

/// The file of a record.
pub async fn xml(context: &Context, id: i64) -> Result<RecordFile, Refusal> {
    let entry = entry(context, id).await?;
    let repository = repository(context, entry.repository).await?;
    let file = RecordFile::of(context.holdings(), repository, &entry);
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
    let path = entry
        .file
        .as_deref()
        .and_then(|file| holdings.record_path(repository, &entry.metadata_prefix, file));
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
        path: path.map(FilePath),
        sha256: entry.sha256,
        harvested: Time(entry.harvested),
        validation: entry.validation.into(),
        changed_by: entry.changed_by,
        seen_by: entry.seen_by,
        formats: Vec::new(),
    }
}

impl Record {
    /// Whether more than its header is held.
    pub fn is_held(&self) -> bool {
        !self.deleted && (self.validation != Validation::Skipped || self.file.is_some())
    }
}

impl RecordFilter {
    fn query(&self, limit: u64) -> Result<RecordQuery, Refusal> {
        let by = match self.sort.as_deref() {
            None | Some("added") => RecordColumn::Number,
            Some("datestamp") => RecordColumn::Datestamp,
            Some("title") => RecordColumn::Title,
            Some(name) => {
                return Err(unknown_order(
                    name,
                    ["added", "datestamp", "title"].into_iter(),
                ));
            }
        };
        let is_newest_first = by == RecordColumn::Number && self.after.is_none();
        Ok(RecordQuery {
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
            by,
            behind: self.behind,
            order: match self.descending.unwrap_or(is_newest_first) {
                false => Order::Oldest,
                true => Order::Newest,
            },
            limit,
            ..RecordQuery::default()
        })
    }
}

/// Records are counted up to so many.
const MAX_COUNT: u64 = 10_000;
/// The most numbers in one query.
const MAX_AMONG: usize = 2_000;
