//! Schedules of imports: `GET` and `POST /schedules/import` add one, `POST /schedules/{id}/import` changes one. The pages
//! of a schedule's number lead here if it imports.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use catalog::{ImportEntry, ImportQuery, Schedule as Row};
use operations::schedules::{self, NewSchedule, Schedule, ScheduleKind, fields};
use operations::{Code, Mistake};

use super::edit::{both, version};
use super::form::{self, Conflict, RUNS, Runs, form_of, import_patch, new_form};
use super::show::runs;
use super::{ScheduleForm, title};
use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path};
use crate::filters;
use crate::imports::{blacklists, default_order, has_more};
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

/// The form.
#[derive(Template)]
#[template(path = "schedule_import_form.html")]
struct FormPage {
    who: Who,
    heading: String,
    /// Where it is sent.
    action: String,
    back: String,
    form: ScheduleForm,
    usual: ScheduleForm,
    /// Why nothing can be imported, if so.
    refusal: Option<String>,
    lists: Vec<(String, String)>,
    version: Option<i64>,
    paused: bool,
    runs: Runs,
    conflict: Option<Conflict>,
    errors: Errors,
}

/// One of them.
#[derive(Template)]
#[template(path = "schedule_import.html")]
struct SchedulePage {
    who: Who,
    title: String,
    frequency: String,
    fields: Vec<(String, String)>,
    runs: Runs,
    imports: Vec<ImportEntry>,
    schedule: Row,
}

pub(crate) async fn form(Operator(who): Operator, State(state): State<ConsoleState>) -> Answer {
    let mut form = new_form();
    form.show(&default_order(&state));
    let mut answer = form_page(&state, who, None, form).await?;
    let preview = form::times(&answer.form).0;
    let preview = schedules::preview_times(state.context(), &preview, RUNS).await?;
    answer.runs = Runs::of(&preview, state.catalog().now().await?);
    page(&answer)
}

pub(crate) async fn create(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(typed): Form<ScheduleForm>,
) -> Answer {
    let mut answer = form_page(&state, who, None, typed).await?;
    answer.paused = answer.form.get("paused") == "true";
    let (patch, mut mistakes) = import_patch(&answer.form);
    let new = NewSchedule {
        repository: None,
        paused: answer.paused,
        patch,
    };
    let (context, actor) = (state.context(), answer.who.actor());
    let preview = schedules::preview(context, &actor, &new, RUNS).await?;
    answer.runs = Runs::of(&preview, state.catalog().now().await?);
    mistakes.extend(preview.mistakes);
    if !mistakes.is_empty() {
        return answer.again(mistakes);
    }
    if answer.form.get("do") == "preview" {
        return page(&answer);
    }
    let schedule = schedules::add(context, &actor, &new).await?;
    let message = format!("{} is scheduled.", schedule.title());
    Ok(done(&format!("/schedules/{}", schedule.id), message))
}

pub(crate) async fn save(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(typed): Form<ScheduleForm>,
) -> Answer {
    let version = version(&typed)?;
    let (context, actor) = (state.context(), who.actor());
    let known = imported(&state, id).await?;
    let mut answer = form_page(&state, who, Some(&known), typed).await?;
    answer.version = Some(version);
    let (patch, mut mistakes) = import_patch(&answer.form);
    let preview = schedules::preview_change(context, &actor, id, &patch, RUNS).await?;
    answer.runs = Runs::of(&preview, state.catalog().now().await?);
    mistakes.extend(preview.mistakes);
    if !mistakes.is_empty() {
        return answer.again(mistakes);
    }
    if answer.form.get("do") == "preview" {
        return page(&answer);
    }
    match schedules::change(context, &actor, id, version, &patch).await {
        Ok(schedule) => {
            let message = format!("{} is changed.", schedule.title());
            Ok(done(&format!("/schedules/{id}"), message))
        }
        Err(refusal) if refusal.code == Code::Changed => {
            let theirs = imported(&state, id).await?;
            answer.version = Some(theirs.version);
            answer.conflict = Some(Conflict {
                fields: both(&theirs, &answer.form),
            });
            let mut response = page(&answer)?;
            *response.status_mut() = StatusCode::CONFLICT;
            Ok(response)
        }
        Err(refusal) => Err(refusal.into()),
    }
}

/// The form of one that is there.
pub(super) async fn edit(state: &ConsoleState, who: Who, known: &Schedule) -> Answer {
    let mut answer = form_page(state, who, Some(known), form_of(known)).await?;
    let times = form::times(&answer.form).0;
    let (context, actor) = (state.context(), answer.who.actor());
    let preview = schedules::preview_change(context, &actor, known.id, &times, RUNS).await?;
    answer.runs = Runs::of(&preview, state.catalog().now().await?);
    page(&answer)
}

/// All of one, its next runs and its last imports.
pub(super) async fn show(state: &ConsoleState, who: Who, schedule: Row) -> Answer {
    let catalog = state.catalog();
    let query = ImportQuery {
        schedule: Some(schedule.id),
        limit: 10,
        ..ImportQuery::default()
    };
    let now = catalog.now().await?;
    page(&SchedulePage {
        who,
        title: title(&schedule),
        frequency: schedules::describe(&schedule.settings.frequency),
        fields: fields(&Schedule::from(schedule.clone())),
        runs: runs(&schedule, now),
        imports: catalog.imports(&query).await?,
        schedule,
    })
}

impl FormPage {
    /// The form once more, with its mistakes.
    fn again(mut self, mistakes: Vec<Mistake>) -> Answer {
        self.errors = form::errors(&self.form, mistakes);
        form_again(&self)
    }

    fn has_more(&self) -> bool {
        has_more(&self.form, &self.usual, &self.errors)
    }
}

async fn form_page(
    state: &ConsoleState,
    who: Who,
    known: Option<&Schedule>,
    form: ScheduleForm,
) -> Result<FormPage, Problem> {
    let place = known.map(|known| format!("/schedules/{}", known.id));
    let mut usual = ScheduleForm::default();
    usual.show(&default_order(state));
    let refusal = state.context().settings().imports.require(&who.actor());
    Ok(FormPage {
        lists: blacklists(state, form.get("lists")).await?,
        refusal: refusal.err().map(|refusal| refusal.message()),
        who,
        heading: match known {
            Some(known) => format!("Change {}", known.title()),
            None => "Schedule an import".to_owned(),
        },
        action: match &place {
            Some(place) => format!("{place}/import"),
            None => "/schedules/import".to_owned(),
        },
        back: place.unwrap_or_else(|| "/schedules".to_owned()),
        form,
        usual,
        version: known.map(|known| known.version),
        paused: false,
        runs: Runs::default(),
        conflict: None,
        errors: Errors::default(),
    })
}

/// The schedule with this number, if it imports something.
async fn imported(state: &ConsoleState, id: i64) -> Result<Schedule, Problem> {
    let known = schedules::show(state.context(), id).await?;
    match known.kind {
        ScheduleKind::Import => Ok(known),
        ScheduleKind::Harvest => Err(Problem::conflict(format!(
            "schedule {id} harvests a repository by now; look at it again"
        ))),
    }
}
