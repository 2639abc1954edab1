//! `garner schedule list`: all schedules, a line each.

use std::process::ExitCode;

use catalog::{ScheduleQuery, ScheduleState};
use clap::Args;
use operations::schedules::{self, Schedule, ScheduleKind};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::operating::Operating;
use crate::commands::sorting::Sorting;
use crate::output::{to_stdout, write_json};
use crate::table::{Cell, Column, Table};

/// List schedules
#[derive(Debug, Args)]
pub(super) struct List {
    /// Only those of this repository: its base URL or its number
    #[arg(long, value_name = "URL|NUMBER")]
    repository: Option<String>,
    /// Only those in this state: new, recurring, once, paused or ended
    #[arg(long, value_name = "STATE", value_parser = state)]
    state: Option<ScheduleState>,
    /// Only those with this text in their name, in that of the repository, in its URL or in what is imported
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    #[command(flatten)]
    sorting: Sorting,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let operating = Operating::open(&self.holdings)?;
        let repository = self.repository.as_deref();
        let repository = repository.map(|name| operating.holdings.repository(name));
        let query = ScheduleQuery {
            repository: repository.transpose()?.map(|repository| repository.id),
            state: self.state,
            text: self.text.clone(),
        };
        let paging = self.sorting.paging();
        let listed = operating.wait(schedules::list(&operating.context, &query, &paging))?;
        let schedules = listed.items;
        if schedules.is_empty() {
            eprintln!("there is no such schedule; add one with garner schedule add");
        }
        to_stdout(|out| {
            let mut table = Table::to_stdout(&COLUMNS);
            for schedule in &schedules {
                match self.json {
                    true => write_json(out, schedule)?,
                    false => table.row(out, cells(schedule))?,
                }
            }
            table.finish(out)?;
            Ok(ExitCode::SUCCESS)
        })
    }
}

const COLUMNS: [Column; 6] = [
    Column::number("no."),
    Column::word("state"),
    Column::word("next run"),
    Column::text("how often", 12).dispensable(1),
    Column::text("name", 8).dispensable(2),
    Column::text("what", 20),
];

fn cells(schedule: &Schedule) -> Vec<Cell> {
    let next = match (schedule.next_run, schedule.job) {
        (None, Some(_)) => Cell::state("running"),
        (time, _) => Cell::time(time),
    };
    let about = schedule.about();
    let what = match schedule.kind {
        ScheduleKind::Import => format!("import {about}"),
        ScheduleKind::Harvest => {
            let set = schedule.set.as_deref().unwrap_or_default();
            format!("{about} {} {set}", schedule.metadata_prefix)
        }
    };
    vec![
        schedule.id.into(),
        Cell::state(schedule.state.name()),
        next,
        schedule.described.as_str().into(),
        schedule.name.as_str().into(),
        what.into(),
    ]
}

fn state(name: &str) -> Result<ScheduleState, String> {
    let states = ScheduleState::ALL.map(ScheduleState::name).join(", ");
    ScheduleState::parse(name).ok_or_else(|| format!("write one of {states}"))
}
