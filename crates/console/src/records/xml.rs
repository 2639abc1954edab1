//! `GET /records/{id}/xml`: the file of a record, to be kept. `GET /records/{id}/source`: the same, to be read.
//!
//! Browsers would show XML from here as a page of the console, with whatever a record brings along. So the one is an
//! attachment and the other plain text.

use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use operations::records;

use crate::extract::Path;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::stream;
use crate::who::Viewer;

pub(crate) async fn download(
    Viewer(_): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    attachment(&state, id).await
}

pub(crate) async fn source(
    Viewer(_): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let body = body(&state, id).await?;
    Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], body).into_response())
}

/// The file as an attachment.
pub(crate) async fn attachment(state: &ConsoleState, id: i64) -> Result<Response, Problem> {
    let body = body(state, id).await?;
    let name = format!("attachment; filename=\"record-{id}.xml\"");
    let headers = [
        (CONTENT_TYPE, "application/xml".to_owned()),
        (CONTENT_DISPOSITION, name),
    ];
    Ok((headers, body).into_response())
}

async fn body(state: &ConsoleState, id: i64) -> Result<axum::body::Body, Problem> {
    let file = records::xml(state.context(), id).await?;
    let turn = state.turn_to_download().await?;
    let opened = state.blocking(move |_| file.open()).await??;
    Ok(stream::of(opened, turn))
}
