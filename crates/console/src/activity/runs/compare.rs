//! `GET /runs/compare?id=3&id=7`: two harvests side by side.

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse as _, Redirect};
use operations::harvests::{self, Comparison, Harvest};
use operations::runs;

use crate::dress::page;
use crate::filters;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "compare.html")]
struct Compare {
    who: Who,
    comparison: Comparison,
    runs: [i64; 2],
}

impl Compare {
    fn pair(&self) -> [(i64, &Harvest); 2] {
        [
            (self.runs[0], &self.comparison.one),
            (self.runs[1], &self.comparison.other),
        ]
    }
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    RawQuery(query): RawQuery,
) -> Answer {
    let [one, other] = two(query.as_deref())?;
    let context = state.context();
    // The older one first, so that the page shows what changed.
    let mut found = Vec::new();
    for id in [one.min(other), one.max(other)] {
        let harvest = runs::show(context, id).await?.harvest;
        found.push(harvest.ok_or_else(|| {
            Problem::invalid(format!("run {id} is no harvest; choose two harvests"))
        })?);
    }
    let comparison = harvests::compare(context, found[0].id, found[1].id).await?;
    page(&Compare {
        who,
        comparison,
        runs: [one.min(other), one.max(other)],
    })
}

/// `GET /history/compare?id=3&id=7`, by the numbers of harvests
pub(crate) async fn by_harvests(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    RawQuery(query): RawQuery,
) -> Answer {
    let [one, other] = two(query.as_deref())?;
    let one = runs::of_harvest(state.context(), one).await?;
    let other = runs::of_harvest(state.context(), other).await?;
    let link = format!("/runs/compare?id={one}&id={other}");
    Ok(Redirect::to(&link).into_response())
}

fn two(query: Option<&str>) -> Result<[i64; 2], Problem> {
    let ids = chosen(query);
    <[i64; 2]>::try_from(ids).map_err(|ids: Vec<i64>| {
        let chosen = match ids.len() {
            1 => "1 is".to_owned(),
            number => format!("{number} are"),
        };
        Problem::invalid(format!("choose two harvests to compare; {chosen} chosen"))
    })
}

/// The numbers of what was ticked in a list, each once.
pub(crate) fn chosen(query: Option<&str>) -> Vec<i64> {
    let arguments = oai::Arguments::parse(query.unwrap_or_default());
    let mut ids: Vec<i64> = arguments
        .values("id")
        .filter_map(|id| id.parse().ok())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ticked_is_chosen_once() {
        assert_eq!(chosen(Some("id=7&x=1&id=3&id=7&id=none")), [3, 7]);
        assert!(chosen(None).is_empty());
    }
}
