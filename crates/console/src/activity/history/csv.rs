//! `GET /history.csv`: the harvests of the list, all pages of it, for spreadsheets.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use operations::MAX_LIMIT;
use operations::harvests::{self, CSV_HEAD, HarvestFilter, csv_line};

use super::HistoryFilter;
use crate::extract::Query;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::stream;
use crate::who::Viewer;

pub(crate) async fn download(
    Viewer(_): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<HistoryFilter>,
) -> Answer {
    let (filter, errors) = filter.parse();
    errors.into_problem()?;
    Ok(csv(&state, filter))
}

/// All harvests that `filter` selects, sent while they are read.
pub(super) fn csv(state: &ConsoleState, mut filter: HarvestFilter) -> Response {
    let (sender, body) = stream::body();
    let state = state.clone();
    (filter.before, filter.limit) = (None, Some(MAX_LIMIT));
    tokio::spawn(async move {
        let mut text = CSV_HEAD.to_owned();
        loop {
            let page = match harvests::list(state.context(), &filter).await {
                Ok(page) => page,
                Err(refusal) => {
                    tracing::error!("the history as CSV breaks off: {refusal}");
                    let error = std::io::Error::other("the catalog does not answer");
                    let _ = sender.send(Err(error)).await;
                    return;
                }
            };
            text.extend(page.items.iter().map(csv_line));
            let part = Bytes::from(std::mem::take(&mut text));
            if sender.send(Ok(part)).await.is_err() || page.next.is_none() {
                return;
            }
            filter.before = page.next;
        }
    });
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8"),
        (
            CONTENT_DISPOSITION,
            "attachment; filename=\"garner-history.csv\"",
        ),
    ];
    (headers, body).into_response()
}
