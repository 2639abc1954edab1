//! `GET /repositories`: all repositories, searched, filtered and sorted.

use askama::Template;
use axum::extract::State;
use operations::repositories::{self, Repository, RepositoryQuery};
use serde::Deserialize;

use crate::dress::page;
use crate::extract::Query;
use crate::filters;
use crate::parts::{Errors, Link, Pager, Sorting};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Parameters {
    text: String,
    health: String,
    sort: String,
    order: String,
    offset: u64,
}

#[derive(Template)]
#[template(path = "repositories.html")]
struct Repositories {
    who: Who,
    text: String,
    health: String,
    sorting: Sorting,
    rows: Vec<Repository>,
    pager: Pager,
    errors: Errors,
}

impl Repositories {
    fn is_filtered(&self) -> bool {
        !self.text.is_empty() || !self.health.is_empty()
    }

    fn healths(&self) -> [(&'static str, &'static str); 6] {
        [
            ("", "all"),
            ("ok", "ok"),
            ("running", "running"),
            ("incomplete", "incomplete"),
            ("failing", "failing"),
            ("never", "never harvested"),
        ]
    }
}

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    let Parameters {
        text,
        health,
        sort,
        order,
        offset,
    } = parameters;
    // An address that somebody typed shows something, whatever its words are.
    let health = Some(health).filter(|word| repositories::parse_health(word).is_some());
    let sort = Some(sort).filter(|word| repositories::parse_sort(word).is_some());
    let (text, descending) = (text.trim().to_owned(), order == "descending");
    let query = RepositoryQuery {
        text: Some(text.clone()),
        health: health.clone(),
        sort: sort.clone(),
        descending: Some(descending),
        offset: Some(offset),
        limit: Some(PAGE),
    };
    let listed = repositories::list(state.context(), &query).await?;
    let (rows, total) = (listed.items, listed.total.unwrap_or_default());
    let health = health.unwrap_or_default();
    let link = Link::to("/repositories")
        .with("text", &text)
        .with("health", &health);
    let sorted = link
        .clone()
        .with_some("sort", sort.as_deref())
        .with("order", if descending { "descending" } else { "" });
    page(&Repositories {
        who,
        text,
        health,
        sorting: Sorting {
            link,
            by: sort.unwrap_or_else(|| "name".to_owned()),
            descending,
        },
        pager: Pager::by_offset(&sorted, offset, PAGE, rows.len(), total),
        rows,
        errors: Errors::default(),
    })
}

const PAGE: u64 = 50;
