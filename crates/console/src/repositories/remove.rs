//! `/repositories/{id}/remove`: the removal of a repository, and the question before it.

use askama::Template;
use axum::extract::State;
use catalog::{Job, JobQuery, JobState, RepositoryCounts, ScheduleQuery};
use operations::Code;
use operations::repositories::{self, Repository};
use serde::Deserialize;

use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path};
use crate::filters;
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
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
    /// Why files cannot be removed from here.
    files_stay: Option<String>,
    failure: Option<String>,
    errors: Errors,
}

impl Removal {
    async fn new(state: &ConsoleState, who: Who, id: i64) -> Result<Self, Problem> {
        let repository = repositories::show(state.context(), id).await?;
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
        let files = repositories::check_files(state.context(), id).await;
        Ok(Self {
            who,
            counts: catalog.repository_counts(id).await?,
            schedules,
            waiting: waiting.len(),
            running: running.into_iter().next(),
            files_stay: files.err().map(|refusal| refusal.message()),
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
    match repositories::remove(state.context(), &who.actor(), id, wanted.files).await {
        Ok(removed) => {
            let files = match removed.files {
                Some(files) => format!("{files} files are removed too."),
                None => format!("Its files stay in {}.", removed.directory),
            };
            let message = format!("{} is removed. {files}", removed.title());
            Ok(done("/repositories", message))
        }
        Err(refusal) if matches!(refusal.code, Code::Busy | Code::Conflict) => {
            let mut answer = Removal::new(&state, who, id).await?;
            answer.failure = Some(refusal.message());
            form_again(&answer)
        }
        Err(refusal) => Err(refusal.into()),
    }
}
