//! `GET /documents/search`: documents by their words, the best first, with the passages that have them.

use askama::Template;
use axum::extract::State;
use operations::documents::{
    self, DocumentFilter, DocumentSearch, DocumentSearchSort, Facets, Found, FoundDocument,
};
use operations::{Code, Listed, Refusal};

use super::words;
use crate::dress::page;
use crate::extract::Query;
use crate::filters;
use crate::parts::table::{Around, Filters, Table, View};
use crate::parts::{Link, Pager, Typed};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "document_search.html")]
struct SearchPage {
    who: Who,
    query: String,
    found: Option<Found>,
    facets: Facets,
    /// Why the query cannot be understood.
    mistake: Option<String>,
    sort: DocumentSearchSort,
    pager: Pager,
}

impl SearchPage {
    /// The search for the documents of one value of a facet too; none for what the query names already.
    fn narrowed(&self, facet: &str, value: &str) -> Option<Link> {
        if self.query.contains(&format!("{facet}:")) {
            return None;
        }
        let query = format!("{} {facet}:{value}", self.query);
        Some(Link::to("/documents/search").with("query", query))
    }

    /// The same search in another order; none for the one that it has.
    fn sorts(&self) -> Vec<(&'static str, Option<Link>)> {
        let link = Link::to("/documents/search").with("query", &self.query);
        let sorts = SORTS.iter().map(|(sort, words)| {
            let is_other = *sort != self.sort;
            (
                *words,
                is_other.then(|| link.clone().with("sort", sort.name())),
            )
        });
        sorts.collect()
    }

    /// The whole result as a file.
    fn export(&self, format: &str) -> Link {
        let link = Link::to("/documents/search").with("query", &self.query);
        let sort = match self.sort {
            DocumentSearchSort::Rank => "",
            sort => sort.name(),
        };
        link.with("sort", sort).with("format", format)
    }
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(asked): Query<Typed>,
) -> Answer {
    let filter = DocumentFilter::default();
    let query = asked.get("query").to_owned();
    let offset: u64 = asked.get("offset").parse().unwrap_or(0);
    let sort = DocumentSearchSort::parse(asked.get("sort")).unwrap_or(DocumentSearchSort::Rank);
    let search = DocumentSearch {
        query: query.clone(),
        sort: Some(sort),
        offset: Some(offset),
        limit: Some(PAGE),
    };
    let (mut found, mut facets, mut mistake) = (None, Facets::default(), None);
    if !query.trim().is_empty() {
        match documents::search(state.context(), &search, &filter).await {
            Ok(_) if !asked.get("format").is_empty() => {
                return export(who, state, asked, search).await;
            }
            Ok(answer) => {
                found = Some(answer);
                facets = documents::facets(state.context(), Some(&query), &filter).await?;
            }
            Err(refusal) => mistake = Some(said(refusal)?),
        }
    }
    let link = Link::to("/documents/search")
        .with("query", &query)
        .with("sort", asked.get("sort"));
    let pager = Pager {
        previous: (offset > 0).then(|| {
            let before = offset.saturating_sub(PAGE);
            link.clone().with("offset", before)
        }),
        next: found
            .as_ref()
            .and_then(|found| found.next)
            .map(|next| link.clone().with("offset", next)),
    };
    page(&SearchPage {
        who,
        query,
        found,
        facets,
        mistake,
        sort,
        pager,
    })
}

/// The whole result, as CSV or JSON.
async fn export(who: Who, state: ConsoleState, asked: Typed, search: DocumentSearch) -> Answer {
    let table = Table::<FoundDocument>::new("/documents/search", WORDS, Filters::new(asked));
    let read = move |view: View| {
        let state = state.clone();
        let search = DocumentSearch {
            offset: view.offset,
            limit: view.limit,
            ..search.clone()
        };
        async move {
            let filter = DocumentFilter::default();
            let found = documents::search(state.context(), &search, &filter).await?;
            Ok(Listed {
                next: found.next,
                items: found.items,
                ..Listed::none()
            })
        }
    };
    table
        .fields(&FIELDS)
        .answer(who, Around::default(), read)
        .await
}

/// The mistake in the query; any other refusal is a problem of its own.
fn said(refusal: Refusal) -> Result<String, Refusal> {
    match refusal.code {
        Code::Invalid => Ok(refusal
            .mistakes
            .first()
            .map_or_else(String::new, |mistake| mistake.reason.clone())),
        _ => Err(refusal),
    }
}

const PAGE: u64 = 20;
const WORDS: [&str; 2] = ["document", "documents"];
const SORTS: [(DocumentSearchSort, &str); 4] = [
    (DocumentSearchSort::Rank, "best match"),
    (DocumentSearchSort::Newest, "newest"),
    (DocumentSearchSort::Title, "title"),
    (DocumentSearchSort::Host, "host"),
];
const FIELDS: [&str; 14] = [
    "id",
    "score",
    "title",
    "url",
    "member",
    "host",
    "media_type",
    "size",
    "kind",
    "decision",
    "language",
    "state",
    "update_date",
    "content_sha256",
];
