//! `GET /sites`: the sites that this process exposes.

use askama::Template;
use axum::extract::State;
use operations::sites::{self, Site};

use crate::dress::page;
use crate::filters;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "sites.html")]
struct SitesPage {
    who: Who,
    sites: Vec<Site>,
}

pub(crate) async fn list(Viewer(who): Viewer, State(state): State<ConsoleState>) -> Answer {
    let sites = sites::list(state.context()).await?;
    page(&SitesPage { who, sites })
}
