//! `GET /schedules/new` and `POST /schedules`: a schedule is added. The repository comes first, because it decides on the
//! formats and sets.

use askama::Template;
use axum::extract::State;
use operations::Code;
use operations::schedules::{self, NewSchedule};
use serde::Deserialize;

use super::form::{self, FormPage, RUNS, Runs, harvest_patch, new_form};
use super::{Choices, ScheduleForm};
use crate::dress::{done, form_again, page};
use crate::extract::{Form, Query};
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::repositories::choices::repository_choices;
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Parameters {
    repository: String,
    prefix: String,
    set: String,
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
        let imports = &state.context().settings().imports;
        let refusal = imports.require(&who.actor()).err();
        return page(&ChooseRepository {
            // Others are told by the form why nothing can be imported.
            may_import: refusal.is_none_or(|refusal| refusal.code != Code::Forbidden),
            who,
            repositories: repository_choices(&state, "choose one").await?,
            errors: Errors::default(),
        });
    };
    let choices = Choices::of(&state, repository).await?;
    let usual = choices.formats.iter().find(|format| *format == "oai_dc");
    let usual = usual.or(choices.formats.first()).cloned();
    let mut form = new_form();
    form.set(
        "metadata_prefix",
        match parameters.prefix.as_str() {
            "" => usual.unwrap_or_else(|| "oai_dc".to_owned()),
            prefix => prefix.to_owned(),
        },
    );
    form.set("set", parameters.set);
    let mut answer = form_page(who, choices, form);
    let (patch, _) = harvest_patch(&answer.form);
    let preview = schedules::preview_times(state.context(), &patch, RUNS).await?;
    answer.runs = Runs::of(&preview, state.catalog().now().await?);
    page(&answer)
}

pub(crate) async fn create(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(typed): Form<ScheduleForm>,
) -> Answer {
    let repository = typed.get("repository").parse();
    let repository = repository.map_err(|_| Problem::invalid("repository: choose one"))?;
    let choices = Choices::of(&state, repository).await?;
    let mut answer = form_page(who, choices, typed);
    let (patch, mut mistakes) = harvest_patch(&answer.form);
    let new = NewSchedule {
        repository: Some(repository),
        paused: answer.paused,
        patch,
    };
    let (context, actor) = (state.context(), answer.who.actor());
    let preview = schedules::preview(context, &actor, &new, RUNS).await?;
    answer.runs = Runs::of(&preview, state.catalog().now().await?);
    mistakes.extend(preview.mistakes);
    if mistakes.is_empty() {
        if answer.form.get("do") == "preview" {
            return page(&answer);
        }
        match schedules::add(context, &actor, &new).await {
            Ok(schedule) => {
                let message = format!("{} is scheduled.", schedule.title());
                return Ok(done(&format!("/schedules/{}", schedule.id), message));
            }
            Err(refusal) if refusal.code == Code::Invalid => mistakes = refusal.mistakes,
            Err(refusal) => return Err(refusal.into()),
        }
    }
    answer.errors = form::errors(&answer.form, mistakes);
    form_again(&answer)
}

fn form_page(who: Who, choices: Choices, form: ScheduleForm) -> FormPage {
    FormPage {
        who,
        heading: "Add a schedule".to_owned(),
        action: "/schedules".to_owned(),
        back: "/schedules".to_owned(),
        choices,
        paused: form.get("paused") == "true",
        form,
        version: None,
        runs: Runs::default(),
        conflict: None,
        errors: Errors::default(),
    }
}
