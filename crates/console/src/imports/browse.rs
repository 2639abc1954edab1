//! `GET /imports/browse`: files of the machine that may be imported, to pick from.

use askama::Template;
use axum::extract::State;
use operations::imports::{self, SourceDirectory, SourceFile};
use serde::Deserialize;

use crate::dress::page;
use crate::extract::Query;
use crate::filters;
use crate::parts::Link;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Parameters {
    path: String,
}

#[derive(Template)]
#[template(path = "import_browse.html")]
struct BrowsePage {
    who: Who,
    directory: SourceDirectory,
}

impl BrowsePage {
    fn inside(&self, file: &SourceFile) -> Link {
        Link::to("/imports/browse").with("path", &file.path)
    }
}

pub(crate) async fn show(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    let directory = imports::browse(state.context(), &who.actor(), Some(&parameters.path)).await?;
    page(&BrowsePage { who, directory })
}
