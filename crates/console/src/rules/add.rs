//! `GET /rules/new` and `POST /rules`: a filter or a mapping is tried and added.

use axum::extract::State;
use catalog::RulesKind;
use operations::Refusal;
use operations::rules::{self, NewRules};
use serde::Deserialize;

use super::example;
use super::fields::RulesForm;
use super::form::FormPage;
use crate::dress::{done, page};
use crate::extract::Query;
use crate::problem::Answer;
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
        .ok_or_else(|| Refusal::invalid("kind", "it is filter or mapping"))?;
    let answer = FormPage::new(&state, who, kind, form).await?;
    if !answer.is_to_be_saved() {
        return answer.try_out(&state).await;
    }
    let new = NewRules {
        kind,
        name: answer.form.name.clone(),
        content: answer.form.content.clone(),
    };
    match rules::add(state.context(), &answer.who.actor(), &new).await {
        Ok(rules) => {
            let message = format!("The {} {} is saved.", kind.name(), rules.name);
            Ok(done("/rules", message))
        }
        Err(refusal) => answer.again(refusal),
    }
}
