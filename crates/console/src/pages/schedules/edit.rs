//! `GET /schedules/{id}/edit` and `POST /schedules/{id}`: a schedule is changed. If somebody else was faster, both
//! versions are shown, and what was typed in is not lost.

use axum::extract::State;
use axum::http::StatusCode;
use catalog::{Schedule, Scheduled};
use jobs::HarvestParameters;
use serde::Deserialize;

use super::form::{Conflict, FormPage, Runs};
use super::import;
use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path};
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::schedules::{Choices, ScheduleForm, Timing, change, schedule, title};
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

#[derive(Deserialize)]
pub(crate) struct Wanted {
    version: i64,
    /// `preview` only shows the next runs.
    #[serde(default, rename = "do")]
    action: String,
    #[serde(flatten)]
    form: ScheduleForm,
}

pub(crate) async fn form(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let known = schedule(&state, id).await?;
    if known.settings.what == Scheduled::Import {
        return import::edit(&state, who, &known).await;
    }
    let form = ScheduleForm::of(&known.settings);
    let mut answer = form_page(&state, who, &known, form).await?;
    answer
        .read(&state, parameters(&known), anchor(&known))
        .await?;
    answer.errors = Errors::default();
    page(&answer)
}

pub(crate) async fn save(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(wanted): Form<Wanted>,
) -> Answer {
    let known = schedule(&state, id).await?;
    let mut answer = form_page(&state, who, &known, wanted.form).await?;
    answer.version = Some(wanted.version);
    let settings = answer
        .read(&state, parameters(&known), anchor(&known))
        .await?;
    if !answer.errors.is_empty() {
        return form_again(&answer);
    }
    if wanted.action == "preview" {
        return page(&answer);
    }
    match change(&state, &answer.who, id, wanted.version, &settings).await {
        Ok(schedule) => {
            let message = format!("{} is changed.", title(&schedule));
            Ok(done(&format!("/schedules/{id}"), message))
        }
        Err(problem) if problem.code == "changed" => conflict(&state, answer, id).await,
        Err(problem) => Err(problem),
    }
}

/// The form once more, for the version that is there now.
async fn conflict(state: &ConsoleState, mut answer: FormPage, id: i64) -> Answer {
    let theirs = schedule(state, id).await?;
    answer.version = Some(theirs.version);
    answer.conflict = Some(Conflict {
        fields: ScheduleForm::of(&theirs.settings).beside(&answer.form),
    });
    let mut response = page(&answer)?;
    *response.status_mut() = StatusCode::CONFLICT;
    Ok(response)
}

async fn form_page(
    state: &ConsoleState,
    who: Who,
    known: &Schedule,
    form: ScheduleForm,
) -> Result<FormPage, Problem> {
    Ok(FormPage {
        who,
        heading: format!("Change {}", title(known)),
        action: format!("/schedules/{}", known.id),
        back: format!("/schedules/{}", known.id),
        choices: choices(state, known, &form.set).await?,
        form,
        version: Some(known.version),
        paused: false,
        runs: Runs::default(),
        conflict: None,
        errors: Errors::default(),
    })
}

/// What there is to choose from. What is no harvest has a form of its own.
async fn choices(state: &ConsoleState, known: &Schedule, set: &str) -> Result<Choices, Problem> {
    let repository = known.settings.what.repository();
    let id = known.id;
    let repository = repository.ok_or_else(|| {
        Problem::conflict(format!(
            "schedule {id} imports a crawl by now; look at it again"
        ))
    })?;
    Choices::of(state, repository, set).await
}

fn parameters(known: &Schedule) -> HarvestParameters {
    HarvestParameters::parse(&known.settings.parameters).unwrap_or_default()
}

fn anchor(known: &Schedule) -> (Option<i64>, bool) {
    let is_new = Timing::of(known).is_none_or(|timing| timing.is_new);
    (Some(known.added), is_new)
}
