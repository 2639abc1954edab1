//! First steps: three doors, each ticked off once it is gone through, until somebody hides them.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse as _, Redirect};
use operations::overview::Overview;

use crate::cookies::{Cookies, Name};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

/// The first steps of somebody who has just begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FirstSteps {
    /// Whether a site is exposed.
    pub(super) site: bool,
    /// Whether a repository is known.
    pub(super) repository: bool,
    /// Whether one was harvested.
    pub(super) harvest: bool,
    /// Whether a crawl was imported.
    pub(super) import: bool,
    /// Whether they are shown.
    pub(super) is_shown: bool,
    pub(super) can_operate: bool,
}

impl FirstSteps {
    pub(super) fn new(
        overview: &Overview,
        who: &Who,
        cookies: Cookies,
        headers: &HeaderMap,
    ) -> Self {
        let mut steps = Self {
            site: !overview.sites.is_empty(),
            repository: overview.statistics.repositories > 0,
            harvest: overview.statistics.harvests > 0,
            import: overview.collection.imports > 0,
            is_shown: false,
            can_operate: who.can_operate(),
        };
        let is_hidden = cookies.read(headers, Name::FirstSteps).is_some();
        steps.is_shown = steps.done() < ALL && !is_hidden;
        steps
    }

    /// How many of them are done.
    pub(super) fn done(&self) -> usize {
        [self.site, self.harvest, self.import]
            .into_iter()
            .filter(|is_done| *is_done)
            .count()
    }

    /// Whether somebody has only just begun.
    pub(super) fn is_new(&self) -> bool {
        !self.harvest && !self.import
    }
}

/// `POST /first-steps/hide`
pub(crate) async fn hide(Viewer(_who): Viewer, State(state): State<ConsoleState>) -> Answer {
    let mut response = Redirect::to("/").into_response();
    if let Some(cookie) = state.cookies().set(Name::FirstSteps, "hidden", A_YEAR) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}

const ALL: usize = 3;
const A_YEAR: u64 = 365 * 24 * 60 * 60;
