//! `GET /`: what runs, what failed, what is next.

use askama::Template;

use crate::dress::page;
use crate::problem::Answer;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "dashboard.html")]
struct Dashboard {
    who: Who,
}

pub(crate) async fn show(Viewer(who): Viewer) -> Answer {
    page(&Dashboard { who })
}
