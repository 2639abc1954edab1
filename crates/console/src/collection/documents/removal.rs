//! `/documents/{id}/remove` and `/documents/trash`: documents taken down, and restored.

use askama::Template;
use axum::extract::State;
use operations::Refusal;
use operations::documents::{self, Document, Restoration, Takedown, TrashFilter, TrashedDocument};
use serde::Deserialize;

use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path, Query};
use crate::parts::table::{
    Around, Bulk, BulkForm, Cell, Column, Filter, Filters, Table, View, bulk_done,
};
use crate::parts::{Errors, Typed};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer, Who};

#[derive(Template)]
#[template(path = "takedown.html")]
struct TakedownPage {
    who: Who,
    document: Document,
    action: String,
    reason: String,
    errors: Errors,
}

#[derive(Deserialize)]
pub(crate) struct TakedownForm {
    reason: String,
}

pub(crate) async fn form(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    page(&TakedownPage {
        who,
        document: documents::show(state.context(), id).await?,
        action: format!("/documents/{id}/remove"),
        reason: String::new(),
        errors: Errors::default(),
    })
}

pub(crate) async fn remove(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(form): Form<TakedownForm>,
) -> Answer {
    let context = state.context();
    let document = documents::show(context, id).await?;
    let takedown = Takedown {
        reason: form.reason.clone(),
    };
    match documents::remove(context, &who.actor(), id, &takedown).await {
        Ok(_) => Ok(done("/documents", format!("Document {id} is taken down."))),
        Err(refusal) => form_again(&TakedownPage {
            who,
            document,
            action: format!("/documents/{id}/remove"),
            errors: Errors::of_form(refusal)?,
            reason: form.reason,
        }),
    }
}

pub(crate) async fn trash(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(asked): Query<Typed>,
) -> Answer {
    let filters = Filters::new(asked)
        .with(Filter::search("Search", "a part of the URL"))
        .with(Filter::choice("takedown", "Removed by", KINDS))
        .with(Filter::choice("restorable", "Files", FILES));
    let flag = |key: &str| match filters.get(key) {
        "" => None,
        value => Some(value == "true"),
    };
    let filter = TrashFilter {
        text: filters.given("text"),
        takedown: flag("takedown"),
        restorable: flag("restorable"),
        ..TrashFilter::default()
    };
    let around = Around {
        title: "Removed documents",
        crumbs: vec![("Documents".to_owned(), "/documents".to_owned())],
        ..Around::default()
    };
    let mut bulk = Vec::new();
    if who.can_operate() {
        bulk.push(Bulk::post("/documents/trash/bulk", "restore", "Restore"));
    }
    let table = Table::new("/documents/trash", WORDS, filters)
        .by_row()
        .column(
            Column::new("url", "Document", |row: &TrashedDocument| {
                let member = row.member.as_ref();
                let member = member.map(|member| Cell::note(Cell::code(member)));
                Cell::text(&row.url).above(member)
            })
            .row_heading()
            .breaking(),
        )
        .column(
            Column::new("reason", "Reason", |row: &TrashedDocument| {
                let takedown = row.takedown.then(|| Cell::note(Cell::text("taken down")));
                Cell::text(&row.reason).above(takedown)
            })
            .breaking(),
        )
        .column(
            Column::new("size", "Size", |row: &TrashedDocument| {
                Cell::Bytes(row.size)
            })
            .number(),
        )
        .column(Column::new(
            "removed",
            "Removed",
            |row: &TrashedDocument| Cell::Time(row.removed.0),
        ))
        .column(Column::new("removed_by", "By", |row: &TrashedDocument| {
            Cell::of(row.removed_by.clone(), Cell::Text, "–")
        }))
        .column(Column::new(
            "restorable",
            "Files",
            |row: &TrashedDocument| match row.restorable {
                true => Cell::text("in the trash"),
                false => Cell::None("gone"),
            },
        ))
        .bulk(|row| row.id, bulk)
        .fields(&FIELDS)
        .empty("Nothing was removed.", None);
    let read = move |view: View| {
        let state = state.clone();
        let filter = TrashFilter {
            after: view.page,
            limit: view.limit,
            ..filter.clone()
        };
        async move { documents::trash(state.context(), &filter).await }
    };
    table.answer(who, around, read).await
}

pub(crate) async fn restore(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(form): Form<BulkForm>,
) -> Answer {
    // Without a name everything would be restored.
    if form.ids.is_empty() {
        return bulk_done("/documents/trash", WORDS, "restored", []);
    }
    let restoration = Restoration {
        documents: form.ids.iter().map(i64::to_string).collect(),
    };
    let restored = documents::restore(state.context(), &who.actor(), &restoration).await?;
    let result = |id: i64| {
        let mut problems = restored.problems.iter();
        match problems.find(|problem| problem.document == id.to_string()) {
            Some(problem) => (id, Err(Refusal::conflict(problem.reason.clone()))),
            None => (id, Ok(())),
        }
    };
    let results: Vec<_> = form.ids.into_iter().map(result).collect();
    bulk_done("/documents/trash", WORDS, "restored", results)
}

const WORDS: [&str; 2] = ["document", "documents"];
const KINDS: [(&str, &str); 3] = [("", "all"), ("true", "takedown"), ("false", "cleaning")];
const FILES: [(&str, &str); 3] = [("", "all"), ("true", "in the trash"), ("false", "gone")];
const FIELDS: [&str; 11] = [
    "id",
    "url",
    "member",
    "host",
    "media_type",
    "size",
    "removed",
    "removed_by",
    "reason",
    "takedown",
    "restorable",
];
