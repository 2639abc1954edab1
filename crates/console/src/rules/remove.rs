//! `/rules/{id}/remove`: a filter or a mapping is removed, unless a schedule uses it.

use axum::extract::State;
use operations::rules;

use super::users;
use crate::dress::{done, page};
use crate::extract::Path;
use crate::parts::Confirm;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::Operator;

pub(crate) async fn confirm(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let known = rules::show(state.context(), id).await?;
    let users = users(&state).await?.into_iter();
    let users: Vec<_> = users
        .filter(|(rules, ..)| *rules == id)
        .map(|(_, schedule, name)| format!("{name} (schedule {schedule})"))
        .collect();
    if !users.is_empty() {
        return Err(Problem::conflict(format!(
            "{} is used by {}; change that first",
            known.name,
            users.join(", ")
        )));
    }
    let kind = known.kind.name();
    page(&Confirm {
        who,
        question: format!("Remove the {kind} {}?", known.name),
        losses: vec![
            format!("The text of the {kind}, in its version {}.", known.version),
            "No schedule uses it. Harvests of the past stay as they are.".to_owned(),
        ],
        verb: format!("Remove the {kind}"),
        action: format!("/rules/{id}/remove"),
        back: format!("/rules/{id}"),
    })
}

pub(crate) async fn remove(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let known = rules::remove(state.context(), &who.actor(), id).await?;
    let message = format!("The {} {} is removed.", known.kind.name(), known.name);
    Ok(done("/rules", message))
}
