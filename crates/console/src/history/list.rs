//! `GET /history`: all harvests, or those that are looked for.

use askama::Template;
use axum::extract::State;
use jobs::Retention;
use operations::harvests::{self, Harvest, HarvestFilter};

use crate::dress::page;
use crate::extract::Query;
use crate::filters;
use crate::history::HistoryFilter;
use crate::parts::{Errors, Link, Pager};
use crate::problem::Answer;
use crate::repositories::choices::repository_choices;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "history.html")]
struct History {
    who: Who,
    filter: HistoryFilter,
    repositories: Vec<(String, String)>,
    rows: Vec<Harvest>,
    pager: Pager,
    csv: Link,
    retention: String,
    errors: Errors,
}

impl History {
    /// The name of the repository of a row.
    fn repository<'a>(&'a self, row: &'a Harvest) -> &'a str {
        let id = row.repository.to_string();
        let known = self.repositories.iter().find(|(number, _)| *number == id);
        known.map_or(row.base_url.as_str(), |(_, name)| name.as_str())
    }
}

/// The states, to choose from.
pub(crate) const STATES: [(&str, &str); 5] = [
    ("", "all"),
    ("ok", "ok"),
    ("incomplete", "incomplete"),
    ("failed", "failed"),
    ("running", "running"),
];

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<HistoryFilter>,
) -> Answer {
    let (parsed, errors) = filter.parse();
    let (before, limit) = (parsed.before, Some(PAGE));
    let (rows, next) = match errors.is_empty() {
        true => {
            let parsed = HarvestFilter { limit, ..parsed };
            let page = harvests::list(state.context(), &parsed).await?;
            (page.items, page.next)
        }
        false => (Vec::new(), None),
    };
    page(&History {
        who,
        repositories: repository_choices(&state, "all").await?,
        pager: Pager::by_position(&filter.link("/history"), before, next),
        csv: filter.link("/history.csv"),
        retention: retention(state.config().retention),
        rows,
        filter,
        errors,
    })
}

/// How long entries are kept, as it is configured.
fn retention(retention: Retention) -> String {
    match retention.history_days {
        None => "Entries are kept until somebody removes them; the configuration can set history.keep_days.".to_owned(),
        Some(days) => format!(
            "Entries that ended more than {days} days ago are removed automatically, except those that the next harvests continue from."
        ),
    }
}

const PAGE: u64 = 50;
