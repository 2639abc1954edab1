//! `GET /imports/new` and `POST /imports`: an import is put into the queue.

use askama::Template;
use axum::extract::State;
use jobs::ImportCrawl;

use crate::dress::{done, form_again, page};
use crate::extract::Form;
use crate::imports::{ImportForm, Refusal, add, permitted, refusal};
use crate::parts::Errors;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

#[derive(Template)]
#[template(path = "import_new.html")]
struct NewImport {
    who: Who,
    import: ImportForm,
    usual: ImportForm,
    /// Why nothing can be imported, if so.
    refusal: Option<&'static str>,
    errors: Errors,
}

pub(crate) async fn form(Operator(who): Operator, State(state): State<ConsoleState>) -> Answer {
    let import = ImportForm::of(&state.config().imports.usual);
    page(&form_page(&state, who, import))
}

pub(crate) async fn create(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(import): Form<ImportForm>,
) -> Answer {
    let mut answer = form_page(&state, who, import);
    let usual = ImportCrawl {
        paths: Vec::new(),
        ..state.config().imports.usual.clone()
    };
    let order = answer.import.order(usual, &mut answer.errors);
    let order = permitted(&state, &answer.who, order, None, &mut answer.errors).await?;
    if !answer.errors.is_empty() {
        return form_again(&answer);
    }
    let job = add(&state, &answer.who, &order, None).await?;
    let message = format!("Job {} is due; a worker takes it next.", job.id);
    Ok(done(&format!("/jobs/{}", job.id), message))
}

impl NewImport {
    fn has_more(&self) -> bool {
        self.import.has_more(&self.usual, &self.errors)
    }
}

fn form_page(state: &ConsoleState, who: Who, import: ImportForm) -> NewImport {
    NewImport {
        refusal: refusal(state, &who).map(Refusal::said),
        who,
        import,
        usual: ImportForm::of(&state.config().imports.usual),
        errors: Errors::default(),
    }
}
