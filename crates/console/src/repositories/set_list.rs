//! `GET /repositories/{id}/sets`: the sets of a repository, each with its records.

use axum::extract::State;
use operations::repositories::{self, Set, SetQuery};

use crate::extract::{Path, Query};
use crate::parts::table::{Around, Cell, Column, Filter, Filters, Table, View};
use crate::parts::{Link, Typed};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::Viewer;

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(asked): Query<Typed>,
) -> Answer {
    let repository = repositories::show(state.context(), id).await?;
    let filters = Filters::new(asked).with(Filter::search("Search", "setSpec or name"));
    let text = filters.given("text");
    let around = Around {
        title: "Sets",
        crumbs: vec![
            ("Repositories".to_owned(), "/repositories".to_owned()),
            (repository.title().to_owned(), format!("/repositories/{id}")),
        ],
        ..Around::default()
    };
    let read = move |view: View| {
        let state = state.clone();
        let query = SetQuery {
            text: text.clone(),
            offset: view.offset,
            count: Some(true),
            limit: view.limit,
        };
        async move { repositories::sets(state.context(), id, &query).await }
    };
    table(filters, id).answer(who, around, read).await
}

fn table(filters: Filters, id: i64) -> Table<Set> {
    Table::new(format!("/repositories/{id}/sets"), ["set", "sets"], filters)
        .column(
            Column::new("set_spec", "Set", move |row: &Set| {
                let records = Link::to("/records")
                    .with("repository", id)
                    .with("set", &row.set_spec);
                let unlisted = Cell::note(Cell::text("not listed, but named by records"));
                let set = Cell::link(records.to_string(), Cell::code(&row.set_spec));
                set.above((!row.listed).then_some(unlisted))
            })
            .row_heading()
            .breaking(),
        )
        .column(
            Column::new("name", "Name", |row: &Set| {
                Cell::of(row.name.clone(), Cell::Text, "none")
            })
            .breaking(),
        )
        .column(
            Column::new("records", "Records", |row: &Set| match row.records {
                Some(many) if many >= MANY => Cell::text("10\u{202f}000+"),
                records => Cell::Number(records.unwrap_or_default()),
            })
            .number(),
        )
        .fields(&["set_spec", "name", "listed", "records"])
        .every(0)
        .empty("The repository has no sets, or has not listed them.", None)
}

/// Records of a set are counted up to so many.
const MANY: u64 = 10_000;
