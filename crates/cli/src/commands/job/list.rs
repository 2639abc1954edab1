//! `garner job list`: jobs, a line each.

use std::io::Write;
use std::process::ExitCode;

use catalog::{JobKind, JobQuery, JobState};
use clap::Args;
use operations::Time;
use operations::jobs::{self, Job};

use super::show::progress;
use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::operating::Operating;
use crate::output::{default_limit, to_stdout, write_json};
use crate::table::{Cell, Column, Table, say_rest};

/// List the jobs that run and those that wait
#[derive(Debug, Args)]
pub(super) struct List {
    /// Those that are over too
    #[arg(long)]
    all: bool,
    /// Only those in these states: scheduled, running, finished, failed or cancelled; can be given several times
    #[arg(long, value_name = "STATE", value_parser = state, conflicts_with = "all")]
    state: Vec<JobState>,
    /// Only those of this repository: its base URL or its number
    #[arg(long, value_name = "URL|NUMBER")]
    repository: Option<String>,
    /// Only those of the schedule with this number
    #[arg(long, value_name = "NUMBER")]
    schedule: Option<i64>,
    /// At most N [default: 100 on a terminal, all with --json or in a pipe]
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

impl List {
    /// Tells that there is no job, and how to see others.
    fn none(&self) -> &'static str {
        match (self.all, &self.state[..]) {
            (true, _) => "there is no job of this kind",
            (false, []) => {
                "no job waits or runs; garner job list --all shows those that are over, too"
            }
            _ => "no job is in this state; garner job list --all shows all",
        }
    }

    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let operating = Operating::open(&self.holdings)?;
        let repository = self.repository.as_deref();
        let repository = repository.map(|name| operating.holdings.repository(name));
        let states = match (self.all, self.state.is_empty()) {
            (true, _) => Vec::new(),
            (false, true) => vec![JobState::Running, JobState::Scheduled],
            (false, false) => self.state.clone(),
        };
        let query = JobQuery {
            states,
            repository: repository.transpose()?.map(|repository| repository.id),
            schedule: self.schedule,
            limit: self.limit.unwrap_or_else(|| default_limit(self.json)),
            ..JobQuery::default()
        };
        let listed = operating.wait(jobs::list(&operating.context, &query))?;
        let (has_more, jobs) = (listed.next.is_some(), listed.items);
        if jobs.is_empty() {
            eprintln!("{}", self.none());
        }
        to_stdout(|out| {
            let mut table = Table::to_stdout(&COLUMNS);
            for job in &jobs {
                match self.json {
                    true => write_json(out, job)?,
                    false => table.row(out, cells(job))?,
                }
            }
            table.finish(out)?;
            out.flush()?;
            if !self.json {
                say_rest(jobs.len() as u64, listed.total, has_more, "--limit N");
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

const COLUMNS: [Column; 5] = [
    Column::number("no."),
    Column::word("state"),
    Column::word("when").dispensable(1),
    Column::text("what", 16),
    Column::text("progress or reason", 16).dispensable(2),
];

fn cells(job: &Job) -> Vec<Cell> {
    vec![
        job.id.into(),
        Cell::state(job.state.name()),
        Cell::time(Some(at(job))),
        what(job).into(),
        said(job).join("; ").into(),
    ]
}

fn at(job: &Job) -> Time {
    match job.state {
        JobState::Scheduled => job.run_at,
        JobState::Running => job.started.unwrap_or(job.run_at),
        _ => job.finished.unwrap_or(job.run_at),
    }
}

fn what(job: &Job) -> String {
    let mut what = job.kind.name().to_owned();
    if let Some(url) = &job.base_url {
        what.push_str(&format!(" {url} {}", job.metadata_prefix));
    }
    if job.kind == JobKind::Import {
        let paths = job.parameters["paths"].as_array();
        let paths = paths.into_iter().flatten().chain([&job.parameters["log"]]);
        for path in paths.filter_map(|path| path.as_str()) {
            what.push_str(&format!(" {path}"));
        }
    }
    if let Some(set) = &job.set {
        what.push_str(&format!(" {set}"));
    }
    what
}

fn said(job: &Job) -> Vec<String> {
    let why = job.why.as_ref().map(|why| why.text.clone());
    let said = match job.state {
        JobState::Running => [progress(job), why],
        JobState::Scheduled => [why, None],
        _ => [job.error.clone(), None],
    };
    said.into_iter().flatten().collect()
}

fn state(name: &str) -> Result<JobState, String> {
    let states = JobState::ALL.map(JobState::name).join(", ");
    JobState::parse(name).ok_or_else(|| format!("write one of {states}"))
}
