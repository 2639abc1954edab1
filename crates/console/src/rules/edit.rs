//! `/rules/{id}`: a filter or a mapping is read, tried and changed. If somebody else was faster, both versions are shown,
//! and the text of the form is not lost.

use axum::extract::State;
use axum::http::StatusCode;
use operations::rules::{self, ChangedRules, Rules};
use operations::{Code, Refusal};

use super::fields::RulesForm;
use super::form::FormPage;
use super::users;
use crate::dress::{done, page};
use crate::extract::Path;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer, Who};

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let known = rules::show(state.context(), id).await?;
    let form = RulesForm {
        name: known.name.clone(),
        content: known.content.clone(),
        version: known.version.to_string(),
        ..RulesForm::default()
    };
    page(&form_page(&state, who, known, form).await?)
}

pub(crate) async fn save(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    form: RulesForm,
) -> Answer {
    let known = rules::show(state.context(), id).await?;
    let version = form.version.parse();
    let version = version.map_err(|_| Refusal::invalid("version", "give the one that was seen"))?;
    let answer = form_page(&state, who, known, form).await?;
    if !answer.is_to_be_saved() {
        return answer.try_out(&state).await;
    }
    let changed = ChangedRules {
        name: answer.form.name.clone(),
        content: answer.form.content.clone(),
        version,
    };
    match rules::change(state.context(), &answer.who.actor(), id, &changed).await {
        Ok(rules) => {
            let message = format!("The {} {} is changed.", rules.kind.name(), rules.name);
            Ok(done("/rules", message))
        }
        Err(refusal) if refusal.code == Code::Changed => conflict(&state, answer, id).await,
        Err(refusal) => answer.again(refusal),
    }
}

/// The form once more, for the version that is there now.
async fn conflict(state: &ConsoleState, mut answer: FormPage, id: i64) -> Answer {
    let theirs = rules::show(state.context(), id).await?;
    answer.form.version = theirs.version.to_string();
    answer.conflict = Some(theirs);
    let mut response = page(&answer)?;
    *response.status_mut() = StatusCode::CONFLICT;
    Ok(response)
}

async fn form_page(
    state: &ConsoleState,
    who: Who,
    known: Rules,
    form: RulesForm,
) -> Result<FormPage, Problem> {
    let users = users(state).await?.into_iter();
    let users = users.filter(|(rules, ..)| *rules == known.id);
    let users = users.map(|(_, schedule, name)| (schedule, name)).collect();
    let page = FormPage::new(state, who, known.kind, form).await?;
    Ok(FormPage {
        heading: known.name.clone(),
        action: format!("/rules/{}", known.id),
        users,
        known: Some(known),
        ..page
    })
}
