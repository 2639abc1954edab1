//! `GET /imports/new` and `POST /imports`: an import is put into the queue.

use askama::Template;
use axum::extract::State;
use operations::{Code, ImportPatch, jobs, read_fields};

use crate::dress::{done, form_again, page};
use crate::extract::Form;
use crate::imports::{default_order, has_more};
use crate::parts::{Errors, Typed};
use crate::problem::Answer;
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
    errors: Errors,
}

pub(crate) async fn form(Operator(who): Operator, State(state): State<ConsoleState>) -> Answer {
    let mut form = Typed::default();
    form.show(&default_order(&state));
    page(&form_page(&state, who, form))
}

pub(crate) async fn create(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(typed): Form<Typed>,
) -> Answer {
    let mut answer = form_page(&state, who, typed);
    let (patch, mut mistakes) = read_fields(answer.form.fields::<ImportPatch>());
    if mistakes.is_empty() {
        match jobs::import(state.context(), &answer.who.actor(), &patch, None).await {
            Ok(job) => {
                let message = format!("Queued as run {}; it starts when a worker is free.", job.id);
                return Ok(done(&format!("/runs/{}", job.id), message));
            }
            Err(refusal) if refusal.code == Code::Invalid => mistakes = refusal.mistakes,
            Err(refusal) => return Err(refusal.into()),
        }
    }
    for mistake in mistakes {
        answer
            .errors
            .add(mistake.field.unwrap_or("paths"), mistake.reason);
    }
    form_again(&answer)
}

impl NewImport {
    fn has_more(&self) -> bool {
        has_more(&self.form, &self.usual, &self.errors)
    }
}

fn form_page(state: &ConsoleState, who: Who, form: Typed) -> NewImport {
    let mut usual = Typed::default();
    usual.show(&default_order(state));
    let refusal = state.context().settings().imports.require(&who.actor());
    NewImport {
        refusal: refusal.err().map(|refusal| refusal.message()),
        who,
        form,
        usual,
        errors: Errors::default(),
    }
}
