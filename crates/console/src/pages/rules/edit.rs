//! `/rules/{id}`: a filter or a mapping is read, tried and changed. If somebody else was faster, both versions are shown,
//! and what was typed in is not lost.

use axum::extract::State;
use axum::http::StatusCode;
use catalog::Rules;

use super::form::FormPage;
use crate::dress::{done, form_again, page};
use crate::extract::Path;
use crate::problem::{Answer, Problem};
use crate::rules::{RulesForm, change, rules, users};
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer, Who};

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let known = rules(&state, id).await?;
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
    let known = rules(&state, id).await?;
    let kind = known.kind;
    let version = form.version.parse();
    let version = version.map_err(|_| Problem::invalid("version: give the one that was seen"))?;
    let mut answer = form_page(&state, who, known, form).await?;
    answer.check();
    if !answer.errors.is_empty() {
        return form_again(&answer);
    }
    if answer.form.action == "try" {
        answer.try_out(&state).await?;
        return match answer.errors.is_empty() {
            true => page(&answer),
            false => form_again(&answer),
        };
    }
    let text = (answer.form.name.trim(), answer.form.content.as_str());
    match change(&state, &answer.who, id, version, text).await {
        Ok(rules) => {
            let message = format!("The {} {} is changed.", kind.name(), rules.name);
            Ok(done("/rules", message))
        }
        Err(problem) if problem.code == "changed" => conflict(&state, answer, id).await,
        Err(problem) if problem.code == "conflict" => {
            answer.errors.add("name", problem.message);
            form_again(&answer)
        }
        Err(problem) => Err(problem),
    }
}

/// The form once more, for the version that is there now.
async fn conflict(state: &ConsoleState, mut answer: FormPage, id: i64) -> Answer {
    let theirs = rules(state, id).await?;
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
