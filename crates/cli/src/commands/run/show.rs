//! `garner run show`: all of one run; `garner run problems`: what it skipped, repaired or lost.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use operations::jobs::JobActivity;
use operations::runs::{self, Problem, ProblemFilter, Run};

use super::Chosen;
use crate::commands::job::log_line;
use crate::commands::operating::Operating;
use crate::commands::paging::each_row;
use crate::human::{moment, number};
use crate::output::{field, to_stdout, write_json};
use crate::text::{duration, plain};

/// Show all of a run: its state and reason, what became of everything that came, its settings and its log
#[derive(Debug, Args)]
pub(super) struct Show {
    #[command(flatten)]
    chosen: Chosen,
}

/// Print what a run skipped, repaired or lost
#[derive(Debug, Args)]
pub(super) struct Problems {
    #[command(flatten)]
    chosen: Chosen,
}

impl Show {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let operating = Operating::open(&self.chosen.holdings)?;
        let (context, id) = (&operating.context, self.chosen.number);
        let run = operating.wait(runs::show(context, id))?;
        to_stdout(|out| {
            if self.chosen.json {
                write_json(out, &run)?;
                return Ok(ExitCode::SUCCESS);
            }
            describe(out, &run)?;
            let lines = operating.wait(runs::log(context, run.id, 0, u64::MAX >> 2))?;
            if !lines.items.is_empty() {
                writeln!(out)?;
            }
            lines
                .items
                .iter()
                .try_for_each(|line| log_line(out, line))?;
            Ok(ExitCode::SUCCESS)
        })
    }
}

impl Problems {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let operating = Operating::open(&self.chosen.holdings)?;
        let (context, id) = (&operating.context, self.chosen.number);
        let page = |after, limit| {
            let filter = ProblemFilter {
                after,
                limit,
                ..ProblemFilter::default()
            };
            context.wait(runs::problems(context, id, &filter))
        };
        to_stdout(|out| {
            each_row(u64::MAX, page, |problem: Problem| {
                if self.chosen.json {
                    return Ok(write_json(out, &problem)?);
                }
                let subject = problem.subject.or(problem.file);
                let subject = subject
                    .map(|subject| format!("{subject}: "))
                    .unwrap_or_default();
                Ok(writeln!(
                    out,
                    "{}{}",
                    plain(&subject),
                    plain(&problem.reason)
                )?)
            })?;
            Ok(ExitCode::SUCCESS)
        })
    }
}

/// Prints a run for people.
pub(super) fn describe(out: &mut impl Write, run: &Run) -> io::Result<()> {
    writeln!(
        out,
        "run {}: {}, {}",
        run.id,
        run.kind.name(),
        run.state.name()
    )?;
    field(out, "about", &run.title)?;
    field(out, "what", &run.what)?;
    field(out, "reason", run.reason.as_deref().unwrap_or_default())?;
    field(out, "due", &moment(run.due))?;
    field(out, "started", &moment(run.started))?;
    let took = run.seconds(0).filter(|_| run.state.is_over()).map(duration);
    let took = took
        .map(|took| format!(", after {took}"))
        .unwrap_or_default();
    let ended = run
        .ended
        .map(|ended| format!("{}{took}", moment(Some(ended))));
    field(out, "ended", &ended.unwrap_or_default())?;
    if let Some(job) = &run.job {
        field(
            out,
            "attempt",
            &format!("{} of {}", job.attempt, job.max_attempts),
        )?;
        field(out, "worker", job.worker.as_deref().unwrap_or_default())?;
        field(
            out,
            "requested by",
            job.created_by.as_deref().unwrap_or_default(),
        )?;
        let request = job
            .activity
            .as_ref()
            .and_then(JobActivity::request_in_words);
        field(out, "request", &request.unwrap_or_default())?;
    }
    let schedule = run.schedule.map(|schedule| schedule.to_string());
    field(out, "schedule", schedule.as_deref().unwrap_or_default())?;
    let harvest = run
        .harvest
        .as_ref()
        .map(|harvest| format!("{} in the history", harvest.id));
    field(out, "harvest", harvest.as_deref().unwrap_or_default())?;
    let import = run
        .import
        .as_ref()
        .map(|import| format!("{} in the history", import.id));
    field(out, "import", import.as_deref().unwrap_or_default())?;
    if let Some(report) = run
        .import
        .as_ref()
        .and_then(|import| import.report.as_ref())
    {
        field(out, "report", &report.to_string())?;
    }
    if !run.counts.is_empty() {
        writeln!(out, "\ncounts")?;
    }
    for count in &run.counts {
        writeln!(out, "  {:>12}  {}", number(count.count), count.text)?;
    }
    let settings = run.settings_in_words();
    if !settings.is_empty() {
        writeln!(out, "\nsettings")?;
    }
    for (name, value) in settings {
        writeln!(out, "  {}: {}", plain(&name), plain(&value))?;
    }
    Ok(())
}
