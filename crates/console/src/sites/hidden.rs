//! `GET /sites/{id}/hidden`: the files that are not offered, by reason.

use askama::Template;
use axum::extract::State;
use operations::sites::{self, HiddenFiles, Site};

use crate::dress::page;
use crate::extract::Path;
use crate::filters;
use crate::parts::Link;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Operator, Who};

#[derive(Template)]
#[template(path = "site_hidden.html")]
struct HiddenPage {
    who: Who,
    site: Site,
    hidden: HiddenFiles,
}

impl HiddenPage {
    /// Where a hidden file is explained.
    fn explanation(&self, url: &str) -> Link {
        Link::to(format!("/sites/{}", self.site.id)).with("url", url)
    }
}

pub(crate) async fn show(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<u64>,
) -> Answer {
    let site = sites::show(state.context(), id).await?.site;
    let hidden = sites::hidden(state.context(), id).await?;
    page(&HiddenPage { who, site, hidden })
}
