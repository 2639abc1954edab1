//! `GET /audit`: the audit trail.

use axum::extract::State;
use operations::audit::{self, AuditEntry, AuditQuery};

use crate::extract::Query;
use crate::parts::Typed;
use crate::parts::table::{Around, Cell, Column, Filter, Filters, Table, View};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::Admin;

pub(crate) async fn list(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Query(asked): Query<Typed>,
) -> Answer {
    let filters = Filters::new(asked).with(Filter::named_search("account", "Account", ""));
    let account = filters.given("account");
    let around = Around {
        title: "Audit",
        ..Around::default()
    };
    let actor = who.actor();
    let read = move |view: View| {
        let (state, actor) = (state.clone(), actor.clone());
        let query = AuditQuery {
            account: account.clone(),
            before: view.page,
            sort: view.sort,
            descending: view.descending,
            offset: view.offset,
            limit: view.limit,
        };
        async move { audit::list(state.context(), &actor, query).await }
    };
    table(filters).answer(who, around, read).await
}

fn table(filters: Filters) -> Table<AuditEntry> {
    Table::new("/audit", ["entry", "entries"], filters)
        .by_row_unless_sorted()
        .sorted_by("", true)
        .column(Column::new("at", "Time", |row: &AuditEntry| Cell::Time(row.at.0)).largest_first())
        .column(
            Column::new("account", "Account", |row: &AuditEntry| {
                Cell::text(&row.account)
            })
            .smallest_first()
            .row_heading(),
        )
        .column(
            Column::new("action", "Action", |row: &AuditEntry| {
                Cell::code(&row.action)
            })
            .smallest_first(),
        )
        .column(
            Column::new("subject", "Subject", |row: &AuditEntry| {
                Cell::text(&row.subject)
            })
            .smallest_first()
            .breaking(),
        )
        .column(
            Column::new("details", "Details", |row: &AuditEntry| {
                Cell::text(row.details.clone().unwrap_or_default())
            })
            .breaking(),
        )
        .fields(&["id", "at", "account", "action", "subject", "details"])
        .empty("Nothing was changed yet.", None)
}
