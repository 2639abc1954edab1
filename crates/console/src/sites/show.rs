//! `GET /sites/{id}`: a site with its items, changes, harvesters and errors, and why a URL is offered or not.

use askama::Template;
use axum::extract::State;
use jiff::Timestamp;
use operations::sites::{self, Explanation, SiteClients, SiteReport};
use serde::Deserialize;

use crate::dress::page;
use crate::extract::{Path, Query};
use crate::filters;
use crate::parts::{Bar, Chart, Errors, Link};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "site.html")]
struct SitePage {
    who: Who,
    report: SiteReport,
    changes: Option<Chart>,
    clients: SiteClients,
    /// The URL that is explained.
    url: String,
    explanation: Option<Explanation>,
    errors: Errors,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    url: String,
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<u64>,
    Query(asked): Query<Asked>,
) -> Answer {
    let context = state.context();
    let report = sites::show(context, id).await?;
    // Addresses of clients are for those who run the site.
    let clients = match who.can_operate() {
        true => sites::clients(context, id).await?,
        false => SiteClients::default(),
    };
    let mut errors = Errors::default();
    let explanation = match asked.url.is_empty() || !who.can_operate() {
        true => None,
        false => match sites::explain(context, id, &asked.url).await {
            Ok(explanation) => Some(explanation),
            Err(refusal) if refusal.is_mistake() => {
                errors = Errors::of_form(refusal)?;
                None
            }
            Err(refusal) => return Err(refusal.into()),
        },
    };
    page(&SitePage {
        changes: changes(&report),
        url: asked.url,
        who,
        report,
        clients,
        explanation,
        errors,
    })
}

/// Changes by day, those of items that are gone marked.
fn changes(report: &SiteReport) -> Option<Chart> {
    report
        .days
        .iter()
        .find(|day| day.changed + day.deleted > 0)?;
    let bars = report.days.iter().map(|day| {
        let date = Timestamp::from_second(day.day.0).unwrap_or(Timestamp::UNIX_EPOCH);
        let label = date.strftime("%Y-%m-%d").to_string();
        let gone = match day.deleted {
            0 => String::new(),
            gone => format!(
                ", of which {} are gone",
                filters::grouped(&gone.to_string())
            ),
        };
        Bar {
            short: date.strftime("%-d %b").to_string(),
            label: format!("{label}{gone}"),
            value: day.changed + day.deleted,
            failed: 0,
            is_stacked: false,
            link: listed(report, &label),
        }
    });
    Some(Chart {
        title: "Changed items".to_owned(),
        bars: bars.collect(),
        is_size: false,
        parts: 5,
    })
}

/// The repository's own list of what changed on a day.
fn listed(report: &SiteReport, day: &str) -> Link {
    let base_url = report.site.base_url.clone().unwrap_or_default();
    Link::to(base_url)
        .with("verb", "ListIdentifiers")
        .with("metadataPrefix", "oai_dc")
        .with("from", day)
        .with("until", day)
}
