//! `GET /imports/{id}`: what an import counted, how far its sources are, and what it skipped.

use askama::Template;
use axum::extract::State;
use catalog::{ImportEntry, ImportWarning};

use crate::dress::page;
use crate::extract::Path;
use crate::filters;
use crate::imports::{WARNINGS_AT_ONCE, counted, import};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "import.html")]
struct ImportPage {
    who: Who,
    import: ImportEntry,
    counters: Vec<(String, u64)>,
    skipped: Vec<ImportWarning>,
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let import = import(&state, id).await?;
    let skipped = state.catalog().import_warnings(id, 0, WARNINGS_AT_ONCE);
    let skipped = skipped.await?.into_iter().map(|(_, warning)| warning);
    page(&ImportPage {
        who,
        counters: counted(&import.counters),
        skipped: skipped.collect(),
        import,
    })
}
