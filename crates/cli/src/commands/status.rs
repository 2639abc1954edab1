//! `garner status`: what needs attention, runs and comes up.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use operations::alerts;
use operations::jobs::Job;
use operations::overview::{self, Attention, Overview};

use super::holdings_options::HoldingsOptions;
use crate::human::{moment, number};
use crate::output::{Out, to_stdout, write_json};
use crate::text::{bytes, duration, plain};

/// Show what needs attention, what runs and comes up, and how much there is
///
/// The first lines are failures of the last seven days, grouped by their causes, and jobs that are stuck or overdue.
#[derive(Debug, Args)]
pub(crate) struct Status {
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Status {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        let overview = context.wait(overview::show(&context))?;
        let alerts = context.wait(alerts::firing(&context))?;
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &overview)?,
                false => {
                    for alert in alerts.iter().take(MOST_ALERTS) {
                        let (rule, text) = (plain(&alert.rule), plain(&alert.text));
                        writeln!(
                            out,
                            "Alert {rule}: {text}, since {}",
                            moment(Some(alert.since))
                        )?;
                    }
                    if alerts.len() > MOST_ALERTS {
                        let more = alerts.len() - MOST_ALERTS;
                        writeln!(out, "{more} more alerts")?;
                    }
                    print(out, &overview)?;
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

/// The most alerts that are shown.
const MOST_ALERTS: usize = 20;

fn print(out: &mut Out, overview: &Overview) -> io::Result<()> {
    attention(out, &overview.attention)?;
    jobs(out, "Active", &overview.active)?;
    jobs(out, "Coming up", &overview.upcoming)?;
    let (statistics, collection) = (&overview.statistics, &overview.collection);
    let about = if collection.is_exact { "" } else { "about " };
    writeln!(out, "Totals")?;
    for (name, figure) in [
        ("repositories", number(statistics.repositories)),
        ("records", number(statistics.records)),
        (
            "documents",
            format!("{about}{}", number(collection.documents)),
        ),
        ("harvests", number(statistics.harvests)),
        ("imports", number(collection.imports)),
        ("queued jobs", number(overview.queue.queued)),
        ("running jobs", number(overview.queue.running)),
        ("queue age", duration(overview.queue.age_seconds)),
        (
            "busy workers",
            format!("{} of {}", overview.queue.busy, threads(overview)),
        ),
        ("worker processes", overview.workers.len().to_string()),
    ] {
        writeln!(out, "  {name:<18} {figure}")?;
    }
    if let Some(disk) = overview.disk {
        let (free, size) = (bytes(disk.free), bytes(disk.size));
        writeln!(out, "  {:<18} {free} of {size}", "free disk")?;
    }
    writeln!(out, "  {:<18} {}", "version", overview.version)
}

fn threads(overview: &Overview) -> u64 {
    let workers = overview.workers.iter();
    workers.map(|worker| worker.threads).sum()
}

fn attention(out: &mut Out, attention: &Attention) -> io::Result<()> {
    if attention.is_empty() {
        return writeln!(out, "Nothing needs attention.");
    }
    writeln!(out, "Needs attention")?;
    for group in &attention.failures.groups {
        let (count, targets) = (group.count, group.targets);
        let cause = plain(&group.cause);
        writeln!(
            out,
            "  {count} failed, of {targets} repositories or schedules: {cause}"
        )?;
        let (first, last) = (moment(Some(group.first)), moment(Some(group.last)));
        writeln!(out, "      first {first}, last {last}")?;
    }
    for job in &attention.stuck {
        writeln!(out, "  run {} makes no progress{}", job.id, reason(job))?;
    }
    if let Some(since) = attention.overdue_since {
        writeln!(
            out,
            "  {} overdue, since {}",
            match attention.overdue {
                1 => "1 run is".to_owned(),
                overdue => format!("{overdue} runs are"),
            },
            moment(Some(since))
        )?;
    }
    if attention.unread_records > 0 {
        let unread = attention.unread_records;
        writeln!(
            out,
            "  {unread} records cannot be searched for: their files cannot be read"
        )?;
    }
    if attention.disk_is_low {
        writeln!(out, "  the disk of the data directory is nearly full")?;
    }
    Ok(())
}

fn jobs(out: &mut Out, heading: &str, jobs: &[Job]) -> io::Result<()> {
    if jobs.is_empty() {
        return Ok(());
    }
    writeln!(out, "{heading}")?;
    for job in jobs {
        let name = job.repository_name.as_deref().or(job.base_url.as_deref());
        let (kind, name) = (job.kind.name(), plain(name.unwrap_or_default()).to_string());
        writeln!(out, "  run {} {kind} {name}{}", job.id, reason(job))?;
    }
    Ok(())
}

fn reason(job: &Job) -> String {
    let why = job.why.as_ref().map(|why| plain(&why.text).to_string());
    why.map_or(String::new(), |why| format!(": {why}"))
}
