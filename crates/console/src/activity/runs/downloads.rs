//! The parts of a run as files: everything about it, its log and its problems, whole and not in pages.

use std::future::Future;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use operations::runs::{self, ProblemFilter};
use operations::{Listed, MAX_LIMIT, Refusal};
use serde::Serialize;

use crate::extract::Path;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::stream;
use crate::who::Viewer;

/// `GET /runs/{id}/run.json`
pub(crate) async fn run(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let run = runs::show(state.context(), id).await?;
    let response = axum::Json(run).into_response();
    Ok(attached(
        response,
        &format!("run-{id}.json"),
        "application/json",
    ))
}

/// `GET /runs/{id}/log.jsonl`
pub(crate) async fn log(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    runs::show(state.context(), id).await?;
    let response = lines(move |after| {
        let state = state.clone();
        async move { runs::log(state.context(), id, after, MAX_LIMIT).await }
    });
    Ok(attached(
        response,
        &format!("run-{id}-log.jsonl"),
        "application/jsonl",
    ))
}

/// `GET /runs/{id}/problems.jsonl`
pub(crate) async fn problems(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    runs::show(state.context(), id).await?;
    let response = lines(move |after| {
        let state = state.clone();
        let filter = ProblemFilter {
            after: Some(after),
            limit: Some(MAX_LIMIT),
            ..ProblemFilter::default()
        };
        async move { runs::problems(state.context(), id, &filter).await }
    });
    Ok(attached(
        response,
        &format!("run-{id}-problems.jsonl"),
        "application/jsonl",
    ))
}

/// All rows that `read` gives behind a number, an object a line, sent while they are read.
fn lines<R, F, L>(read: F) -> Response
where
    R: Serialize + Send + 'static,
    F: Fn(i64) -> L + Send + 'static,
    L: Future<Output = Result<Listed<R>, Refusal>> + Send,
{
    let (sender, body) = stream::body();
    tokio::spawn(async move {
        let mut after = 0;
        loop {
            let page = match read(after).await {
                Ok(page) => page,
                Err(refusal) => {
                    tracing::error!("a download breaks off: {refusal}");
                    let error = std::io::Error::other("the catalog does not answer");
                    let _ = sender.send(Err(error)).await;
                    return;
                }
            };
            let mut text = String::new();
            for row in &page.items {
                let Ok(line) = serde_json::to_string(row) else {
                    continue;
                };
                text.push_str(&line);
                text.push('\n');
            }
            if !text.is_empty() && sender.send(Ok(Bytes::from(text))).await.is_err() {
                return;
            }
            match page.next {
                Some(next) => after = next,
                None => return,
            }
        }
    });
    Response::new(body)
}

/// The same as a file of this name.
fn attached(mut response: Response, name: &str, kind: &'static str) -> Response {
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Ok(name) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(CONTENT_DISPOSITION, name);
    }
    response
}
