//! `GET /documents/search`: documents by their words, the best first, with the passages that have them.

use askama::Template;
use axum::extract::State;
use operations::documents::{self, DocumentFilter, DocumentSearch, Facets, Found};
use operations::{Code, Refusal};
use serde::Deserialize;

use crate::dress::page;
use crate::extract::Query;
use crate::filters;
use crate::parts::{Link, Pager};
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
    pager: Pager,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SearchForm {
    query: String,
    offset: Option<u64>,
}

impl SearchPage {
    /// The search for the documents of one value of a facet too; none for what the query names already.
    fn narrowed(&self, facet: &str, value: &str) -> Option<Link> {
        let field = match facet {
            "year" => return None,
            facet => facet,
        };
        if self.query.contains(&format!("{field}:")) {
            return None;
        }
        let query = format!("{} {field}:{value}", self.query);
        Some(Link::to("/documents/search").with("query", query))
    }
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(form): Query<SearchForm>,
) -> Answer {
    let filter = DocumentFilter::default();
    let search = DocumentSearch {
        query: form.query.clone(),
        offset: form.offset,
        limit: Some(PAGE),
    };
    let (mut found, mut facets, mut mistake) = (None, Facets::default(), None);
    if !form.query.trim().is_empty() {
        match documents::search(state.context(), &search, &filter).await {
            Ok(answer) => {
                found = Some(answer);
                facets = documents::facets(state.context(), Some(&form.query), &filter).await?;
            }
            Err(refusal) => mistake = Some(said(refusal)?),
        }
    }
    let link = Link::to("/documents/search").with("query", &form.query);
    let offset = form.offset.unwrap_or(0);
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
        query: form.query,
        found,
        facets,
        mistake,
        pager,
    })
}

/// What is wrong with the query; all else is a problem of its own.
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
