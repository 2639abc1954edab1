//! `GET /help`: the documentation, from the program itself.

mod pages;
mod render;

use askama::Template;
use askama::filters::Safe;
use axum::extract::State;

pub(crate) use self::pages::page_for;
use self::pages::{HelpPage, PAGES, page};
use crate::dress;
use crate::extract::Path;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "help.html")]
struct Help {
    who: Who,
    /// The page that is shown.
    current: &'static HelpPage,
    /// All pages by their sections.
    sections: Vec<(&'static str, Vec<&'static HelpPage>)>,
    html: Safe<String>,
}

/// `GET /help`
pub(crate) async fn start(viewer: Viewer, state: State<ConsoleState>) -> Answer {
    show(viewer, state, Path("README".to_owned())).await
}

/// `GET /help/{page}`, such as `/help/guides/harvest`
pub(crate) async fn show(
    Viewer(who): Viewer,
    State(_state): State<ConsoleState>,
    Path(name): Path<String>,
) -> Answer {
    let current = page(&name).ok_or_else(|| Problem::not_found("there is no such help page"))?;
    dress::page(&Help {
        who,
        html: Safe(render::html(current)),
        sections: sections(),
        current,
    })
}

fn sections() -> Vec<(&'static str, Vec<&'static HelpPage>)> {
    let mut sections: Vec<(&'static str, Vec<_>)> = Vec::new();
    for page in PAGES {
        match sections.last_mut() {
            Some((name, pages)) if *name == page.section() => pages.push(page),
            _ => sections.push((page.section(), vec![page])),
        }
    }
    sections
}
