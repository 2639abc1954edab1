//! `GET /schedules/{id}/edit` and `POST /schedules/{id}`: a schedule is changed. If somebody else was faster, both
//! versions are shown, and typed texts are not lost.

use axum::extract::State;
use axum::http::StatusCode;
use operations::Code;
use operations::schedules::{self, Schedule, ScheduleKind, beside};

use super::form::{self, Conflict, FormPage, RUNS, Runs, form_of, harvest_patch};
use super::{Choices, ScheduleForm, import};
use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path};
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

pub(crate) async fn form(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let known = schedules::show(state.context(), id).await?;
    if known.kind == ScheduleKind::Import {
        return import::edit(&state, who, &known).await;
    }
    let mut answer = form_page(&state, who, &known, form_of(&known)).await?;
    let (patch, _) = harvest_patch(&answer.form);
    let (context, actor) = (state.context(), answer.who.actor());
    let preview = schedules::preview_change(context, &actor, id, &patch, RUNS).await?;
    answer.runs = Runs::of(&preview, state.catalog().now().await?);
    page(&answer)
}

pub(crate) async fn save(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(typed): Form<ScheduleForm>,
) -> Answer {
    let version = version(&typed)?;
    let (context, actor) = (state.context(), who.actor());
    let known = schedules::show(context, id).await?;
    let mut answer = form_page(&state, who, &known, typed).await?;
    answer.version = Some(version);
    let (patch, mut mistakes) = harvest_patch(&answer.form);
    let preview = schedules::preview_change(context, &actor, id, &patch, RUNS).await?;
    answer.runs = Runs::of(&preview, state.catalog().now().await?);
    mistakes.extend(preview.mistakes);
    if mistakes.is_empty() {
        if answer.form.get("do") == "preview" {
            return page(&answer);
        }
        match schedules::change(context, &actor, id, version, &patch).await {
            Ok(schedule) => {
                let message = format!("{} is changed.", schedule.title());
                return Ok(done(&format!("/schedules/{id}"), message));
            }
            Err(refusal) if refusal.code == Code::Changed => {
                return conflict(&state, answer, id).await;
            }
            Err(refusal) if refusal.code == Code::Invalid => mistakes = refusal.mistakes,
            Err(refusal) => return Err(refusal.into()),
        }
    }
    answer.errors = form::errors(&answer.form, mistakes);
    form_again(&answer)
}

/// The version that a form was made for.
pub(super) fn version(form: &ScheduleForm) -> Result<i64, Problem> {
    let version = form.get("version").parse();
    version.map_err(|_| Problem::invalid("version: give the one that was seen"))
}

/// The form once more, for the version that is there now.
async fn conflict(state: &ConsoleState, mut answer: FormPage, id: i64) -> Answer {
    let theirs = schedules::show(state.context(), id).await?;
    answer.version = Some(theirs.version);
    answer.conflict = Some(Conflict {
        fields: both(&theirs, &answer.form),
    });
    let mut response = page(&answer)?;
    *response.status_mut() = StatusCode::CONFLICT;
    Ok(response)
}

/// The saved settings beside those of the form.
pub(super) fn both(theirs: &Schedule, form: &ScheduleForm) -> Vec<(String, String, String)> {
    let mut own = theirs.clone();
    let text = |name: &str| form.get(name).trim().to_owned();
    own.name = text("name");
    own.metadata_prefix = text("metadata_prefix");
    own.set = Some(text("set")).filter(|set| !set.is_empty());
    let (patch, _) = form::times(form);
    own.frequency = patch.frequency.unwrap_or_default();
    own.starts = patch.starts.and_then(|time| time.value().copied());
    own.ends = patch.ends.and_then(|time| time.value().copied());
    for order in [&mut own.parameters, &mut own.import].into_iter().flatten() {
        let mut saved = ScheduleForm::default();
        saved.show(order);
        for (name, value) in order.iter_mut() {
            if saved.get(name) != form.get(name) {
                *value = text(name).into();
            }
        }
    }
    beside(theirs, &own)
}

async fn form_page(
    state: &ConsoleState,
    who: Who,
    known: &Schedule,
    form: ScheduleForm,
) -> Result<FormPage, Problem> {
    let id = known.id;
    let repository = known.repository.ok_or_else(|| {
        Problem::conflict(format!(
            "schedule {id} imports a crawl by now; look at it again"
        ))
    })?;
    Ok(FormPage {
        who,
        heading: format!("Change {}", known.title()),
        action: format!("/schedules/{id}"),
        back: format!("/schedules/{id}"),
        choices: Choices::of(state, repository).await?,
        repositories: Vec::new(),
        may_import: false,
        form,
        version: Some(known.version),
        paused: false,
        runs: Runs::default(),
        conflict: None,
        errors: Errors::default(),
    })
}
