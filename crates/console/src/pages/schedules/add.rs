//! `GET /schedules/new` and `POST /schedules`: a schedule is added. The repository comes first, for it says what formats
//! and sets there are.

use askama::Template;
use axum::extract::State;
use jobs::HarvestParameters;
use serde::Deserialize;

use super::form::{FormPage, Runs};
use crate::dress::{done, form_again, page};
use crate::extract::{Form, Query};
use crate::imports::{Refusal, refusal};
use crate::parts::Errors;
use crate::problem::Answer;
use crate::repository_choices::repository_choices;
use crate::schedules::{Choices, ScheduleForm, add, title};
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Parameters {
    repository: String,
    prefix: String,
    set: String,
}

#[derive(Deserialize)]
pub(crate) struct Wanted {
    repository: i64,
    #[serde(default)]
    paused: bool,
    /// `preview` only shows the next runs.
    #[serde(default, rename = "do")]
    action: String,
    #[serde(flatten)]
    form: ScheduleForm,
}

/// The page before the form.
#[derive(Template)]
#[template(path = "schedule_repository.html")]
struct ChooseRepository {
    who: Who,
    repositories: Vec<(String, String)>,
    may_import: bool,
    errors: Errors,
}

pub(crate) async fn form(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    let Ok(repository) = parameters.repository.parse() else {
        let repositories = repository_choices(&state, "choose one").await?;
        return page(&ChooseRepository {
            // Who may, but for the configuration, is told so by the form.
            may_import: refusal(&state, &who) != Some(Refusal::NotAllowed),
            who,
            repositories,
            errors: Errors::default(),
        });
    };
    let choices = Choices::of(&state, repository, &parameters.set).await?;
    let usual = choices.formats.iter().find(|format| *format == "oai_dc");
    let usual = usual.or(choices.formats.first()).cloned();
    let mut answer = form_page(who, choices, ScheduleForm::new(), false);
    answer.form.metadata_prefix = match parameters.prefix.as_str() {
        "" => usual.unwrap_or_else(|| "oai_dc".to_owned()),
        prefix => prefix.to_owned(),
    };
    answer.form.set = parameters.set;
    answer
        .read(&state, HarvestParameters::default(), (None, true))
        .await?;
    answer.errors = Errors::default();
    page(&answer)
}

pub(crate) async fn create(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(wanted): Form<Wanted>,
) -> Answer {
    let choices = Choices::of(&state, wanted.repository, &wanted.form.set).await?;
    let mut answer = form_page(who, choices, wanted.form, wanted.paused);
    let settings = answer
        .read(&state, HarvestParameters::default(), (None, true))
        .await?;
    if !answer.errors.is_empty() {
        return form_again(&answer);
    }
    if wanted.action == "preview" {
        return page(&answer);
    }
    let schedule = add(&state, &answer.who, &settings, wanted.paused).await?;
    let message = format!("{} is scheduled.", title(&schedule));
    Ok(done(&format!("/schedules/{}", schedule.id), message))
}

fn form_page(who: Who, choices: Choices, form: ScheduleForm, paused: bool) -> FormPage {
    FormPage {
        who,
        heading: "Add a schedule".to_owned(),
        action: "/schedules".to_owned(),
        back: "/schedules".to_owned(),
        choices,
        form,
        version: None,
        paused,
        runs: Runs::default(),
        conflict: None,
        errors: Errors::default(),
    }
}
