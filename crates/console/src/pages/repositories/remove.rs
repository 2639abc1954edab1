//! `/repositories/{id}/remove`: what would be lost, and the removal.

use askama::Template;
use axum::extract::State;
use catalog::{Job, JobQuery, JobState, Repository, RepositoryCounts, ScheduleQuery};
use serde::Deserialize;

use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path};
use crate::filters;
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::repositories::{called, remove as remove_repository, repository};
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

#[derive(Deserialize)]
pub(crate) struct Wanted {
    /// Whether the files go too.
    #[serde(default)]
    files: bool,
    /// Whether what is lost was read.
    #[serde(default)]
    sure: bool,
}

#[derive(Template)]
#[template(path = "repository_remove.html")]
struct Removal {
    who: Who,
    repository: Repository,
    counts: RepositoryCounts,
    schedules: usize,
    waiting: usize,
    running: Option<Job>,
    directory: String,
    /// Why files cannot be removed from here.
    files_stay: Option<String>,
    failure: Option<String>,
    errors: Errors,
}

impl Removal {
    async fn new(state: &ConsoleState, who: Who, id: i64) -> Result<Self, Problem> {
        let repository = repository(state, id).await?;
        let catalog = state.catalog();
        let query = ScheduleQuery {
            repository: Some(id),
            ..ScheduleQuery::default()
        };
        let schedules = catalog.schedules(&query).await?.len();
        let query = JobQuery {
            states: vec![JobState::Running, JobState::Scheduled],
            repository: Some(id),
            ..JobQuery::default()
        };
        let jobs = catalog.jobs(&query).await?;
        let (running, waiting): (Vec<_>, Vec<_>) = jobs
            .into_iter()
            .partition(|job| job.state == JobState::Running);
        let directory = state.holdings().base_directory(&repository);
        let looked_at = repository.clone();
        let files = state.blocking(move |holdings| jobs::check_files(holdings, &looked_at));
        Ok(Self {
            who,
            counts: catalog.repository_counts(id).await?,
            schedules,
            waiting: waiting.len(),
            running: running.into_iter().next(),
            directory: directory.display().to_string(),
            files_stay: files.await?.err().map(|error| jobs::message(&error)),
            repository,
            failure: None,
            errors: Errors::default(),
        })
    }
}

pub(crate) async fn confirm(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    page(&Removal::new(&state, who, id).await?)
}

pub(crate) async fn remove(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(wanted): Form<Wanted>,
) -> Answer {
    if !wanted.sure {
        let mut answer = Removal::new(&state, who, id).await?;
        let message = "Tick this box if the repository is to be removed.";
        answer.errors.add("sure", message);
        return form_again(&answer);
    }
    match remove_repository(&state, &who, id, wanted.files).await {
        Ok((repository, removed)) => {
            let files = match removed.files {
                Some(files) => format!("{files} files are removed too."),
                None => format!("Its files stay in {}.", removed.directory.display()),
            };
            let message = format!("{} is removed. {files}", called(&repository));
            Ok(done("/repositories", message))
        }
        Err(problem) if matches!(problem.code, "busy" | "conflict") => {
            let mut answer = Removal::new(&state, who, id).await?;
            answer.failure = Some(problem.message);
            form_again(&answer)
        }
        Err(problem) => Err(problem),
    }
}
