//! Repositories: adding, refreshing, correcting and removing those that are harvested.

mod ask;
mod check;
mod entities;
mod find;
mod keeping;
mod pasted;
pub mod quiet;
mod tags;
mod well_known;

use std::collections::HashMap;
use std::path::PathBuf;

use catalog::{Error, Health, RepositoryListQuery, RepositorySort, Role};
use flows::SelfDescription;
use serde::Deserialize;
use utoipa::IntoParams;

pub use self::ask::{TOO_SLOW, ask, refuse};
pub use self::check::{CheckedRule, RepositoryCheck, check};
pub use self::entities::{
    Format, Identity, Inspection, LastHarvest, Preview, RecentHarvest, RemovedRepository,
    Repository, Set,
};
pub use self::find::{FoundRepository, find};
pub use self::keeping::{MovedRecords, RecordsOrder, move_records};
pub use self::pasted::{PastedLine, pasted};
pub use self::tags::{Tag, TagChange, change_tags, read_tags, tags};
pub use self::well_known::{WellKnown, well_known};
use crate::{Actor, Code, Context, Listed, Paging, Refusal, SortKey};

/// A selection of repositories.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RepositoryQuery {
    /// A text in the name, base URL or identifier.
    pub text: Option<String>,
    /// The state by the last harvest: `ok`, `running`, `incomplete`, `failing` or `never`.
    pub health: Option<String>,
    /// A tag that they have.
    pub tag: Option<String>,
    /// Whether the last harvests of each are told, up to 12.
    pub recent: Option<bool>,
    /// `name`, `base_url`, `records`, `health`, `last_harvest`, `next_run` or `added`.
    pub sort: Option<String>,
    /// Whether the largest come first.
    pub descending: Option<bool>,
    /// Rows to skip.
    pub offset: Option<u64>,
    /// At most this many rows; up to 1000 by the API.
    pub limit: Option<u64>,
}

/// A selection of the sets of a repository.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SetQuery {
    /// A text in the `setSpec` or name.
    pub text: Option<String>,
    /// Sets to skip, in the order that people expect: `s2` before `s10`. With it, `total` counts the sets with the text.
    pub offset: Option<u64>,
    /// Whether the records of each set are counted, up to 10,000.
    pub count: Option<bool>,
    /// At most this many sets; up to 1000 by the API.
    pub limit: Option<u64>,
}

/// A repository that was added, or was known before and is refreshed.
#[derive(Debug)]
pub struct AddedRepository {
    /// The repository.
    pub repository: Repository,
    /// Whether it was not known before.
    pub is_new: bool,
}

/// Repositories; all of them without a limit.
pub async fn list(
    context: &Context,
    query: &RepositoryQuery,
) -> Result<Listed<Repository>, Refusal> {
    let with_recent = query.recent == Some(true);
    let query = RepositoryListQuery {
        tag: query.tag.clone().filter(|tag| !tag.is_empty()),
        text: query.text.clone().filter(|text| !text.trim().is_empty()),
        health: word("health", query.health.as_deref(), parse_health)?,
        sort: word("sort", query.sort.as_deref(), parse_sort)?.unwrap_or_default(),
        descending: query.descending.unwrap_or(false),
        offset: query.offset.unwrap_or(0),
        limit: query.limit.unwrap_or(u64::MAX),
    };
    let (total, rows) = context.catalog().repository_overview(&query).await?;
    let end = query.offset.saturating_add(rows.len() as u64);
    let next = (end < total && !rows.is_empty()).then_some(end);
    let repository = |row| Repository::new(context, row);
    let mut items: Vec<_> = rows.into_iter().map(repository).collect();
    if with_recent {
        add_recent(context, &mut items).await?;
    }
    Ok(Listed {
        items,
        next: next.and_then(|next| i64::try_from(next).ok()),
        total: Some(total),
        ..Listed::none()
    })
}

async fn add_recent(context: &Context, repositories: &mut [Repository]) -> Result<(), Refusal> {
    let ids: Vec<_> = repositories.iter().map(|known| known.id).collect();
    let mut harvests = HashMap::<i64, Vec<RecentHarvest>>::new();
    for harvest in context.catalog().recent_harvests(&ids, RECENT).await? {
        let of = harvests.entry(harvest.repository).or_default();
        of.push(harvest.into());
    }
    for repository in repositories {
        repository.recent = Some(harvests.remove(&repository.id).unwrap_or_default());
    }
    Ok(())
}

/// The repository with the number `id`.
pub async fn show(context: &Context, id: i64) -> Result<Repository, Refusal> {
    let query = RepositoryListQuery {
        text: Some(read(context, id).await?.base_url),
        limit: u64::MAX,
        ..RepositoryListQuery::default()
    };
    let (_, rows) = context.catalog().repository_overview(&query).await?;
    let row = rows.into_iter().find(|row| row.repository.id == id);
    let row = row.ok_or(Error::UnknownRepository { id })?;
    Ok(Repository::new(context, row))
}

/// The metadata formats that a repository offers, and those that records are held in.
pub async fn formats(context: &Context, id: i64) -> Result<Vec<Format>, Refusal> {
    read(context, id).await?;
    let catalog = context.catalog();
    let (offered, held) = (catalog.formats(id).await?, catalog.format_counts(id).await?);
    Ok(Format::merge(offered, held))
}

/// The sets of a repository; `total` counts all of them, whatever is asked for.
pub async fn sets(context: &Context, id: i64, query: &SetQuery) -> Result<Listed<Set>, Refusal> {
    read(context, id).await?;
    let (catalog, text) = (context.catalog(), query.text.as_deref());
    let mut listed = match query.offset {
        Some(_) => {
            let mut sets: Vec<Set> = Vec::new();
            for set in catalog.some_sets(id, text, u64::MAX).await? {
                sets.push(set.into());
            }
            sets.sort_by_cached_key(|set| SortKey::from(set.set_spec.as_str()));
            let paging = Paging {
                offset: query.offset,
                limit: query.limit,
                ..Paging::default()
            };
            paging.page(sets, &[])?
        }
        None => {
            let limit = query.limit.unwrap_or(u64::MAX);
            let sets = catalog.some_sets(id, text, limit).await?;
            Listed {
                items: sets.into_iter().map(Into::into).collect(),
                total: Some(catalog.repository_counts(id).await?.sets),
                ..Listed::none()
            }
        }
    };
    if query.count == Some(true) {
        let specs: Vec<_> = listed
            .items
            .iter()
            .map(|set| set.set_spec.as_str())
            .collect();
        let counts = catalog.count_set_records(id, &specs, MAX_COUNT).await?;
        for (set, count) in listed.items.iter_mut().zip(counts) {
            set.records = Some(count);
        }
    }
    Ok(listed)
}

/// The last harvests of each repository that are told.
const RECENT: u64 = 12;

/// The records of a set are counted up to so many.
const MAX_COUNT: u64 = 10_000;

/// A repository by its own answers; nothing is kept.
pub async fn preview(
    context: &Context,
    actor: &Actor,
    description: &SelfDescription,
) -> Result<Preview, Refusal> {
    actor.require(Role::Operator)?;
    let known = context.catalog().repository_at(description.base_url());
    let known = known.await?.map(|known| known.id);
    Ok(Preview::new(description, known))
}

/// Adds a repository by its own answers, or refreshes one that is known. The files of a new one go into
/// `base_directory`; by default its name is made of the base URL.
pub async fn add(
    context: &Context,
    actor: &Actor,
    description: SelfDescription,
    base_directory: Option<PathBuf>,
) -> Result<AddedRepository, Refusal> {
    actor.require(Role::Operator)?;
    let known = context.catalog().repository_at(description.base_url());
    let is_new = known.await?.is_none();
    let action = match is_new {
        true => "repository.add",
        false => "repository.identify",
    };
    let kept = context
        .blocking(move |holdings| description.keep(holdings, base_directory.as_deref()))
        .await;
    let kept = kept.map_err(|refusal| match refusal.code {
        Code::Internal => Refusal::conflict(refusal.message()),
        _ => refusal,
    })?;
    context.audit(actor, action, subject(&kept), None).await;
    Ok(AddedRepository {
        repository: show(context, kept.id).await?,
        is_new,
    })
}

/// Corrects the base URL of a repository, by its answers there. Refused while it is harvested, and if another
/// repository has that base URL.
pub async fn change_base_url(
    context: &Context,
    actor: &Actor,
    id: i64,
    description: SelfDescription,
) -> Result<Repository, Refusal> {
    actor.require(Role::Operator)?;
    let before = read(context, id).await?;
    let base_url = description.base_url().to_owned();
    let changed = context.catalog().change_base_url(id, &base_url).await;
    changed.map_err(|error| match error {
        Error::UnknownRepository { .. } => Refusal::from(error),
        Error::NameTaken { .. } => Refusal::conflict(TAKEN).at("base_url"),
        error => Refusal::from(error).at("base_url"),
    })?;
    let kept = context
        .blocking(move |holdings| description.keep(holdings, None))
        .await?;
    let details = Some(format!("from {} to {base_url}", before.base_url));
    context
        .audit(actor, "repository.change", subject(&kept), details)
        .await;
    show(context, id).await
}

/// Removes a repository with its records, history and schedules, and its files too if `files`. Refused while it is
/// harvested.
pub async fn remove(
    context: &Context,
    actor: &Actor,
    id: i64,
    files: bool,
) -> Result<RemovedRepository, Refusal> {
    actor.require(Role::Operator)?;
    let repository = read(context, id).await?;
    let gone = repository.clone();
    let removed = context
        .blocking(move |holdings| flows::remove_repository(holdings, &gone, files))
        .await;
    let (details, removed) = match removed {
        Ok(removed) => {
            let files = match removed.files {
                Some(files) => format!("{files} files"),
                None => "its files stay".to_owned(),
            };
            let counts = removed.counts;
            let (records, harvests) = (counts.records, counts.harvests);
            let details = format!("{records} records, {harvests} harvests, {files}");
            (details, Ok(RemovedRepository::new(&repository, removed)))
        }
        Err(refusal) if refusal.code != Code::Internal => return Err(refusal),
        // The files go last: the repository is still there unless only they are in the way.
        Err(refusal) if context.catalog().repository(id).await?.is_some() => {
            return Err(Refusal::conflict(refusal.message()));
        }
        Err(refusal) => {
            let message = refusal.message();
            (message.clone(), Err(Refusal::new(Code::FilesLeft, message)))
        }
    };
    context
        .audit(
            actor,
            "repository.remove",
            subject(&repository),
            Some(details),
        )
        .await;
    removed
}

/// Refuses if the files of a repository cannot be removed with it.
pub async fn check_files(context: &Context, id: i64) -> Result<(), Refusal> {
    let repository = read(context, id).await?;
    context
        .blocking(move |holdings| flows::check_files(holdings, &repository))
        .await
}

/// The word for a state by the last harvest.
pub fn health_name(health: Health) -> &'static str {
    match health {
        Health::Failing => "failing",
        Health::Incomplete => "incomplete",
        Health::Never => "never",
        Health::Running => "running",
        Health::Ok => "ok",
    }
}

async fn read(context: &Context, id: i64) -> Result<catalog::Repository, Refusal> {
    let repository = context.catalog().repository(id).await?;
    Ok(repository.ok_or(Error::UnknownRepository { id })?)
}

fn word<T>(
    field: &'static str,
    word: Option<&str>,
    parse: fn(&str) -> Option<T>,
) -> Result<Option<T>, Refusal> {
    let unknown = |word| Refusal::invalid(field, format!("there is no `{word}`"));
    word.map(|word| parse(word).ok_or_else(|| unknown(word)))
        .transpose()
}

/// The state by the last harvest with this word.
pub fn parse_health(name: &str) -> Option<Health> {
    let all = [
        Health::Ok,
        Health::Running,
        Health::Incomplete,
        Health::Failing,
        Health::Never,
    ];
    all.into_iter().find(|health| health_name(*health) == name)
}

/// The order of a list with this word.
pub fn parse_sort(name: &str) -> Option<RepositorySort> {
    Some(match name {
        "name" => RepositorySort::Name,
        "base_url" => RepositorySort::BaseUrl,
        "records" => RepositorySort::Records,
        "health" => RepositorySort::Health,
        "last_harvest" => RepositorySort::LastHarvest,
        "next_run" => RepositorySort::NextRun,
        "added" => RepositorySort::Added,
        _ => return None,
    })
}

/// Its name in the audit trail.
fn subject(repository: &catalog::Repository) -> String {
    format!("repository {} ({})", repository.id, repository.base_url)
}

const TAKEN: &str = "another repository of this catalog answers there already";
