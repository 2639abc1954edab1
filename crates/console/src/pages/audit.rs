//! `GET /audit`: who changed what.

use askama::Template;
use axum::extract::State;
use catalog::{AuditQuery, AuditRow};
use serde::Deserialize;

use crate::dress::page;
use crate::extract::Query;
use crate::filters;
use crate::parts::{Link, Pager};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Admin, Who};

#[derive(Deserialize)]
pub(crate) struct Parameters {
    account: Option<String>,
    before: Option<i64>,
}

#[derive(Template)]
#[template(path = "audit.html")]
struct Audit {
    who: Who,
    account: String,
    rows: Vec<AuditRow>,
    pager: Pager,
}

pub(crate) async fn list(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    let account = parameters.account.filter(|name| !name.is_empty());
    let query = AuditQuery {
        account: account.clone(),
        before: parameters.before,
        limit: PAGE + 1,
    };
    let mut rows = state.catalog().audit_trail(&query).await?;
    let is_more = rows.len() > PAGE as usize;
    rows.truncate(PAGE as usize);
    let next = rows.last().filter(|_| is_more).map(|row| row.id);
    let link = Link::to("/audit").with_some("account", account.as_deref());
    page(&Audit {
        who,
        account: account.unwrap_or_default(),
        rows,
        pager: Pager::by_position(&link, parameters.before, next),
    })
}

const PAGE: u64 = 50;
