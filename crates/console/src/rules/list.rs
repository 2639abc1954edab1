//! `GET /rules`: filters and mappings, and the schedules that use them.

use askama::Template;
use axum::extract::State;
use catalog::RulesKind;
use operations::rules::{self, Rules, RulesQuery};

use super::users;
use crate::dress::page;
use crate::filters;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "rules.html")]
struct RulesPage {
    who: Who,
    /// For each kind its heading, what it is for, and all of it.
    kinds: Vec<(RulesKind, &'static str, &'static str, Vec<Row>)>,
}

struct Row {
    rules: Rules,
    /// Numbers and names of the schedules.
    users: Vec<(i64, String)>,
}

pub(crate) async fn list(Viewer(who): Viewer, State(state): State<ConsoleState>) -> Answer {
    let users = users(&state).await?;
    let mut kinds = Vec::new();
    for (kind, heading, purpose) in [
        (
            RulesKind::Filter,
            "Filters",
            "A filter says which records are kept.",
        ),
        (
            RulesKind::Mapping,
            "Mappings",
            "A mapping says what is added to records, in your own words.",
        ),
    ] {
        let query = RulesQuery { kind: Some(kind) };
        let rules = rules::list(state.context(), query).await?;
        let rows = rules.into_iter().map(|rules| Row {
            users: users
                .iter()
                .filter(|(id, ..)| *id == rules.id)
                .map(|(_, schedule, name)| (*schedule, name.clone()))
                .collect(),
            rules,
        });
        kinds.push((kind, heading, purpose, rows.collect()));
    }
    page(&RulesPage { who, kinds })
}
