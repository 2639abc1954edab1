//! Addresses of earlier versions: jobs, the history and imports are runs now.

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse as _, Redirect};
use operations::runs;

use crate::extract::Path;
use crate::parts::Link;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::Viewer;

/// `GET /jobs`
pub(crate) async fn jobs(Viewer(_who): Viewer) -> Answer {
    Ok(Redirect::to("/runs").into_response())
}

/// `GET /jobs/ended`
pub(crate) async fn ended(Viewer(_who): Viewer, RawQuery(query): RawQuery) -> Answer {
    Ok(to_list(query.as_deref(), ""))
}

/// `GET /jobs/{id}`
pub(crate) async fn job(Viewer(_who): Viewer, Path(id): Path<i64>) -> Answer {
    Ok(Redirect::to(&format!("/runs/{id}")).into_response())
}

/// `GET /history`
pub(crate) async fn history(Viewer(_who): Viewer, RawQuery(query): RawQuery) -> Answer {
    Ok(to_list(query.as_deref(), "harvest"))
}

/// `GET /history/{id}`
pub(crate) async fn harvest(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let run = runs::of_harvest(state.context(), id).await?;
    Ok(Redirect::to(&format!("/runs/{run}")).into_response())
}

/// `GET /imports/{id}`
pub(crate) async fn import(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let run = runs::of_import(state.context(), id).await?;
    Ok(Redirect::to(&format!("/runs/{run}")).into_response())
}

/// The list with the filters that it has still.
fn to_list(query: Option<&str>, kind: &str) -> axum::response::Response {
    let arguments = oai::Arguments::parse(query.unwrap_or_default());
    let mut link = Link::to("/runs/all").with("kind", kind);
    for name in [
        "state",
        "kind",
        "repository",
        "schedule",
        "since",
        "until",
        "text",
    ] {
        if let Some(value) = arguments.get(name) {
            let value = if value == "finished" { "ok" } else { value };
            link = link.with(name, value);
        }
    }
    Redirect::to(&link.to_string()).into_response()
}
