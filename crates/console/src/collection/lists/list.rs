//! `GET /lists`: blacklists and whitelists.

use axum::extract::State;
use catalog::ListKind;
use operations::Listed;
use operations::lists::{self, ListsQuery, UrlList};

use crate::extract::Query;
use crate::parts::Typed;
use crate::parts::table::{Around, Cell, Column, Filter, Filters, Table, View};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::Viewer;

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(asked): Query<Typed>,
) -> Answer {
    let filters = Filters::new(asked)
        .with(Filter::search("Name", ""))
        .with(Filter::choice("kind", "Kind", KINDS));
    let around = Around {
        title: "Blacklists and whitelists",
        crumbs: vec![("Documents".to_owned(), "/documents".to_owned())],
        actions: match who.can_operate() {
            true => ADD.to_vec(),
            false => Vec::new(),
        },
        ..Around::default()
    };
    let kind = ListKind::parse(filters.get("kind"));
    let text = filters.get("text").to_lowercase();
    let table = Table::new("/lists", ["list", "lists"], filters)
        .column(
            Column::new("name", "Name", |row: &UrlList| {
                Cell::link(format!("/lists/{}", row.id), Cell::text(&row.name))
            })
            .row_heading()
            .breaking(),
        )
        .column(Column::new("kind", "Kind", |row: &UrlList| {
            Cell::text(row.kind.name())
        }))
        .column(
            Column::new("entries", "Entries", |row: &UrlList| {
                Cell::Number(row.entries)
            })
            .number(),
        )
        .column(Column::new("changed", "Changed", |row: &UrlList| {
            Cell::Time(row.changed.0)
        }))
        .column(Column::new("changed_by", "By", |row: &UrlList| {
            Cell::of(row.changed_by.clone(), Cell::Text, "–")
        }))
        .fields(&[
            "id",
            "kind",
            "name",
            "entries",
            "version",
            "changed",
            "changed_by",
        ])
        .empty("No lists yet.", None);
    let read = move |view: View| {
        let (state, text) = (state.clone(), text.clone());
        async move {
            let mut all = lists::list(state.context(), ListsQuery { kind }).await?;
            all.retain(|list| list.name.to_lowercase().contains(&text));
            let total = all.len() as u64;
            let place = usize::try_from(view.offset.unwrap_or(0)).unwrap_or(usize::MAX);
            let limit = usize::try_from(view.limit.unwrap_or(100)).unwrap_or(usize::MAX);
            let next = place.saturating_add(limit);
            Ok(Listed {
                next: (next < all.len()).then(|| i64::try_from(next).unwrap_or(i64::MAX)),
                items: all.into_iter().skip(place).take(limit).collect(),
                total: Some(total),
                ..Listed::none()
            })
        }
    };
    table.answer(who, around, read).await
}

const KINDS: [(&str, &str); 3] = [
    ("", "all"),
    ("blacklist", "blacklists"),
    ("whitelist", "whitelists"),
];
const ADD: [(&str, &str); 2] = [
    ("Add blacklist", "/lists/new?kind=blacklist"),
    ("Add whitelist", "/lists/new?kind=whitelist"),
];
