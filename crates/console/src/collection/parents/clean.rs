//! `/parents/clean`: a cleaning of the parents is put into the queue.

use askama::Template;
use axum::extract::State;
use operations::parents::{self, CleanParents};
use serde::Deserialize;

use crate::dress::{done, form_again, page};
use crate::extract::Form;
use crate::lists::choices;
use crate::parts::Errors;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

#[derive(Template)]
#[template(path = "parents_clean.html")]
struct CleanPage {
    who: Who,
    lists: Vec<(String, String)>,
    list: String,
    check_links: bool,
    errors: Errors,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct CleanForm {
    list: String,
    check_links: Option<String>,
}

pub(crate) async fn form(Operator(who): Operator, State(state): State<ConsoleState>) -> Answer {
    page(&CleanPage {
        who,
        lists: choices(&state).await?,
        list: String::new(),
        check_links: false,
        errors: Errors::default(),
    })
}

pub(crate) async fn clean(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(form): Form<CleanForm>,
) -> Answer {
    let order = CleanParents {
        lists: Some(form.list.clone())
            .filter(|list| !list.is_empty())
            .into_iter()
            .collect(),
        check_links: form.check_links.is_some(),
        ..CleanParents::default()
    };
    match parents::queue_clean(state.context(), &who.actor(), &order).await {
        Ok(job) => {
            let message = "The cleaning is in the queue. Its list is then below Parents.";
            Ok(done(&format!("/jobs/{}", job.id), message))
        }
        Err(refusal) => form_again(&CleanPage {
            lists: choices(&state).await?,
            check_links: order.check_links,
            errors: Errors::of_form(refusal)?,
            list: form.list,
            who,
        }),
    }
}
