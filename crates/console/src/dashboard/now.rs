//! The part of the overview that is kept up to date: what needs attention, runs and comes up, and totals.

use askama::Template;
use askama::filters::HtmlSafe;
use catalog::{JobKind, Role};
use operations::alerts::{self, FiringAlert};
use operations::jobs::Job;
use operations::overview::{self, Overview};

use super::health::HealthBar;
use crate::filters;
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::Who;

#[derive(Template)]
#[template(path = "dashboard_now.html")]
pub(super) struct Now {
    can_operate: bool,
    /// Whether the page System is open to the account.
    is_admin: bool,
    /// The end of the addresses of its buttons.
    back: &'static str,
    pub(super) overview: Overview,
    alerts: Vec<FiringAlert>,
    health: HealthBar,
}

impl HtmlSafe for Now {}

impl Now {
    pub(super) async fn new(state: &ConsoleState, who: &Who) -> Result<Self, Problem> {
        let overview = overview::show(state.context()).await?;
        let alerts = alerts::firing(state.context()).await?;
        Ok(Self {
            alerts,
            can_operate: who.can_operate(),
            is_admin: who.role >= Role::Admin,
            back: "?back=/",
            health: HealthBar::new(&overview.statistics.health),
            overview,
        })
    }

    /// The name of the repository of a job, or its kind.
    fn title<'a>(&self, job: &'a Job) -> &'a str {
        let name = job
            .repository_name
            .as_deref()
            .filter(|name| !name.is_empty());
        name.or(job.base_url.as_deref()).unwrap_or(match job.kind {
            JobKind::Import => "Import",
            JobKind::Classify => "Classification",
            kind => kind.name(),
        })
    }

    /// The work of a job.
    fn work(&self, job: &Job) -> String {
        match (job.kind, &job.set) {
            (JobKind::Harvest, None) => format!("harvest of {}", job.metadata_prefix),
            (JobKind::Harvest, Some(set)) => {
                format!("harvest of {}, set {set}", job.metadata_prefix)
            }
            (JobKind::Hook, _) => "hook after a harvest".to_owned(),
            (JobKind::Import, _) => "import of a crawl".to_owned(),
            (JobKind::Classify, _) => "documents of the collection".to_owned(),
            (JobKind::Retrieve, _) => "retrieval of documents".to_owned(),
            (JobKind::Feed, _) => "search engine".to_owned(),
            (JobKind::Clean, _) => "cleaning of the collection".to_owned(),
            (JobKind::Quiet, _) => "quiet time".to_owned(),
        }
    }

    /// The status in a line, for those who hear the page.
    fn announcement(&self) -> String {
        let attention = &self.overview.attention;
        let problems = attention.failures.groups.len() + attention.stuck.len() + self.alerts.len();
        let (running, overdue) = (self.overview.queue.running, attention.overdue);
        let problems = counted(problems as u64, "problem", "problems");
        let running = counted(running, "active run", "active runs");
        format!("{problems}, {running}, {overdue} overdue")
    }

    /// How full the disk is, in hundredths.
    fn disk_used(&self) -> u64 {
        let used = |disk: overview::Disk| (disk.size - disk.free.min(disk.size)) * 100;
        let disk = self.overview.disk.filter(|disk| disk.size > 0);
        disk.map_or(0, |disk| used(disk) / disk.size)
    }

    /// How many jobs can run at once.
    fn threads(&self) -> u64 {
        self.overview
            .workers
            .iter()
            .map(|worker| worker.threads)
            .sum()
    }
}

fn counted(number: u64, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        number => format!("{number} {many}"),
    }
}
