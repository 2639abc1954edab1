//! `/documents/clean`: a cleaning, with its preview before.

use askama::Template;
use axum::extract::State;
use operations::documents::{self, CleanDocuments, CleanPreview};
use serde::Deserialize;

use crate::dress::{done, form_again, page};
use crate::extract::Form;
use crate::filters;
use crate::lists::choices;
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer, Who};

#[derive(Template)]
#[template(path = "documents_clean.html")]
struct CleanPage {
    who: Who,
    lists: Vec<(String, String)>,
    list: String,
    blacklist: String,
    errors: Errors,
    preview: Option<CleanPreview>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct CleanForm {
    list: String,
    blacklist: String,
}

impl CleanForm {
    fn order(&self) -> CleanDocuments {
        CleanDocuments {
            lists: Some(self.list.clone())
                .filter(|list| !list.is_empty())
                .into_iter()
                .collect(),
            blacklist: Some(self.blacklist.clone()).filter(|text| !text.trim().is_empty()),
        }
    }
}

pub(crate) async fn form(Viewer(who): Viewer, State(state): State<ConsoleState>) -> Answer {
    page(&clean_page(&state, who, CleanForm::default()).await?)
}

pub(crate) async fn preview(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Form(form): Form<CleanForm>,
) -> Answer {
    let previewed = documents::preview(state.context(), &form.order()).await;
    let clean = clean_page(&state, who, form).await?;
    match previewed {
        Ok(preview) => page(&CleanPage {
            preview: Some(preview),
            ..clean
        }),
        Err(refusal) => form_again(&CleanPage {
            errors: Errors::of_form(refusal)?,
            ..clean
        }),
    }
}

pub(crate) async fn clean(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(form): Form<CleanForm>,
) -> Answer {
    match documents::queue_clean(state.context(), &who.actor(), &form.order()).await {
        Ok(job) => {
            let message = "The cleaning is in the queue.";
            Ok(done(&format!("/jobs/{}", job.id), message))
        }
        Err(refusal) => form_again(&CleanPage {
            errors: Errors::of_form(refusal)?,
            ..clean_page(&state, who, form).await?
        }),
    }
}

async fn clean_page(state: &ConsoleState, who: Who, form: CleanForm) -> Result<CleanPage, Problem> {
    Ok(CleanPage {
        who,
        lists: choices(state).await?,
        list: form.list,
        blacklist: form.blacklist,
        errors: Errors::default(),
        preview: None,
    })
}
