//! `garner schedule list`: all schedules, a line each.

use std::io::Write;
use std::process::ExitCode;

use catalog::{Schedule, ScheduleQuery, ScheduleState};
use clap::Args;

use super::show::{ScheduleJson, frequency, imported};
use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{to_stdout, write_json};
use crate::text::{columns, date, plain, shortened};

/// List schedules
#[derive(Debug, Args)]
pub(super) struct List {
    /// Only those of this repository: its base URL or its number
    #[arg(long, value_name = "URL|NUMBER")]
    repository: Option<String>,
    /// Only those that stand so: new, recurring, once, paused or ended
    #[arg(long, value_name = "STATE", value_parser = state)]
    state: Option<ScheduleState>,
    /// Only those with this text in their name, in that of the repository, in its URL or in what is imported
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
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
        let query = ScheduleQuery {
            repository: repository.map(|repository| repository.id),
            state: self.state,
            text: self.text.clone(),
        };
        let schedules = holdings.wait(holdings.catalog().schedules(&query))?;
        if schedules.is_empty() {
            eprintln!("there is no such schedule; add one with garner schedule add");
        }
        to_stdout(|out| {
            for (at, schedule) in schedules.iter().enumerate() {
                if self.json {
                    write_json(out, &ScheduleJson::new(schedule))?;
                    continue;
                }
                if at == 0 {
                    writeln!(
                        out,
                        " no.  state      next run              how often, and what"
                    )?;
                }
                writeln!(out, "{}", line(schedule))?;
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn line(schedule: &Schedule) -> String {
    let next = match (schedule.next_run, schedule.job) {
        (Some(time), _) => date(time),
        (None, Some(_)) => "running".to_owned(),
        (None, None) => "-".to_owned(),
    };
    let line = format!(
        "{:>4}  {:<9}  {next:<20}  ",
        schedule.id,
        schedule.state.name()
    );
    let settings = &schedule.settings;
    let mut what = match imported(schedule) {
        Some(imported) => format!("{}: import {imported}", frequency(schedule)),
        None => format!(
            "{}: {} {}",
            frequency(schedule),
            schedule.base_url.as_deref().unwrap_or_default(),
            settings.what.metadata_prefix()
        ),
    };
    if let Some(set) = settings.what.set() {
        what.push_str(&format!(" {set}"));
    }
    if !settings.name.is_empty() {
        what.push_str(&format!(" ({})", settings.name));
    }
    let what = plain(&what).to_string();
    match columns() {
        Some(columns) => line.clone() + &shortened(&what, columns.saturating_sub(line.len())),
        None => line + &what,
    }
}

fn state(name: &str) -> Result<ScheduleState, String> {
    let states = ScheduleState::ALL.map(ScheduleState::name).join(", ");
    ScheduleState::parse(name).ok_or_else(|| format!("write one of {states}"))
}
