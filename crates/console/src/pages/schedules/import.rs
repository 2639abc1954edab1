//! Schedules of imports: `GET` and `POST /schedules/import` add one, `POST /schedules/{id}/import` changes one. What is
//! shown and edited under the number of a schedule leads here if it is one that imports.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use catalog::{ImportEntry, ImportQuery, Schedule, ScheduleSettings, Scheduled};
use jobs::ImportCrawl;
use serde::Deserialize;

use super::form::{Conflict, RUNS, Runs};
use super::list::in_words;
use super::show::runs;
use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path};
use crate::filters;
use crate::imports::{ImportForm, Refusal, permitted, refusal};
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::schedules::{
    ScheduleForm, Timing, add, change, check_times, fields, order, schedule, title,
};
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

#[derive(Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    version: Option<i64>,
    #[serde(default)]
    paused: bool,
    /// `preview` only shows the next runs.
    #[serde(default, rename = "do")]
    action: String,
    #[serde(flatten)]
    form: ScheduleForm,
    #[serde(flatten)]
    import: ImportForm,
}

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
    import: ImportForm,
    usual: ImportForm,
    /// Why nothing can be imported, if so.
    refusal: Option<Refusal>,
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
    fields: Vec<(&'static str, String)>,
    runs: Runs,
    imports: Vec<ImportEntry>,
    schedule: Schedule,
}

pub(crate) async fn form(Operator(who): Operator, State(state): State<ConsoleState>) -> Answer {
    let import = ImportForm::of(&state.config().imports.usual);
    let mut answer = form_page(&state, who, None, ScheduleForm::new(), import);
    answer.read(&state, None).await?;
    answer.errors = Errors::default();
    page(&answer)
}

pub(crate) async fn create(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(wanted): Form<Wanted>,
) -> Answer {
    let mut answer = form_page(&state, who, None, wanted.form, wanted.import);
    answer.paused = wanted.paused;
    let settings = answer.read(&state, None).await?;
    if let Some(response) = answer.unfinished(&wanted.action)? {
        return Ok(response);
    }
    let schedule = add(&state, &answer.who, &settings, wanted.paused).await?;
    let message = format!("{} is scheduled.", title(&schedule));
    Ok(done(&format!("/schedules/{}", schedule.id), message))
}

pub(crate) async fn save(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(wanted): Form<Wanted>,
) -> Answer {
    let known = imported(&state, id).await?;
    let mut answer = form_page(&state, who, Some(&known), wanted.form, wanted.import);
    answer.version = wanted.version;
    let version = wanted.version.unwrap_or_default();
    let settings = answer.read(&state, Some(&known)).await?;
    if let Some(response) = answer.unfinished(&wanted.action)? {
        return Ok(response);
    }
    match change(&state, &answer.who, id, version, &settings).await {
        Ok(schedule) => {
            let message = format!("{} is changed.", title(&schedule));
            Ok(done(&format!("/schedules/{id}"), message))
        }
        Err(problem) if problem.code == "changed" => {
            let theirs = imported(&state, id).await?;
            answer.version = Some(theirs.version);
            let both = fields(&theirs.settings).into_iter().zip(fields(&settings));
            answer.conflict = Some(Conflict {
                fields: both
                    .map(|((label, theirs), (_, own))| (label, theirs, own))
                    .collect(),
            });
            let mut response = page(&answer)?;
            *response.status_mut() = StatusCode::CONFLICT;
            Ok(response)
        }
        Err(problem) => Err(problem),
    }
}

/// The form of one that is there.
pub(super) async fn edit(state: &ConsoleState, who: Who, known: &Schedule) -> Answer {
    let import = ImportForm::of(&order(&known.settings));
    let form = ScheduleForm::of(&known.settings);
    let mut answer = form_page(state, who, Some(known), form, import);
    answer.read(state, Some(known)).await?;
    answer.errors = Errors::default();
    page(&answer)
}

/// All of one, its next runs and its last imports.
pub(super) async fn show(state: &ConsoleState, who: Who, schedule: Schedule) -> Answer {
    let catalog = state.catalog();
    let query = ImportQuery {
        schedule: Some(schedule.id),
        limit: 10,
        ..ImportQuery::default()
    };
    let now = catalog.now().await?;
    let fields = ImportForm::of(&order(&schedule.settings)).fields();
    page(&SchedulePage {
        who,
        title: title(&schedule),
        frequency: in_words(&schedule.settings.frequency),
        fields: fields
            .into_iter()
            .filter(|(_, value)| value != "–")
            .collect(),
        runs: runs(&schedule, now),
        imports: catalog.imports(&query).await?,
        schedule,
    })
}

impl FormPage {
    /// Reads and checks the form; what is wrong with it is in `errors` then.
    async fn read(
        &mut self,
        state: &ConsoleState,
        known: Option<&Schedule>,
    ) -> Result<ScheduleSettings, Problem> {
        let now = state.catalog().now().await?;
        let before = known.map(|known| order(&known.settings));
        let Self {
            form,
            import,
            errors,
            ..
        } = self;
        let frequency = form.frequency(errors);
        let (starts, ends) = form.times(errors);
        let usual = || ImportCrawl {
            paths: Vec::new(),
            ..state.config().imports.usual.clone()
        };
        let wanted = import.order(before.clone().unwrap_or_else(usual), errors);
        let wanted = match self.refusal {
            // Whoever may not name files is told so once, above the form.
            Some(_) if known.is_none() => wanted,
            _ => permitted(state, &self.who, wanted, before.as_ref(), errors).await?,
        };
        let settings = ScheduleSettings {
            what: Scheduled::Import,
            name: form.name.trim().to_owned(),
            parameters: wanted.text()?,
            frequency: frequency
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
            starts,
            ends,
        };
        let is_new = known.is_none_or(|known| Timing::of(known).is_none_or(|timing| timing.is_new));
        let timing = frequency.map(|frequency| Timing {
            frequency,
            starts,
            ends,
            added: known.map_or(now, |known| known.added),
            is_new,
            skipped: None,
        });
        check_times(&settings, timing.as_ref(), now, errors);
        self.runs = Runs {
            frequency: timing.as_ref().map(|_| in_words(&settings.frequency)),
            times: timing
                .map(|timing| timing.next(now, RUNS))
                .unwrap_or_default(),
            now,
            errors: Vec::new(),
        };
        Ok(settings)
    }

    /// The form once more, if it is not to be saved, or cannot be.
    fn unfinished(&self, action: &str) -> Result<Option<Response>, Problem> {
        if let Some(refusal) = self.refusal.filter(|_| self.version.is_none()) {
            return Err(refusal.problem());
        }
        if !self.errors.is_empty() {
            return form_again(self).map(Some);
        }
        match action {
            "preview" => page(self).map(Some),
            _ => Ok(None),
        }
    }

    fn has_more(&self) -> bool {
        self.import.has_more(&self.usual, &self.errors)
    }
}

fn form_page(
    state: &ConsoleState,
    who: Who,
    known: Option<&Schedule>,
    form: ScheduleForm,
    import: ImportForm,
) -> FormPage {
    let place = known.map(|known| format!("/schedules/{}", known.id));
    FormPage {
        refusal: refusal(state, &who),
        who,
        heading: match known {
            Some(known) => format!("Change {}", title(known)),
            None => "Schedule an import".to_owned(),
        },
        action: match &place {
            Some(place) => format!("{place}/import"),
            None => "/schedules/import".to_owned(),
        },
        back: place.unwrap_or_else(|| "/schedules".to_owned()),
        form,
        import,
        usual: ImportForm::of(&state.config().imports.usual),
        version: known.map(|known| known.version),
        paused: false,
        runs: Runs::default(),
        conflict: None,
        errors: Errors::default(),
    }
}

/// The schedule with this number, if it imports something.
async fn imported(state: &ConsoleState, id: i64) -> Result<Schedule, Problem> {
    let known = schedule(state, id).await?;
    match known.settings.what {
        Scheduled::Import => Ok(known),
        Scheduled::Harvest { .. } => Err(Problem::conflict(format!(
            "schedule {id} harvests a repository by now; look at it again"
        ))),
    }
}
