//! `GET /history/compare?id=3&id=7`: two harvests side by side.

use askama::Template;
use axum::extract::{RawQuery, State};
use catalog::HistoryEntry;

use crate::dress::page;
use crate::filters;
use crate::history::{Comparison, entry};
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "compare.html")]
struct Compare {
    who: Who,
    entries: [HistoryEntry; 2],
    comparison: Comparison,
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    RawQuery(query): RawQuery,
) -> Answer {
    let ids = chosen(query.as_deref());
    let &[one, other] = ids.as_slice() else {
        return Err(Problem::invalid(format!(
            "choose two harvests to compare; {} are chosen",
            ids.len()
        )));
    };
    // The older one first: so what is told is what changed.
    let one_first = entry(&state, one.min(other)).await?;
    let entries = [one_first, entry(&state, one.max(other)).await?];
    page(&Compare {
        who,
        comparison: Comparison::new(&entries[0], &entries[1]),
        entries,
    })
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
