//! `garner job show`: all of one job, and its log as it happens.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use catalog::{JobKind, JobState, LogLevel};
use clap::Args;
use operations::jobs::{self, Job, JobActivity, LogLine};

use super::Chosen;
use crate::commands::operating::Operating;
use crate::human::{moment, number};
use crate::output::{Out, field, to_stdout, write_json};
use crate::text::{bytes, plain};

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
        let operating = Operating::open(&self.chosen.holdings)?;
        let id = self.chosen.number;
        let known = operating.wait(jobs::show(&operating.context, id))?;
        if self.follow {
            return to_stdout(|out| follow(&operating, id, self.chosen.json, out));
        }
        let lines = operating.wait(jobs::log(&operating.context, id, 0, ALL))?;
        show(&known, &lines.items, self.chosen.json)
    }
}

/// Prints a job, with its log for people; `garner job log` has that for programs.
pub(crate) fn show(job: &Job, lines: &[LogLine], json: bool) -> anyhow::Result<ExitCode> {
    to_stdout(|out| {
        match json {
            true => write_json(out, job)?,
            false => describe(out, job, lines)?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// How far a job is, in words.
pub(super) fn progress(job: &Job) -> Option<String> {
    let Job {
        done, total, note, ..
    } = job;
    if let (0, Some(note)) = (done, note) {
        return Some(note.clone());
    }
    if job.kind == JobKind::Import {
        let read = match total {
            Some(total) => format!("{} of {}", bytes(*done), bytes(*total)),
            None if *done == 0 => return None,
            None => bytes(*done),
        };
        let note = note.iter().map(|note| format!("; {note}"));
        return Some(read + &note.collect::<String>());
    }
    let unit = match job.kind {
        JobKind::Import => "bytes",
        JobKind::Classify | JobKind::Clean | JobKind::Retrieve | JobKind::Feed => "documents",
        JobKind::Harvest | JobKind::Hook | JobKind::Quiet => "records",
    };
    let records = match total {
        Some(total) => format!("{} of {} {unit}", number(*done), number(*total)),
        None if *done == 0 => return None,
        None => format!("{} {unit}", number(*done)),
    };
    match note {
        Some(note) => Some(format!("{records}; {note}")),
        None => Some(records),
    }
}

/// Prints lines of the log as they come; in JSON one object a line, the job itself last.
fn follow(operating: &Operating, id: i64, json: bool, out: &mut Out) -> anyhow::Result<ExitCode> {
    let context = &operating.context;
    let mut after = 0;
    loop {
        // The job first: what is written between the two is printed in any case.
        let now = operating.wait(jobs::show(context, id))?;
        for line in operating.wait(jobs::log(context, id, after, 1000))?.items {
            after = line.id;
            match json {
                true => write_json(out, &line)?,
                false => log_line(out, &line)?,
            }
        }
        out.flush()?;
        if now.state.is_over() {
            if json {
                write_json(out, &now)?;
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
        "requested by",
        job.created_by.as_deref().unwrap_or_default(),
    )?;
    field(out, "due", &moment(Some(job.run_at)))?;
    field(out, "started", &moment(job.started))?;
    field(out, "ended", &moment(job.finished))?;
    if job.attempt > 0 {
        let attempt = format!("{} of {}", job.attempt, job.max_attempts);
        field(out, "attempt", &attempt)?;
    }
    field(out, "worker", job.worker.as_deref().unwrap_or_default())?;
    field(out, "progress", &progress(job).unwrap_or_default())?;
    let why = job.why.as_ref().map(|why| why.text.as_str());
    field(out, "why", why.unwrap_or_default())?;
    let request = job
        .activity
        .as_ref()
        .and_then(JobActivity::request_in_words);
    field(out, "request", &request.unwrap_or_default())?;
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

pub(crate) fn log_line(out: &mut impl Write, line: &LogLine) -> io::Result<()> {
    let level = match line.level {
        LogLevel::Info => "",
        LogLevel::Warning => "warning: ",
        LogLevel::Error => "error: ",
    };
    writeln!(out, "{}  {level}{}", line.at, plain(&line.message))
}

const PAUSE: Duration = Duration::from_millis(500);
/// All lines of a log.
pub(super) const ALL: u64 = u64::MAX >> 2;
