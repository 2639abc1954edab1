//! `GET /documents/statistics`: figures on the collection, or on the documents of one import, as charts and tables.

use askama::Template;
use axum::extract::State;
use operations::statistics::{self, CollectionFilter, CollectionStatistics, DocumentCount};

use super::words;
use crate::dress::page;
use crate::extract::Query;
use crate::filters;
use crate::parts::{Bar, Chart, Link};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "document_statistics.html")]
struct StatisticsPage {
    who: Who,
    import: Option<i64>,
    figures: CollectionStatistics,
    /// Documents by the month or the year of their last crawl.
    over_time: Option<Chart>,
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
        table("Year of the last crawl", "year", &figures.years),
        table("Host", "host", &figures.hosts),
        table("Kind", "kind", &figures.kinds),
        table("Decision", "decision", &figures.decisions),
        table("State", "state", &figures.states),
        table("Language", "language", &figures.languages),
        table(
            "Declared and real media type",
            "declared",
            &figures.declared,
        ),
    ];
    page(&StatisticsPage {
        who,
        import,
        over_time: over_time(&figures, import),
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
        let link = (!count.value.is_empty()).then(|| documents(field, &count.value, import));
        CountedRow {
            value: match count.value.as_str() {
                "" => "none".to_owned(),
                value => words::value(field, value),
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

/// The list of the documents with a value.
fn documents(field: &'static str, value: &str, import: Option<i64>) -> Link {
    let link = Link::to("/documents").with_some("import", import);
    match field {
        "year" => link
            .with("since", format!("{value}-01-01"))
            .with("until", format!("{value}-12-31")),
        "month" => link
            .with("since", format!("{value}-01"))
            .with("until", format!("{value}-{:02}", days_of(value))),
        "declared" => {
            let real = value.rsplit(" → ").next().unwrap_or_default();
            link.with("media_type", real)
        }
        field => link.with(field, value),
    }
}

/// The days of a month such as `2011-06`.
fn days_of(month: &str) -> u32 {
    let (year, month) = month.split_once('-').unwrap_or((month, ""));
    let year: u32 = year.parse().unwrap_or_default();
    match month {
        "04" | "06" | "09" | "11" => 30,
        "02" if year.is_multiple_of(4)
            && (!year.is_multiple_of(100) || year.is_multiple_of(400)) =>
        {
            29
        }
        "02" => 28,
        _ => 31,
    }
}

/// Documents over time, with the months or years between them that have none.
fn over_time(figures: &CollectionStatistics, import: Option<i64>) -> Option<Chart> {
    let (first, last) = (figures.months.first()?, figures.months.last()?);
    let number = |month: &str| {
        let (year, month) = month.split_once('-')?;
        Some(year.parse::<i64>().ok()? * 12 + month.parse::<i64>().ok()? - 1)
    };
    let months = number(&first.value)?..=number(&last.value)?;
    let is_short = months.end() - months.start() < MOST_MONTHS;
    let (field, counts) = match is_short {
        true => ("month", &figures.months),
        false => ("year", &figures.years),
    };
    let values: Vec<String> = match is_short {
        true => months
            .map(|month| {
                format!(
                    "{:04}-{:02}",
                    month.div_euclid(12),
                    month.rem_euclid(12) + 1
                )
            })
            .collect(),
        false => (months.start() / 12..=months.end() / 12)
            .rev()
            .take(MOST_YEARS)
            .map(|year| format!("{year:04}"))
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect(),
    };
    let bars = values.into_iter().map(|value| {
        let count = counts.iter().find(|count| count.value == value);
        Bar {
            link: documents(field, &value, import),
            value: count.map_or(0, |count| count.documents),
            short: value.clone(),
            label: value,
            failed: 0,
            is_stacked: false,
        }
    });
    let bars: Vec<_> = bars.collect();
    Some(Chart {
        title: format!("Documents by the {field} of the last crawl"),
        parts: if bars.len() < 4 { 1 } else { 4 },
        bars,
        is_size: false,
    })
}

/// Months that are shown one by one.
const MOST_MONTHS: i64 = 48;
const MOST_YEARS: usize = 100;
/// Values of a table that are shown; the API gives all.
const MOST: usize = 15;
