//! `GET /repositories`: all repositories, searched, sorted and by how they fare.

use askama::Template;
use axum::extract::State;
use catalog::{RepositoryListQuery, RepositoryOverview};
use serde::Deserialize;

use crate::dress::page;
use crate::extract::Query;
use crate::filters;
use crate::parts::{Errors, Link, Pager, Sorting};
use crate::problem::Answer;
use crate::repositories::{health_name, parse_health, parse_sort};
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
    health: &'static str,
    sorting: Sorting,
    rows: Vec<RepositoryOverview>,
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
    let text = parameters.text.trim().to_owned();
    let health = parse_health(&parameters.health);
    let sort = parse_sort(&parameters.sort);
    let descending = parameters.order == "descending";
    let query = RepositoryListQuery {
        text: Some(text.clone()).filter(|text| !text.is_empty()),
        health,
        sort: sort.unwrap_or_default(),
        descending,
        offset: parameters.offset,
        limit: PAGE,
    };
    let (total, rows) = state.catalog().repository_overview(&query).await?;
    let health = health.map_or("", health_name);
    let by = sort.map_or("name", |_| parameters.sort.as_str()).to_owned();
    let link = Link::to("/repositories")
        .with("text", &text)
        .with("health", health);
    let sorted = match sort {
        Some(_) => link.clone().with("sort", &by),
        None => link.clone(),
    };
    let sorted = sorted.with("order", if descending { "descending" } else { "" });
    page(&Repositories {
        who,
        text,
        health,
        sorting: Sorting {
            link,
            by,
            descending,
        },
        pager: Pager::by_offset(&sorted, parameters.offset, PAGE, rows.len(), total),
        rows,
        errors: Errors::default(),
    })
}

const PAGE: u64 = 50;
