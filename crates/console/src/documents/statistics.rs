//! `GET /documents/statistics`: figures on the collection, or on the documents of one import, as charts and tables.

use askama::Template;
use axum::extract::State;
use operations::statistics::{self, CollectionFilter, CollectionStatistics, DocumentCount};

use crate::dress::page;
use crate::extract::Query;
use crate::filters;
use crate::parts::Link;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "document_statistics.html")]
struct StatisticsPage {
    who: Who,
    import: Option<i64>,
    figures: CollectionStatistics,
    tables: Vec<Counted>,
}

/// Values with their documents, the most frequent first.
struct Counted {
    title: &'static str,
    rows: Vec<CountedRow>,
    /// Values that are left off.
    others: usize,
}

struct CountedRow {
    value: String,
    link: Option<Link>,
    documents: u64,
    /// Of the most frequent, in hundredths, for the bar.
    share: u64,
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<CollectionFilter>,
) -> Answer {
    let figures = statistics::collection(state.context(), &filter).await?;
    let import = filter.import;
    let table = |title, field: &'static str, counts: &[DocumentCount]| {
        counted(title, field, counts, import)
    };
    let tables = vec![
        table("Media type", "media_type", &figures.types),
        table("Year of the last crawl", "", &figures.years),
        table("Host", "host", &figures.hosts),
        table("Kind", "kind", &figures.kinds),
        table("Decision", "decision", &figures.decisions),
        table("State", "state", &figures.states),
        table("Language", "language", &figures.languages),
        table("Declared and real media type", "", &figures.declared),
    ];
    page(&StatisticsPage {
        who,
        import,
        tables,
        figures,
    })
}

fn counted(
    title: &'static str,
    field: &'static str,
    counts: &[DocumentCount],
    import: Option<i64>,
) -> Counted {
    let most = counts
        .iter()
        .map(|count| count.documents)
        .max()
        .unwrap_or(1)
        .max(1);
    let row = |count: &DocumentCount| {
        let has_link = !field.is_empty() && !count.value.is_empty() && field != "language";
        let link = has_link.then(|| {
            Link::to("/documents")
                .with(field, &count.value)
                .with_some("import", import)
        });
        CountedRow {
            value: if count.value.is_empty() {
                "none".to_owned()
            } else {
                count.value.clone()
            },
            link,
            documents: count.documents,
            share: (count.documents * 100).div_ceil(most),
        }
    };
    Counted {
        title,
        rows: counts.iter().take(MOST).map(row).collect(),
        others: counts.len().saturating_sub(MOST),
    }
}

/// Values of a table that are shown; the API gives all.
const MOST: usize = 15;
