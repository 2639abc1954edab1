//! Repositories: what pages and API do alike. Every change ends up in the audit trail.

use axum::http::StatusCode;
use catalog::{Health, Repository, RepositoryListQuery, RepositoryOverview, RepositorySort};
use jobs::{Removed, SelfDescription};

use crate::plain_words::plain_words;
use crate::problem::Problem;
use crate::question::question;
use crate::state::ConsoleState;
use crate::who::Who;

/// The repository with this number.
pub(crate) async fn repository(state: &ConsoleState, id: i64) -> Result<Repository, Problem> {
    let repository = state.catalog().repository(id).await?;
    repository.ok_or_else(|| Problem::from(catalog::Error::UnknownRepository { id }))
}

/// The same with how it fares.
pub(crate) async fn overview(state: &ConsoleState, id: i64) -> Result<RepositoryOverview, Problem> {
    let repository = repository(state, id).await?;
    let query = RepositoryListQuery {
        text: Some(repository.base_url),
        limit: u64::MAX,
        ..RepositoryListQuery::default()
    };
    let (_, found) = state.catalog().repository_overview(&query).await?;
    let mut found = found.into_iter();
    let overview = found.find(|overview| overview.repository.id == id);
    overview.ok_or_else(|| Problem::from(catalog::Error::UnknownRepository { id }))
}

/// Asks a repository about itself. What is wrong with it is told in plain words.
pub(crate) async fn ask(state: &ConsoleState, base_url: &str) -> Result<SelfDescription, Problem> {
    let base_url = base_url.trim().to_owned();
    let asked = question(state, move |client| {
        jobs::introduce_briefly(&client.repository(&base_url)?)
    });
    asked
        .await?
        .map_err(|error| no_repository(plain_words(&error)))
}

/// Adds a repository by what it said of itself, or brings up to date what is known of it.
pub(crate) async fn keep(
    state: &ConsoleState,
    who: &Who,
    description: SelfDescription,
) -> Result<Repository, Problem> {
    let known = state
        .catalog()
        .repository_at(description.base_url())
        .await?;
    let action = match known {
        Some(_) => "repository.identify",
        None => "repository.add",
    };
    let kept = state.blocking(move |holdings| description.keep(holdings, None));
    let repository = kept.await??;
    state.audit(who, action, named(&repository), None).await;
    Ok(repository)
}

/// Corrects where a repository answers, by what it says there of itself.
pub(crate) async fn change_base_url(
    state: &ConsoleState,
    who: &Who,
    id: i64,
    description: SelfDescription,
) -> Result<Repository, Problem> {
    let before = repository(state, id).await?;
    let base_url = description.base_url().to_owned();
    state.catalog().change_base_url(id, &base_url).await?;
    let kept = state.blocking(move |holdings| description.keep(holdings, None));
    let repository = kept.await??;
    let details = Some(format!("from {} to {base_url}", before.base_url));
    state
        .audit(who, "repository.change", named(&repository), details)
        .await;
    Ok(repository)
}

/// Removes a repository, and its files if that is wanted.
pub(crate) async fn remove(
    state: &ConsoleState,
    who: &Who,
    id: i64,
    files: bool,
) -> Result<(Repository, Removed), Problem> {
    let repository = repository(state, id).await?;
    let gone = repository.clone();
    let removed = state.blocking(move |holdings| jobs::remove_repository(holdings, &gone, files));
    let removed = match removed.await? {
        Ok(removed) => removed,
        Err(error) if error.is::<catalog::Error>() => return Err(error.into()),
        Err(error) => return Err(not_removed(state, who, &repository, &error).await?),
    };
    let details = format!(
        "{} records, {} harvests, {}",
        removed.counts.records,
        removed.counts.harvests,
        match removed.files {
            Some(files) => format!("{files} files"),
            None => "its files stay".to_owned(),
        }
    );
    let subject = named(&repository);
    state
        .audit(who, "repository.remove", subject, Some(details))
        .await;
    Ok((repository, removed))
}

/// Tells whether a removal that failed has changed nothing, or stopped halfway: the files go last.
async fn not_removed(
    state: &ConsoleState,
    who: &Who,
    repository: &Repository,
    error: &anyhow::Error,
) -> Result<Problem, Problem> {
    let message = jobs::message(error);
    if state.catalog().repository(repository.id).await?.is_some() {
        return Ok(Problem::conflict(message));
    }
    tracing::error!("{message}");
    let details = Some(message.clone());
    state
        .audit(who, "repository.remove", named(repository), details)
        .await;
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    Ok(Problem::new(status, "files_left", message))
}

/// What people call it.
pub(crate) fn called(repository: &Repository) -> &str {
    let name = repository.identity.name.as_deref();
    let name = name.filter(|name| !name.trim().is_empty());
    name.unwrap_or(&repository.base_url)
}

/// The word for how a repository fares.
pub(crate) fn health_name(health: Health) -> &'static str {
    match health {
        Health::Failing => "failing",
        Health::Incomplete => "incomplete",
        Health::Never => "never",
        Health::Running => "running",
        Health::Ok => "ok",
    }
}

/// How a word says that a repository fares.
pub(crate) fn parse_health(name: &str) -> Option<Health> {
    let all = [
        Health::Ok,
        Health::Running,
        Health::Incomplete,
        Health::Failing,
        Health::Never,
    ];
    all.into_iter().find(|health| health_name(*health) == name)
}

/// What a word says that repositories are sorted by.
pub(crate) fn parse_sort(name: &str) -> Option<RepositorySort> {
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

fn no_repository(message: String) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, NO_REPOSITORY, message)
}

/// What the audit trail calls it.
fn named(repository: &Repository) -> String {
    format!("repository {} ({})", repository.id, repository.base_url)
}

/// The code of the problem that a base URL leads to no repository.
pub(crate) const NO_REPOSITORY: &str = "no_repository";
