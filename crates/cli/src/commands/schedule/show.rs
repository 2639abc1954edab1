//! `garner schedule show`: all of one schedule, as text and as JSON.

use std::io::{self, Write};
use std::process::ExitCode;

use catalog::{JobKind, Schedule, ScheduleState, Scheduled};
use clap::Args;
use jobs::{Frequency, HarvestParameters, Holdings, ImportCrawl};
use serde::Serialize;
use serde_json::Value;

use super::{Chosen, schedule};
use crate::output::{field, to_stdout, write_json};
use crate::text::{date, plain};

/// Show all of a schedule
#[derive(Debug, Args)]
pub(super) struct Show {
    #[command(flatten)]
    chosen: Chosen,
}

impl Show {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.chosen.holdings.open()?;
        let known = schedule(&holdings, self.chosen.number)?;
        show(&holdings, &known, self.chosen.json)
    }
}

/// Prints a schedule.
pub(super) fn show(
    holdings: &Holdings,
    schedule: &Schedule,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let now = holdings.wait(holdings.catalog().now())?;
    to_stdout(|out| {
        match json {
            true => write_json(out, &ScheduleJson::new(schedule))?,
            false => describe(out, schedule, now)?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// How often a schedule runs, in words.
pub(super) fn frequency(schedule: &Schedule) -> String {
    let text = &schedule.settings.frequency;
    let frequency = text.parse::<Frequency>();
    frequency.map_or_else(|_| text.clone(), |frequency| frequency.describe())
}

fn describe(out: &mut impl Write, schedule: &Schedule, now: i64) -> io::Result<()> {
    let settings = &schedule.settings;
    writeln!(out, "schedule {}: {}", schedule.id, plain(&settings.name))?;
    let what = &settings.what;
    field(
        out,
        "repository",
        schedule.base_url.as_deref().unwrap_or_default(),
    )?;
    field(out, "format", what.metadata_prefix())?;
    field(out, "set", what.set().unwrap_or_default())?;
    field(out, "imports", &imported(schedule).unwrap_or_default())?;
    field(out, "how often", &frequency(schedule))?;
    field(
        out,
        "starts",
        &settings.starts.map(date).unwrap_or_default(),
    )?;
    field(out, "ends", &settings.ends.map(date).unwrap_or_default())?;
    field(out, "state", &standing(schedule, now))?;
    field(
        out,
        "last run",
        &schedule.last_run.map(date).unwrap_or_default(),
    )?;
    for (name, value) in parameters(settings) {
        field(out, &name, &value)?;
    }
    Ok(())
}

/// What a schedule imports, if it is one that does.
pub(super) fn imported(schedule: &Schedule) -> Option<String> {
    if schedule.settings.what != Scheduled::Import {
        return None;
    }
    let Ok(order) = ImportCrawl::parse(&schedule.settings.parameters) else {
        return Some("what cannot be read".to_owned());
    };
    let named = order.paths.iter().chain(&order.log);
    let named: Vec<_> = named.map(|path| path.display().to_string()).collect();
    Some(named.join(" "))
}

/// How a schedule stands, and what comes next.
fn standing(schedule: &Schedule, now: i64) -> String {
    let state = schedule.state.name();
    match (schedule.state, schedule.next_run, schedule.job) {
        (_, Some(time), Some(job)) if time <= now => format!("{state}; job {job} is due"),
        (_, Some(time), Some(job)) => format!("{state}; job {job} is due at {}", date(time)),
        (_, None, Some(job)) => format!("{state}; job {job} is running"),
        (ScheduleState::New, ..) => format!("{state}; it is planned as soon as a manager runs"),
        _ => state.to_owned(),
    }
}

/// What is set, and what is not as usual.
fn parameters(settings: &catalog::ScheduleSettings) -> Vec<(String, String)> {
    let usual = match settings.what {
        Scheduled::Harvest { .. } => serde_json::to_value(HarvestParameters::default()),
        Scheduled::Import => serde_json::to_value(ImportCrawl::default()),
    };
    let usual = usual.unwrap_or_default();
    let Ok(Value::Object(set)) = serde_json::from_str(&settings.parameters) else {
        return Vec::new();
    };
    let unusual = set
        .into_iter()
        .filter(|(name, value)| usual.get(name) != Some(value) && name != "paths");
    let said = |value: Value| match value {
        Value::String(text) => text,
        value => value.to_string(),
    };
    unusual
        .map(|(name, value)| match name.as_str() {
            "access" => (
                "credentials".to_owned(),
                "kept in a file of the data directory, not shown".to_owned(),
            ),
            _ => (name.replace('_', " "), said(value)),
        })
        .collect()
}

/// A schedule as JSON: dates as dates, and what is JSON already as what it is.
#[derive(Serialize)]
pub(super) struct ScheduleJson<'a> {
    id: i64,
    name: &'a str,
    kind: JobKind,
    repository: Option<i64>,
    base_url: Option<&'a str>,
    repository_name: Option<&'a str>,
    metadata_prefix: &'a str,
    set: Option<&'a str>,
    frequency: &'a str,
    described: String,
    starts: Option<String>,
    ends: Option<String>,
    parameters: Value,
    state: ScheduleState,
    next_run: Option<String>,
    job: Option<i64>,
    last_run: Option<String>,
    version: i64,
    added: String,
    changed: String,
}

impl<'a> ScheduleJson<'a> {
    pub(super) fn new(schedule: &'a Schedule) -> Self {
        let settings = &schedule.settings;
        Self {
            id: schedule.id,
            name: &settings.name,
            kind: settings.what.kind(),
            repository: settings.what.repository(),
            base_url: schedule.base_url.as_deref(),
            repository_name: schedule.repository_name.as_deref(),
            metadata_prefix: settings.what.metadata_prefix(),
            set: settings.what.set(),
            frequency: &settings.frequency,
            described: frequency(schedule),
            starts: settings.starts.map(date),
            ends: settings.ends.map(date),
            parameters: serde_json::from_str(&settings.parameters).unwrap_or_default(),
            state: schedule.state,
            next_run: schedule.next_run.map(date),
            job: schedule.job,
            last_run: schedule.last_run.map(date),
            version: schedule.version,
            added: date(schedule.added),
            changed: date(schedule.changed),
        }
    }
}
