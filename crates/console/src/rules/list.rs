//! `GET /rules`: filters and mappings, and the schedules that use them.

use axum::extract::State;
use catalog::RulesKind;
use operations::Listed;
use operations::rules::{self, ORDERS, Rules, RulesQuery};
use serde::Serialize;

use super::users;
use crate::extract::Query;
use crate::parts::Typed;
use crate::parts::table::{Around, Cell, Column, Filter, Filters, Table, View};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::Viewer;

#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    rules: Rules,
    /// Numbers and names of the schedules.
    #[serde(skip)]
    users: Vec<(i64, String)>,
}

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(asked): Query<Typed>,
) -> Answer {
    let filters = Filters::new(asked)
        .with(Filter::search("Search", "a part of the name"))
        .with(Filter::choice("kind", "Kind", KINDS));
    let around = Around {
        title: "Filters and mappings",
        actions: match who.can_operate() {
            true => ADD.to_vec(),
            false => Vec::new(),
        },
        ..Around::default()
    };
    let kind = RulesKind::parse(filters.get("kind"));
    let text = filters.get("text").to_lowercase();
    let users = users(&state).await?;
    let read = move |view: View| {
        let (state, text, users) = (state.clone(), text.clone(), users.clone());
        async move {
            let mut all = rules::list(state.context(), RulesQuery { kind }).await?;
            all.retain(|rules| rules.name.to_lowercase().contains(&text));
            let listed = view.paging().page(all, ORDERS)?;
            let row = |rules: Rules| Row {
                users: users
                    .iter()
                    .filter(|(id, ..)| *id == rules.id)
                    .map(|(_, schedule, name)| (*schedule, name.clone()))
                    .collect(),
                rules,
            };
            Ok(Listed {
                items: listed.items.into_iter().map(row).collect(),
                next: listed.next,
                total: listed.total,
                ..Listed::none()
            })
        }
    };
    table(filters).answer(who, around, read).await
}

fn table(filters: Filters) -> Table<Row> {
    Table::new("/rules", ["rule", "rules"], filters)
        .sorted_by("name", false)
        .column(
            Column::new("name", "Name", |row: &Row| {
                Cell::link(format!("/rules/{}", row.rules.id), Cell::text(&row.rules.name))
            })
            .smallest_first()
            .row_heading()
            .breaking(),
        )
        .column(Column::new("kind", "Kind", |row: &Row| Cell::text(row.rules.kind.name())).smallest_first())
        .column(Column::new("users", "Used by", used_by).breaking())
        .column(Column::new("version", "Version", |row: &Row| Cell::text(row.rules.version.to_string())).number())
        .column(Column::new("changed", "Changed", |row: &Row| Cell::Time(row.rules.changed.0)).largest_first())
        .column(Column::new("changed_by", "By", |row: &Row| {
            Cell::of(row.rules.changed_by.clone(), Cell::Text, "–")
        }))
        .fields(&["id", "kind", "name", "version", "changed", "changed_by"])
        .empty(
            "No filters or mappings yet. A filter decides which records are kept, a mapping adds elements to records.",
            None,
        )
}

fn used_by(row: &Row) -> Cell {
    let users = row
        .users
        .iter()
        .map(|(id, name)| Cell::link(format!("/schedules/{id}"), Cell::text(name)));
    let users: Vec<_> = users.collect();
    match users.is_empty() {
        true => Cell::None("no schedule"),
        false => Cell::Lines(users),
    }
}

const KINDS: [(&str, &str); 3] = [("", "all"), ("filter", "filters"), ("mapping", "mappings")];
const ADD: [(&str, &str); 2] = [
    ("Add filter", "/rules/new?kind=filter"),
    ("Add mapping", "/rules/new?kind=mapping"),
];
