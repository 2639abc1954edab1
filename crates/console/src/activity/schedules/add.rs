//! `GET /schedules/new` and `POST /schedules`: a schedule is added. The repository decides on the formats and sets that
//! the form offers; before one is chosen they are typed in.

use askama::Template;
use axum::extract::State;
use operations::schedules::{self, NewSchedule};
use operations::{Code, Mistake};
use serde::Deserialize;

use super::form::{self, FormPage, RUNS, Runs, harvest_patch, new_form};
use super::{Choices, ScheduleForm};
use crate::dress::{done, form_again, page};
use crate::extract::{Form, Query};
use crate::parts::Errors;
use crate::problem::Answer;
use crate::repositories::choices::{pick, repository_suggestions};
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Parameters {
    /// The number of a repository, or words that name it.
    repository: String,
    prefix: String,
    set: String,
}

/// The page where there is nothing to schedule yet.
#[derive(Template)]
#[template(path = "schedule_repository.html")]
struct NoRepository {
    who: Who,
    may_import: bool,
}

pub(crate) async fn form(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    let repositories = repository_suggestions(&state).await?;
    if repositories.is_empty() {
        let may_import = may_import(&state, &who);
        return page(&NoRepository { who, may_import });
    }
    let mut form = new_form();
    let mut wrong = None;
    let choices = match parameters.repository.trim() {
        "" => Choices::of_none(&state).await?,
        text => match pick(&repositories, text) {
            Ok((id, words)) => {
                form.set("repository", words);
                Choices::of(&state, id).await?
            }
            Err(reason) => {
                form.set("repository", text);
                wrong = Some(reason);
                Choices::of_none(&state).await?
            }
        },
    };
    let usual = choices.formats.iter().find(|format| *format == "oai_dc");
    let usual = usual.or(choices.formats.first()).cloned();
    form.set(
        "metadata_prefix",
        match parameters.prefix.as_str() {
            "" => usual.unwrap_or_else(|| "oai_dc".to_owned()),
            prefix => prefix.to_owned(),
        },
    );
    form.set("set", parameters.set);
    let mut answer = form_page(&state, who, repositories, choices, form);
    if let Some(reason) = wrong {
        answer.errors.add("repository", reason);
    }
    let (patch, _) = harvest_patch(&answer.form);
    let preview = schedules::preview_times(state.context(), &patch, RUNS).await?;
    answer.runs = Runs::of(&preview, state.catalog().now().await?);
    page(&answer)
}

pub(crate) async fn create(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(mut typed): Form<ScheduleForm>,
) -> Answer {
    let repositories = repository_suggestions(&state).await?;
    let picked = pick(&repositories, typed.get("repository"));
    let (choices, repository) = match &picked {
        Ok((id, words)) => {
            typed.set("repository", words.clone());
            (Choices::of(&state, *id).await?, Some(*id))
        }
        Err(_) => (Choices::of_none(&state).await?, None),
    };
    let mut answer = form_page(&state, who, repositories, choices, typed);
    let (patch, mut mistakes) = harvest_patch(&answer.form);
    if let Err(reason) = picked {
        mistakes.push(Mistake::new("repository", reason));
        let preview = schedules::preview_times(state.context(), &patch, RUNS).await?;
        return again(&state, answer, preview, mistakes).await;
    }
    let new = NewSchedule {
        repository,
        paused: answer.paused,
        patch,
    };
    let (context, actor) = (state.context(), answer.who.actor());
    let mut preview = schedules::preview(context, &actor, &new, RUNS).await?;
    mistakes.append(&mut preview.mistakes);
    if mistakes.is_empty() {
        if answer.form.get("do") == "preview" {
            answer.runs = Runs::of(&preview, state.catalog().now().await?);
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
    again(&state, answer, preview, mistakes).await
}

/// The form once more, with what is wrong.
async fn again(
    state: &ConsoleState,
    mut answer: FormPage,
    preview: schedules::Preview,
    mistakes: Vec<Mistake>,
) -> Answer {
    answer.runs = Runs::of(&preview, state.catalog().now().await?);
    answer.errors = form::errors(&answer.form, mistakes);
    form_again(&answer)
}

/// Whether an import may be scheduled. Its form tells those whom only the configuration keeps from it.
fn may_import(state: &ConsoleState, who: &Who) -> bool {
    let imports = &state.context().settings().imports;
    let refusal = imports.require(&who.actor()).err();
    refusal.is_none_or(|refusal| refusal.code != Code::Forbidden)
}

fn form_page(
    state: &ConsoleState,
    who: Who,
    repositories: Vec<(String, String)>,
    choices: Choices,
    form: ScheduleForm,
) -> FormPage {
    FormPage {
        may_import: may_import(state, &who),
        who,
        heading: "Add a schedule".to_owned(),
        action: "/schedules".to_owned(),
        back: "/schedules".to_owned(),
        choices,
        repositories,
        paused: form.get("paused") == "true",
        form,
        version: None,
        runs: Runs::default(),
        conflict: None,
        errors: Errors::default(),
    }
}
