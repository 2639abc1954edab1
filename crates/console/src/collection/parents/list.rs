//! `GET /parents`: the pages that link to documents.

use axum::extract::State;
use axum::response::Response;
use operations::Refusal;
use operations::parents::{self, Parent, ParentFilter};
use operations::whitelist::{self, WhitelistOrder};

use super::api::{attached, made};
use crate::extract::Query;
use crate::parts::Typed;
use crate::parts::table::{Around, Cell, Column, Filter, Filters, Table, View};
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::Viewer;

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(asked): Query<Typed>,
) -> Answer {
    let filters = Filters::new(asked)
        .with(Filter::search("Search", "a part of the URL"))
        .with(Filter::text("host", "Host", "www.example.org"));
    let filter = ParentFilter {
        text: filters.given("text"),
        host: filters.given("host"),
        ..ParentFilter::default()
    };
    let mut actions = Vec::new();
    if who.can_operate() {
        actions.push(("Clean…", "/parents/clean"));
    }
    if parents::has_revised(state.context()).await? {
        actions.push(("Cleaned list (CSV)", "/api/v1/parents/revised.csv"));
    }
    actions.push(("Whitelist", "/parents/whitelist.txt"));
    actions.push(("Whitelist (CSV)", "/parents/whitelist.csv"));
    let around = Around {
        title: "Parents",
        crumbs: vec![("Documents".to_owned(), "/documents".to_owned())],
        actions,
        ..Around::default()
    };
    let table = Table::new("/parents", ["parent", "parents"], filters)
        .by_row_unless_sorted()
        .column(
            Column::new("url", "Page", |row: &Parent| Cell::text(&row.url))
                .smallest_first()
                .row_heading()
                .breaking(),
        )
        .column(
            Column::new("documents", "Documents", |row: &Parent| {
                let link = format!("/documents?parent={}", row.id);
                Cell::link(link, Cell::Number(row.documents))
            })
            .largest_first()
            .number(),
        )
        .column(
            Column::new("ingested", "Ingested", |row: &Parent| {
                Cell::Number(row.ingested)
            })
            .largest_first()
            .number(),
        )
        .column(
            Column::new("last_crawl_date", "Last crawled", |row: &Parent| {
                Cell::Time(row.last_crawl_date.0)
            })
            .largest_first(),
        )
        .column(
            Column::new("link", "Link", |row: &Parent| {
                let detail = row.link_detail.as_ref();
                let detail = detail.map(|detail| Cell::note(Cell::text(detail)));
                match row.link.as_str() {
                    "unchecked" => Cell::None("unchecked"),
                    link => Cell::text(link).above(detail),
                }
            })
            .smallest_first()
            .breaking(),
        )
        .fields(&FIELDS)
        .empty("No document has a parent yet.", None);
    let read = move |view: View| {
        let state = state.clone();
        let filter = ParentFilter {
            after: view.page,
            sort: view.sort,
            descending: view.descending,
            offset: view.offset,
            limit: view.limit,
            ..filter.clone()
        };
        async move { parents::list(state.context(), &filter).await }
    };
    table.answer(who, around, read).await
}

/// `GET /parents/whitelist.txt`
pub(crate) async fn whitelist_text(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(order): Query<WhitelistOrder>,
) -> Result<Response, Problem> {
    let seeds = made(&state, order).await?;
    let mut text = Vec::new();
    whitelist::write_text(&seeds, &mut text).map_err(unwritten)?;
    Ok(attached("text/plain; charset=utf-8", "whitelist.txt", text))
}

/// `GET /parents/whitelist.csv`
pub(crate) async fn whitelist_csv(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(order): Query<WhitelistOrder>,
) -> Result<Response, Problem> {
    let seeds = made(&state, order).await?;
    let mut text = Vec::new();
    whitelist::write_csv(&seeds, &mut text).map_err(unwritten)?;
    Ok(attached("text/csv; charset=utf-8", "whitelist.csv", text))
}

fn unwritten(error: std::io::Error) -> Problem {
    Refusal::from(anyhow::Error::from(error)).into()
}

const FIELDS: [&str; 11] = [
    "id",
    "url",
    "host",
    "documents",
    "ingested",
    "first_crawl_date",
    "last_crawl_date",
    "link",
    "link_detail",
    "link_checked",
    "final_url",
];
