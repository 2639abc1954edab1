//! `GET /documents`: the documents of the collection, filtered.

use axum::extract::State;
use operations::documents::{
    self, Correction, Decision, Document, DocumentFilter, DocumentSort, DocumentState, NewStates,
};

use crate::extract::{Form, Query};
use crate::parts::Typed;
use crate::parts::table::{
    Around, Bulk, BulkForm, Cell, Column, Filter, Filters, Table, View, bulk_done,
};
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer, Who};

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(asked): Query<Typed>,
) -> Answer {
    let mut filters = Filters::new(asked)
        .with(Filter::search("Search", "a part of the URL"))
        .with(Filter::text("host", "Host", "www.example.org"))
        .with(Filter::text(
            "media_type",
            "Media type",
            "application/pdf or image/*",
        ))
        .with(Filter::choice("decision", "Decision", DECISIONS))
        .with(Filter::choice("kind", "Kind", super::correct::kinds("all")))
        .with(Filter::text("language", "Language", "en"))
        .with(Filter::choice("state", "Search index", STATES))
        .with(Filter::date("since", "Crawled since"))
        .with(Filter::date("until", "Crawled until"))
        .with_kept("import", |id| {
            format!("Only documents that import {id} brought.")
        })
        .with_kept("parent", |_| {
            "Only documents that one page links to.".to_owned()
        })
        .with_kept("near", |_| {
            "Only documents whose texts say nearly the same.".to_owned()
        })
        .with_kept("content", |_| {
            "Only documents with the same content.".to_owned()
        });
    let filter = DocumentFilter {
        text: filters.given("text"),
        host: filters.given("host"),
        media_type: filters.given("media_type"),
        state: DocumentState::parse(filters.get("state")),
        since: filters.since("since"),
        until: filters.until("until"),
        decision: filters.given("decision"),
        kind: filters.given("kind"),
        language: filters.given("language"),
        near: filters.number("near"),
        parent: filters.number("parent"),
        content: filters.number("content"),
        import: filters.number("import"),
        ..DocumentFilter::default()
    };
    let around = Around {
        title: "Documents",
        actions: {
            let mut actions = vec![
                ("Search texts", "/documents/search"),
                ("Review", "/documents/review"),
                ("Statistics", "/documents/statistics"),
            ];
            if who.can_operate() {
                actions.push(RETRIEVE);
            }
            actions.extend(PLACES);
            actions
        },
        ..Around::default()
    };
    let table = table(filters, &who);
    let read = move |view: View| {
        let state = state.clone();
        let filter = DocumentFilter {
            sort: view.sort.as_deref().and_then(DocumentSort::parse),
            descending: view.sort.as_ref().and(view.descending),
            count: view.count,
            after: view.page,
            limit: view.limit,
            ..filter.clone()
        };
        async move { documents::list(state.context(), &filter).await }
    };
    table.answer(who, around, read).await
}

fn table(filters: Filters, who: &Who) -> Table<Document> {
    let mut bulk = Vec::new();
    if who.can_operate() {
        bulk = BULK
            .map(|(action, label)| Bulk::post("/documents/bulk", action, label))
            .to_vec();
    }
    Table::new("/documents", WORDS, filters)
        .by_row()
        .column(
            Column::new("title", "Document", name)
                .row_heading()
                .breaking()
                .smallest_first(),
        )
        .column(
            Column::new("host", "Host", |row: &Document| {
                Cell::Host(row.host.clone())
            })
            .breaking()
            .smallest_first(),
        )
        .column(Column::new("kind", "Kind", kind).smallest_first())
        .column(Column::new("decision", "Decision", decision))
        .column(
            Column::new("type", "Media type", |row: &Document| {
                Cell::code(&row.media_type)
            })
            .breaking()
            .smallest_first(),
        )
        .column(
            Column::new("size", "Size", |row: &Document| Cell::Bytes(row.size))
                .number()
                .largest_first(),
        )
        .column(
            Column::new("updated", "Crawled", |row: &Document| {
                Cell::Time(row.update_date.0)
            })
            .largest_first(),
        )
        .column(Column::new("state", "Search index", state).smallest_first())
        .bulk(|row| row.id, bulk)
        .fields(&FIELDS)
        .empty(
            "The collection is empty.",
            Some(("Import a crawl", "/imports/new")),
        )
}

fn kind(row: &Document) -> Cell {
    let words = |kind: &String| Cell::text(kind.replace('_', " "));
    Cell::of(row.kind.as_ref(), words, "unknown")
}

fn state(row: &Document) -> Cell {
    let words = STATES.iter().find(|(name, _)| *name == row.state.name());
    Cell::text(words.map_or(row.state.name(), |(_, words)| *words))
}

fn name(row: &Document) -> Cell {
    let name = Cell::link(format!("/documents/{}", row.id), Cell::text(&row.title));
    let name = name.above(Some(Cell::note(Cell::text(&row.url))));
    let member = row.member.as_ref();
    name.above(member.map(|member| Cell::note(Cell::code(member))))
}

fn decision(row: &Document) -> Cell {
    let Some(decision) = &row.decision else {
        return Cell::None("none");
    };
    let state = match decision.as_str() {
        "accept" => Cell::badge("accepted"),
        "reject" => Cell::badge("rejected"),
        other => Cell::text(other),
    };
    let is_corrected = row
        .judgement
        .as_ref()
        .is_some_and(|judgement| judgement.corrected.is_some());
    let score = row
        .probability
        .map(|probability| format!("score {probability:.2}"));
    let note = if is_corrected {
        Some("corrected".to_owned())
    } else {
        score
    };
    state.above(note.map(|note| Cell::note(Cell::Text(note))))
}

/// `POST /documents/bulk`
pub(crate) async fn bulk(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(form): Form<BulkForm>,
) -> Answer {
    let (context, actor) = (state.context(), who.actor());
    let (decision, participle) = match form.action.as_str() {
        "accept" => (Some(Decision::Accept), "accepted"),
        "reject" => (Some(Decision::Reject), "rejected"),
        "ingested" => (None, "marked as ingested"),
        "not_ingested" => (None, "marked as not ingested"),
        _ => {
            return Err(Problem::invalid(
                "choose what to do: accept, reject, ingested or not_ingested",
            ));
        }
    };
    let mut results = Vec::with_capacity(form.ids.len());
    for id in form.ids {
        let result = match decision {
            Some(decision) => {
                let correction = Correction {
                    decision: Some(decision),
                    kind: None,
                };
                documents::correct(context, &actor, id, &correction)
                    .await
                    .map(drop)
            }
            None => {
                let new = NewStates {
                    documents: vec![id],
                    state: DocumentState::parse(&form.action).unwrap_or(DocumentState::NotIngested),
                };
                documents::set_state(context, &actor, &new).await.map(drop)
            }
        };
        results.push((id, result));
    }
    bulk_done("/documents", WORDS, participle, results)
}

/// The states in the search engine that ingests documents, to choose from.
pub(super) const STATES: [(&str, &str); 5] = [
    ("", "all"),
    ("not_ingested", "not ingested"),
    ("ingested", "ingested"),
    ("failed", "failed"),
    ("set_aside", "set aside"),
];
const RETRIEVE: (&str, &str) = ("Retrieve…", "/retrieve");
/// Other pages that act on documents.
const PLACES: [(&str, &str); 2] = [
    ("Clean…", "/documents/clean"),
    ("Removed documents", "/documents/trash"),
];
/// The decisions, to choose from.
const DECISIONS: [(&str, &str); 4] = [
    ("", "all"),
    ("accept", "accept"),
    ("unsure", "unsure"),
    ("reject", "reject"),
];
const WORDS: [&str; 2] = ["document", "documents"];
const BULK: [(&str, &str); 3] = [
    ("accept", "Accept"),
    ("reject", "Reject"),
    ("ingested", "Mark as ingested"),
];
const FIELDS: [&str; 18] = [
    "id",
    "title",
    "language",
    "url",
    "member",
    "host",
    "media_type",
    "size",
    "kind",
    "decision",
    "probability",
    "state",
    "discover_date",
    "update_date",
    "crawl_date",
    "parent_url",
    "content_sha256",
    "import",
];
