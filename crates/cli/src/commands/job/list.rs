//! `garner job list`: jobs, a line each.

use std::io::Write;
use std::process::ExitCode;

use catalog::{Job, JobKind, JobQuery, JobState};
use clap::Args;
use jobs::ImportCrawl;

use super::show::{JobJson, progress};
use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{to_stdout, write_json};
use crate::text::{columns, date, plain, shortened};

/// List the jobs that run and those that wait
#[derive(Debug, Args)]
pub(super) struct List {
    /// Those that are over too
    #[arg(long)]
    all: bool,
    /// Only those that stand so: scheduled, running, finished, failed or cancelled; can be given several times
    #[arg(long, value_name = "STATE", value_parser = state, conflicts_with = "all")]
    state: Vec<JobState>,
    /// Only those of this repository: its base URL or its number
    #[arg(long, value_name = "URL|NUMBER")]
    repository: Option<String>,
    /// Only those of the schedule with this number
    #[arg(long, value_name = "NUMBER")]
    schedule: Option<i64>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u64,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.holdings.open()?;
        let repository = self.repository.as_deref();
        let repository = repository
            .map(|name| holdings.repository(name))
            .transpose()?;
        let states = match (self.all, self.state.is_empty()) {
            (true, _) => Vec::new(),
            (false, true) => vec![JobState::Running, JobState::Scheduled],
            (false, false) => self.state.clone(),
        };
        let query = JobQuery {
            states,
            repository: repository.map(|repository| repository.id),
            schedule: self.schedule,
            limit: self.limit,
            ..JobQuery::default()
        };
        let jobs = holdings.wait(holdings.catalog().jobs(&query))?;
        if jobs.is_empty() {
            eprintln!("there is no such job; garner job list --all shows those that are over too");
        }
        to_stdout(|out| {
            for (at, job) in jobs.iter().enumerate() {
                if self.json {
                    write_json(out, &JobJson::new(job, None))?;
                    continue;
                }
                if at == 0 {
                    writeln!(out, " no.  state      at                    what")?;
                }
                writeln!(out, "{}", line(job))?;
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn line(job: &Job) -> String {
    let at = match job.state {
        JobState::Scheduled => job.run_at,
        JobState::Running => job.started.unwrap_or(job.run_at),
        _ => job.finished.unwrap_or(job.run_at),
    };
    let line = format!("{:>4}  {:<9}  {}  ", job.id, job.state.name(), date(at));
    let mut what = job.kind.name().to_owned();
    if let Some(url) = &job.base_url {
        what.push_str(&format!(" {url} {}", job.metadata_prefix));
    }
    if let (JobKind::Import, Ok(order)) = (job.kind, ImportCrawl::parse(&job.parameters)) {
        for path in order.paths.iter().chain(&order.log) {
            what.push_str(&format!(" {}", path.display()));
        }
    }
    if let Some(set) = &job.set {
        what.push_str(&format!(" {set}"));
    }
    let said = match job.state {
        JobState::Running => progress(job),
        _ => job.error.clone(),
    };
    if let Some(said) = said {
        what = format!("{}: {said}", what.trim_end());
    }
    let what = plain(what.trim_end()).to_string();
    match columns() {
        Some(columns) => line.clone() + &shortened(&what, columns.saturating_sub(line.len())),
        None => line + &what,
    }
}

fn state(name: &str) -> Result<JobState, String> {
    let states = JobState::ALL.map(JobState::name).join(", ");
    JobState::parse(name).ok_or_else(|| format!("write one of {states}"))
}
