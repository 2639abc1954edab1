//! The list of repositories as somebody looks at it: how they fare, what comes next, searched and sorted.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::database::rows::batch;
use crate::database::{Row, Transaction};
use crate::records::words::fold;
use crate::repositories::entry::{COLUMNS, repository};
use crate::repositories::health::{HEALTH, WITH_LAST, health};
use crate::repositories::tags::tags_of;
use crate::{Catalog, Error, Health, Repository, State};

/// A repository in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RepositoryOverview {
    /// Its row.
    #[serde(flatten)]
    pub repository: Repository,
    /// Records that are not deleted, in all formats.
    pub records: u64,
    /// Records that are.
    pub deleted: u64,
    /// How it fares.
    pub health: Health,
    /// Its last harvest.
    pub last: Option<LastHarvest>,
    /// How many schedules it has.
    pub schedules: u64,
    /// When it is harvested next, in seconds.
    pub next_run: Option<i64>,
    /// The words by which people group it.
    pub tags: Vec<String>,
}

/// The last harvest of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LastHarvest {
    /// The number of its history entry.
    pub id: i64,
    /// How it stands.
    pub state: State,
    /// When it began, in seconds.
    pub started: i64,
    /// When it ended, in seconds.
    pub ended: Option<i64>,
    /// Why it failed or what was left out.
    pub reason: Option<String>,
}

/// The order of a list of repositories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepositorySort {
    /// Its name, or its base URL if it has none.
    #[default]
    Name,
    /// Where it answers.
    BaseUrl,
    /// How many records are held.
    Records,
    /// How it fares, the worst first.
    Health,
    /// When its last harvest began.
    LastHarvest,
    /// When it is harvested next.
    NextRun,
    /// When it was added.
    Added,
}

/// Which repositories are wanted.
#[derive(Debug, Clone)]
pub struct RepositoryListQuery {
    /// Those with this text in their name, base URL or repository identifier; case and accents do not count.
    pub text: Option<String>,
    /// Those that fare so.
    pub health: Option<Health>,
    /// Those with this tag.
    pub tag: Option<String>,
    /// The order. Repositories without such a value come last.
    pub sort: RepositorySort,
    /// Whether the largest come first.
    pub descending: bool,
    /// How many to pass over.
    pub offset: u64,
    /// How many at most.
    pub limit: u64,
}

impl Default for RepositoryListQuery {
    fn default() -> Self {
        Self {
            text: None,
            health: None,
            tag: None,
            sort: RepositorySort::Name,
            descending: false,
            offset: 0,
            limit: 50,
        }
    }
}

/// The values by which repositories are selected and sorted.
struct Line {
    id: i64,
    name: Option<String>,
    base_url: String,
    repository_identifier: Option<String>,
    added: i64,
    records: u64,
    deleted: u64,
    health: Health,
    started: Option<i64>,
    next_run: Option<i64>,
    tags: Vec<String>,
}

impl Catalog {
    /// Repositories with how they fare, and how many there are for the query on all its pages.
    pub async fn repository_overview(
        &self,
        query: &RepositoryListQuery,
    ) -> Result<(u64, Vec<RepositoryOverview>), Error> {
        let mut transaction = self.database.list().await?;
        // Texts are compared here, because the databases fold and order them differently.
        let mut lines = lines(&mut transaction).await?;
        let text = query.text.as_deref().map(|text| fold(text.trim()));
        lines.retain(|line| {
            query.health.is_none_or(|health| line.health == health)
                && query.tag.as_ref().is_none_or(|tag| line.tags.contains(tag))
                && text.as_deref().is_none_or(|text| line.has(text))
        });
        query.sort(&mut lines);
        let number = lines.len() as u64;
        let lines: Vec<_> = lines
            .into_iter()
            .skip(usize::try_from(query.offset).unwrap_or(usize::MAX))
            .take(usize::try_from(query.limit).unwrap_or(usize::MAX))
            .collect();
        Ok((number, overviews(&mut transaction, lines).await?))
    }
}

async fn lines(transaction: &mut Transaction) -> Result<Vec<Line>, Error> {
    let sql = format!(
        "SELECT repository.id, repository.name, repository.base_url, repository.repository_identifier,
             repository.added, repository.tags, history.started, {HEALTH},
             CAST(COALESCE(held.records, 0) AS BIGINT) AS records,
             CAST(COALESCE(held.deleted, 0) AS BIGINT) AS deleted, waiting.next_run
         {WITH_LAST}
         LEFT JOIN (SELECT repository_id, sum(records) AS records, sum(deleted) AS deleted FROM holding
             GROUP BY repository_id) AS held ON held.repository_id = repository.id
         LEFT JOIN (SELECT repository_id, min(run_at) AS next_run FROM job
             WHERE state = 'scheduled' AND kind = 'harvest' GROUP BY repository_id) AS waiting
             ON waiting.repository_id = repository.id"
    );
    let rows = transaction.rows(&sql, []).await?;
    rows.iter()
        .map(|row| {
            Ok(Line {
                id: row.integer("id")?,
                name: row.maybe_text("name")?,
                base_url: row.text("base_url")?,
                repository_identifier: row.maybe_text("repository_identifier")?,
                added: row.integer("added")?,
                records: row.count("records")?,
                deleted: row.count("deleted")?,
                health: health(row)?,
                started: row.maybe_integer("started")?,
                next_run: row.maybe_integer("next_run")?,
                tags: tags_of(&row.text("tags")?),
            })
        })
        .collect()
}

async fn overviews(
    transaction: &mut Transaction,
    lines: Vec<Line>,
) -> Result<Vec<RepositoryOverview>, Error> {
    let ids: Vec<_> = lines.iter().map(|line| (line.id,)).collect();
    let sql = format!("SELECT {COLUMNS} FROM repository WHERE id {{integers($1)}}");
    let mut repositories = HashMap::new();
    for row in transaction.rows(&sql, [batch(&ids)]).await? {
        let repository = repository(&row)?;
        repositories.insert(repository.id, repository);
    }
    let sql = format!(
        "SELECT repository.id AS repository_id, history.id, history.state, history.started, history.ended,
             history.failure_reason,
             (SELECT count(*) FROM schedule WHERE schedule.repository_id = repository.id) AS schedules
         {WITH_LAST} WHERE repository.id {{integers($1)}}"
    );
    let mut beside = HashMap::new();
    for row in transaction.rows(&sql, [batch(&ids)]).await? {
        let of = row.integer("repository_id")?;
        beside.insert(of, (last(&row)?, row.count("schedules")?));
    }
    let overview = |line: Line| {
        let (last, schedules) = beside.remove(&line.id)?;
        Some(RepositoryOverview {
            repository: repositories.remove(&line.id)?,
            records: line.records,
            deleted: line.deleted,
            health: line.health,
            last,
            schedules,
            next_run: line.next_run,
            tags: line.tags,
        })
    };
    Ok(lines.into_iter().filter_map(overview).collect())
}

fn last(row: &Row) -> Result<Option<LastHarvest>, Error> {
    let Some(id) = row.maybe_integer("id")? else {
        return Ok(None);
    };
    Ok(Some(LastHarvest {
        id,
        state: State::parse(&row.text("state")?),
        started: row.integer("started")?,
        ended: row.maybe_integer("ended")?,
        reason: row.maybe_text("failure_reason")?,
    }))
}

impl Line {
    /// Whether a folded text is in what it is called.
    fn has(&self, text: &str) -> bool {
        let called = [
            self.name.as_deref(),
            Some(&self.base_url),
            self.repository_identifier.as_deref(),
        ];
        called
            .into_iter()
            .flatten()
            .chain(self.tags.iter().map(String::as_str))
            .any(|name| fold(name).contains(text))
    }

    fn called(&self) -> String {
        fold(self.name.as_deref().unwrap_or(&self.base_url))
    }
}

impl RepositoryListQuery {
    fn sort(&self, lines: &mut [Line]) {
        // Whatever is sorted by, the same comes in the order of names, and then of age.
        lines.sort_by_cached_key(|line| (line.called(), line.id));
        match self.sort {
            RepositorySort::Name => {
                if self.descending {
                    lines.reverse();
                }
            }
            RepositorySort::BaseUrl => self.by(lines, |line| Some(line.base_url.clone())),
            RepositorySort::Records => self.by(lines, |line| Some(line.records)),
            RepositorySort::Health => self.by(lines, |line| Some(line.health)),
            RepositorySort::LastHarvest => self.by(lines, |line| line.started),
            RepositorySort::NextRun => self.by(lines, |line| line.next_run),
            RepositorySort::Added => self.by(lines, |line| Some(line.added)),
        }
    }

    fn by<T: Ord>(&self, lines: &mut [Line], key: impl Fn(&Line) -> Option<T>) {
        lines.sort_by(|a, b| match (key(a), key(b)) {
            (Some(a), Some(b)) if self.descending => Reverse(a).cmp(&Reverse(b)),
            (Some(a), Some(b)) => a.cmp(&b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        });
    }
}
