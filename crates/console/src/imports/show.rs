//! `GET /imports/{id}`: one import with its counters, sources and warnings.

use askama::Template;
use axum::extract::State;
use operations::harvests::WarningFilter;
use operations::imports::{Import, ImportWarning};

use crate::dress::page;
use crate::extract::Path;
use crate::filters;
use crate::imports::counted;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "import.html")]
struct ImportPage {
    who: Who,
    import: Import,
    counters: Vec<(String, u64)>,
    skipped: Vec<ImportWarning>,
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let import = operations::imports::show(state.context(), id).await?;
    let filter = WarningFilter {
        limit: Some(operations::MAX_LIMIT),
        ..WarningFilter::default()
    };
    let skipped = operations::imports::warnings(state.context(), id, &filter).await?;
    page(&ImportPage {
        who,
        counters: counted(&import.counters),
        skipped: skipped.items,
        import,
    })
}
