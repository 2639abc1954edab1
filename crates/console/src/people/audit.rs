//! `GET /audit`: the audit trail.

use askama::Template;
use axum::extract::State;
use operations::audit::{self, AuditEntry, AuditQuery};
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
    #[serde(default)]
    account: String,
    before: Option<i64>,
}

#[derive(Template)]
#[template(path = "audit.html")]
struct Audit {
    who: Who,
    account: String,
    rows: Vec<AuditEntry>,
    pager: Pager,
}

pub(crate) async fn list(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Query(Parameters { account, before }): Query<Parameters>,
) -> Answer {
    let query = AuditQuery {
        account: Some(account.clone()),
        before,
        limit: Some(PAGE),
    };
    let listed = audit::list(state.context(), &who.actor(), query).await?;
    let link = Link::to("/audit").with("account", &account);
    page(&Audit {
        who,
        account,
        rows: listed.items,
        pager: Pager::by_position(&link, before, listed.next),
    })
}

const PAGE: u64 = 50;
