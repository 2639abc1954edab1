//! `GET /history/compare?id=3&id=7`: two harvests side by side.

use askama::Template;
use axum::extract::{RawQuery, State};
use operations::harvests::{self, Comparison, Harvest};

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
}

impl Compare {
    fn pair(&self) -> [&Harvest; 2] {
        [&self.comparison.one, &self.comparison.other]
    }
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    RawQuery(query): RawQuery,
) -> Answer {
    let ids = chosen(query.as_deref());
    let &[one, other] = ids.as_slice() else {
        return Err(Problem::invalid(format!(
            "select two harvests to compare; {} are selected",
            ids.len()
        )));
    };
    // The older one first, so that the page shows what changed.
    let (older, newer) = (one.min(other), one.max(other));
    let comparison = harvests::compare(state.context(), older, newer).await?;
    page(&Compare { who, comparison })
}

/// The numbers of what was ticked in a list, each once.
pub(super) fn chosen(query: Option<&str>) -> Vec<i64> {
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
