//! `garner job show`: all of one job, and its log as it happens.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use catalog::{Job, JobKind, JobProgress, JobState, LogLevel, LogLine};
use clap::Args;
use jobs::Holdings;
use serde::Serialize;
use serde_json::Value;

use super::{Chosen, job};
use crate::output::{Out, field, to_stdout, write_json};
use crate::text::{date, plain};

/// Show all of a job, with its log
///
/// With --follow its log is printed as it happens, until the job is over. Exits then with 0 if it is finished, and with 1
/// if it failed or was cancelled.
#[derive(Debug, Args)]
pub(super) struct Show {
    #[command(flatten)]
    chosen: Chosen,
    /// Go on until the job is over
    #[arg(long, short)]
    follow: bool,
}

impl Show {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.chosen.holdings.open()?;
        let known = job(&holdings, self.chosen.number)?;
        if self.follow {
            return to_stdout(|out| follow(&holdings, &known, self.chosen.json, out));
        }
        let lines = holdings.wait(holdings.catalog().job_log(known.id, 0, u64::MAX >> 1))?;
        show(&known, &lines, self.chosen.json)
    }
}

/// Prints a job and its log.
pub(crate) fn show(job: &Job, lines: &[LogLine], json: bool) -> anyhow::Result<ExitCode> {
    to_stdout(|out| {
        match json {
            true => write_json(out, &JobJson::new(job, Some(lines)))?,
            false => describe(out, job, lines)?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// How far a job is, in words.
pub(super) fn progress(job: &Job) -> Option<String> {
    let JobProgress { done, total, note } = &job.progress;
    if let (0, Some(note)) = (done, note) {
        return Some(note.clone());
    }
    let unit = match job.kind {
        JobKind::Import => "bytes",
        JobKind::Classify => "documents",
        JobKind::Harvest | JobKind::Hook | JobKind::Quiet => "records",
    };
    let records = match total {
        Some(total) => format!("{done} of {total} {unit}"),
        None if *done == 0 => return None,
        None => format!("{done} {unit}"),
    };
    match note {
        Some(note) => Some(format!("{records}; {note}")),
        None => Some(records),
    }
}

/// Prints lines of the log as they come; in JSON one object a line, the job itself last.
fn follow(holdings: &Holdings, known: &Job, json: bool, out: &mut Out) -> anyhow::Result<ExitCode> {
    let catalog = holdings.catalog();
    let mut after = 0;
    loop {
        // The job first: what is written between the two is printed in any case.
        let now = job(holdings, known.id)?;
        for line in holdings.wait(catalog.job_log(known.id, after, 1000))? {
            after = line.id;
            match json {
                true => write_json(out, &LineJson::new(&line))?,
                false => log_line(out, &line)?,
            }
        }
        out.flush()?;
        if now.state.is_over() {
            if json {
                write_json(out, &JobJson::new(&now, None))?;
            }
            return Ok(match now.state {
                JobState::Finished => ExitCode::SUCCESS,
                _ => ExitCode::FAILURE,
            });
        }
        std::thread::sleep(PAUSE);
    }
}

fn describe(out: &mut impl Write, job: &Job, lines: &[LogLine]) -> io::Result<()> {
    writeln!(
        out,
        "job {}: {}, {}",
        job.id,
        job.kind.name(),
        job.state.name()
    )?;
    field(
        out,
        "repository",
        job.base_url.as_deref().unwrap_or_default(),
    )?;
    field(out, "format", &job.metadata_prefix)?;
    field(out, "set", job.set.as_deref().unwrap_or_default())?;
    let schedule = job.schedule.map(|schedule| schedule.to_string());
    field(out, "schedule", schedule.as_deref().unwrap_or_default())?;
    field(
        out,
        "wanted by",
        job.created_by.as_deref().unwrap_or_default(),
    )?;
    field(out, "due", &date(job.run_at))?;
    field(out, "started", &job.started.map(date).unwrap_or_default())?;
    field(out, "ended", &job.finished.map(date).unwrap_or_default())?;
    if job.attempt > 0 {
        let attempt = format!("{} of {}", job.attempt, job.max_attempts);
        field(out, "attempt", &attempt)?;
    }
    field(out, "worker", job.worker.as_deref().unwrap_or_default())?;
    field(out, "progress", &progress(job).unwrap_or_default())?;
    field(out, "reason", job.error.as_deref().unwrap_or_default())?;
    let import = job
        .import
        .map(|id| format!("{id} (garner history --imports {id})"));
    field(out, "import", import.as_deref().unwrap_or_default())?;
    let harvest = job.harvest.map(|id| format!("{id} (garner history {id})"));
    field(out, "harvest", harvest.as_deref().unwrap_or_default())?;
    if !lines.is_empty() {
        writeln!(out)?;
    }
    lines.iter().try_for_each(|line| log_line(out, line))
}

fn log_line(out: &mut impl Write, line: &LogLine) -> io::Result<()> {
    let level = match line.level {
        LogLevel::Info => "",
        LogLevel::Warning => "warning: ",
        LogLevel::Error => "error: ",
    };
    writeln!(out, "{}  {level}{}", date(line.at), plain(&line.message))
}

/// A job as JSON: dates as dates, and what is JSON already as what it is.
#[derive(Serialize)]
pub(super) struct JobJson<'a> {
    id: i64,
    kind: JobKind,
    state: JobState,
    repository: Option<i64>,
    base_url: Option<&'a str>,
    schedule: Option<i64>,
    metadata_prefix: &'a str,
    set: Option<&'a str>,
    parameters: Value,
    run_at: String,
    attempt: i64,
    max_attempts: i64,
    worker: Option<&'a str>,
    cancel_requested: bool,
    progress: &'a JobProgress,
    error: Option<&'a str>,
    created: String,
    created_by: Option<&'a str>,
    started: Option<String>,
    finished: Option<String>,
    harvest: Option<i64>,
    import: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<Vec<LineJson<'a>>>,
}

#[derive(Serialize)]
struct LineJson<'a> {
    at: String,
    level: LogLevel,
    message: &'a str,
}

impl<'a> JobJson<'a> {
    /// The job, with its log if that is given.
    pub(super) fn new(job: &'a Job, log: Option<&'a [LogLine]>) -> Self {
        Self {
            id: job.id,
            kind: job.kind,
            state: job.state,
            repository: job.repository,
            base_url: job.base_url.as_deref(),
            schedule: job.schedule,
            metadata_prefix: &job.metadata_prefix,
            set: job.set.as_deref(),
            parameters: serde_json::from_str(&job.parameters).unwrap_or_default(),
            run_at: date(job.run_at),
            attempt: job.attempt,
            max_attempts: job.max_attempts,
            worker: job.worker.as_deref(),
            cancel_requested: job.cancel_requested,
            progress: &job.progress,
            error: job.error.as_deref(),
            created: date(job.created),
            created_by: job.created_by.as_deref(),
            started: job.started.map(date),
            finished: job.finished.map(date),
            harvest: job.harvest,
            import: job.import,
            log: log.map(|lines| lines.iter().map(LineJson::new).collect()),
        }
    }
}

impl<'a> LineJson<'a> {
    fn new(line: &'a LogLine) -> Self {
        Self {
            at: date(line.at),
            level: line.level,
            message: &line.message,
        }
    }
}

const PAUSE: Duration = Duration::from_millis(500);
