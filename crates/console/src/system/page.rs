//! `/system`: workers, versions, settings, disks and programs, and what is wrong.

use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::State;
use operations::system::{self, SystemReport, WorkerFacts};

use crate::dress::{done, page};
use crate::filters;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Admin, Who};

#[derive(Template)]
#[template(path = "system.html")]
struct SystemPage {
    who: Who,
    live: Live,
}

/// The part of the page that is kept up to date.
#[derive(Template)]
#[template(path = "system_live.html")]
struct Live {
    report: SystemReport,
}

impl HtmlSafe for Live {}

impl Live {
    async fn new(state: &ConsoleState, who: &Who) -> Result<Self, Problem> {
        let report = system::glance(state.context(), &who.actor()).await?;
        Ok(Self { report })
    }

    /// How many findings have a state.
    fn count(&self, state: &str) -> usize {
        let checks = self.report.checks.iter();
        checks.filter(|check| check.state == state).count()
    }

    /// The badge of a finding.
    fn badge(&self, state: &str) -> &'static str {
        match state {
            "ok" => "ok",
            "warning" => "warning",
            _ => "failed",
        }
    }

    /// The kinds of jobs that workers run.
    fn kinds(&self, worker: &WorkerFacts) -> String {
        let kinds: Vec<_> = worker.kinds.iter().map(|kind| kind.name()).collect();
        kinds.join(", ")
    }

    /// The name of the workers, without process and machine.
    fn name<'a>(&self, worker: &'a WorkerFacts) -> &'a str {
        worker.name.split(" (").next().unwrap_or_default()
    }

    /// Whether the workers belong to another version than this console.
    fn is_other(&self, worker: &WorkerFacts) -> bool {
        worker.version.as_deref() != Some(self.report.version.as_str())
    }
}

/// `GET /system`
pub(crate) async fn show(Admin(who): Admin, State(state): State<ConsoleState>) -> Answer {
    let live = Live::new(&state, &who).await?;
    page(&SystemPage { who, live })
}

/// `GET /system/live`
pub(crate) async fn live(Admin(who): Admin, State(state): State<ConsoleState>) -> Answer {
    page(&Live::new(&state, &who).await?)
}

/// `POST /system/check`: looks for what is wrong now.
pub(crate) async fn check(Admin(who): Admin, State(state): State<ConsoleState>) -> Answer {
    let report = system::check(state.context(), &who.actor()).await?;
    let found = report.checks.iter();
    let wrong = found.filter(|check| check.state != "ok").count();
    let message = match wrong {
        0 => "Checked: nothing is wrong.".to_owned(),
        1 => "Checked: 1 finding.".to_owned(),
        wrong => format!("Checked: {wrong} findings."),
    };
    Ok(done("/system", message))
}
