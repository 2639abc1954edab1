//! `GET /history.csv`: the harvests of the list, all pages of it, for spreadsheets.

use axum::extract::State;

use crate::extract::Query;
use crate::history::{self, HistoryFilter};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::Viewer;

pub(crate) async fn download(
    Viewer(_): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<HistoryFilter>,
) -> Answer {
    let (query, errors) = filter.query(1);
    errors.into_problem()?;
    Ok(history::csv(&state, query))
}
