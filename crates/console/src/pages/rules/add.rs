//! `GET /rules/new` and `POST /rules`: a filter or a mapping is added, after it was tried if that is wanted.

use axum::extract::State;
use catalog::RulesKind;
use serde::Deserialize;

use super::form::FormPage;
use crate::dress::{done, form_again, page};
use crate::extract::Query;
use crate::problem::{Answer, Problem};
use crate::rules::{RulesForm, add, example};
use crate::state::ConsoleState;
use crate::who::Operator;

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Parameters {
    kind: String,
}

pub(crate) async fn form(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    let kind = RulesKind::parse(&parameters.kind).unwrap_or(RulesKind::Filter);
    let form = RulesForm {
        content: example(kind).to_owned(),
        ..RulesForm::default()
    };
    page(&FormPage::new(&state, who, kind, form).await?)
}

pub(crate) async fn create(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    form: RulesForm,
) -> Answer {
    let kind = RulesKind::parse(&form.kind)
        .ok_or_else(|| Problem::invalid("kind: it is filter or mapping"))?;
    let mut answer = FormPage::new(&state, who, kind, form).await?;
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
    let (name, content) = (answer.form.name.trim(), answer.form.content.as_str());
    match add(&state, &answer.who, kind, name, content).await {
        Ok(rules) => {
            let message = format!("The {} {} is saved.", kind.name(), rules.name);
            Ok(done("/rules", message))
        }
        Err(problem) if problem.code == "conflict" => {
            answer.errors.add("name", problem.message);
            form_again(&answer)
        }
        Err(problem) => Err(problem),
    }
}
