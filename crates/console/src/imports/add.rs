//! `GET /imports/new` and `POST /imports`: an import is tried, kept as a template, or put into the queue.

use askama::Template;
use axum::extract::State;
use operations::imports::{self, ImportTemplate, ImportTrial};
use operations::runs::CountRole;
use operations::{Code, ImportPatch, Mistake, Refusal, jobs, read_fields};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::dress::{done, form_again, page};
use crate::extract::{Form, Query};
use crate::filters;
use crate::imports::{blacklists, default_order, has_more};
use crate::parts::{Errors, Typed};
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

#[derive(Template)]
#[template(path = "import_new.html")]
struct NewImport {
    who: Who,
    form: Typed,
    usual: Typed,
    /// Why nothing can be imported, if so.
    refusal: Option<String>,
    templates: Vec<ImportTemplate>,
    lists: Vec<(String, String)>,
    /// Whether there are directories to browse.
    has_roots: bool,
    trial: Option<ImportTrial>,
    errors: Errors,
}

/// The name of a template.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NameForm {
    name: String,
}

/// The form, filled with a template (`template`) or with files that were picked (`paths`, once for each).
pub(crate) async fn form(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Query(asked): Query<Vec<(String, String)>>,
) -> Answer {
    let mut form = Typed::default();
    form.show(&default_order(&state));
    let asked_for = |wanted: &str| {
        let values = asked.iter().filter(|(name, _)| name == wanted);
        values.map(|(_, value)| value.as_str()).collect::<Vec<_>>()
    };
    if let Some(name) = asked_for("template")
        .first()
        .filter(|name| !name.is_empty())
    {
        let template = imports::template(state.context(), name).await?;
        form.show(&template.import);
        form.set("name", template.name);
    }
    let paths = asked_for("paths");
    if !paths.is_empty() {
        form.set("paths", paths.join("\n"));
    }
    page(&form_page(&state, who, form).await?)
}

pub(crate) async fn create(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(typed): Form<Typed>,
) -> Answer {
    let mut answer = form_page(&state, who, typed).await?;
    let (patch, mistakes) = read_fields(answer.form.fields::<ImportPatch>());
    if !mistakes.is_empty() {
        return answer.again(mistakes);
    }
    let (context, actor) = (state.context(), answer.who.actor());
    let refusal = match answer.form.get("do") {
        "try" => match try_first(&state, &answer, &patch).await {
            Ok(trial) => {
                answer.trial = Some(trial);
                return page(&answer);
            }
            Err(refusal) => refusal,
        },
        "save" => {
            let name = answer.form.get("name");
            match imports::save_template(context, &actor, name, &answer.settings()).await {
                Ok(saved) => return Ok(done("/imports/new", format!("{} is saved.", saved.name))),
                Err(refusal) => refusal,
            }
        }
        _ => match jobs::import(context, &actor, &patch, None).await {
            Ok(job) => {
                let message = format!("Queued as run {}; it starts when a worker is free.", job.id);
                return Ok(done(&format!("/runs/{}", job.id), message));
            }
            Err(refusal) => refusal,
        },
    };
    match refusal.code {
        Code::Invalid => answer.again(refusal.mistakes),
        _ => Err(refusal.into()),
    }
}

/// `POST /imports/templates/remove`
pub(crate) async fn remove_template(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(form): Form<NameForm>,
) -> Answer {
    imports::remove_template(state.context(), &who.actor(), &form.name).await?;
    Ok(done("/imports/new", format!("{} is removed.", form.name)))
}

async fn try_first(
    state: &ConsoleState,
    answer: &NewImport,
    patch: &ImportPatch,
) -> Result<ImportTrial, Refusal> {
    let wrong = |_| Refusal::invalid("captures", "write a number");
    let captures = match answer.form.get("captures").trim() {
        "" => None,
        text => Some(text.parse().map_err(wrong)?),
    };
    imports::try_first(state.context(), &answer.who.actor(), patch, captures).await
}

impl NewImport {
    fn has_more(&self) -> bool {
        has_more(&self.form, &self.usual, &self.errors)
    }

    fn again(mut self, mistakes: Vec<Mistake>) -> Answer {
        for mistake in mistakes {
            self.errors
                .add(mistake.field.unwrap_or("paths"), mistake.reason);
        }
        form_again(&self)
    }

    /// The settings that differ from what is configured.
    fn settings(&self) -> Map<String, Value> {
        let given = self.form.fields::<ImportPatch>().into_iter();
        let differs = |name: &str, value: &Value| {
            value
                .as_str()
                .is_none_or(|text| text != self.usual.get(name))
        };
        given.filter(|(name, value)| differs(name, value)).collect()
    }

    fn role(&self, role: &CountRole) -> &'static str {
        match role {
            CountRole::All => "all",
            CountRole::Known => "known",
            CountRole::Rejected => "rejected",
            CountRole::Lost => "lost",
            CountRole::Kept => "kept",
        }
    }
}

async fn form_page(state: &ConsoleState, who: Who, form: Typed) -> Result<NewImport, Problem> {
    let mut usual = Typed::default();
    usual.show(&default_order(state));
    let context = state.context();
    let rules = &context.settings().imports;
    let refusal = rules.require(&who.actor());
    Ok(NewImport {
        refusal: refusal.err().map(|refusal| refusal.message()),
        who,
        templates: imports::templates(context).await?.items,
        lists: blacklists(state, form.get("lists")).await?,
        has_roots: !rules.roots.is_empty(),
        form,
        usual,
        trial: None,
        errors: Errors::default(),
    })
}
