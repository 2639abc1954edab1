//! `garner schedule show`: all of one schedule, as text and as JSON.

use std::io::{self, Write};
use std::process::ExitCode;

use catalog::ScheduleState;
use clap::Args;
use operations::Time;
use operations::schedules::{self, Schedule, ScheduleKind};

use crate::commands::operating::Operating;
use crate::commands::schedule::Chosen;
use crate::human::moment;
use crate::output::{field, to_stdout, write_json};
use crate::text::plain;

/// Show all of a schedule
#[derive(Debug, Args)]
pub(super) struct Show {
    #[command(flatten)]
    chosen: Chosen,
}

impl Show {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let operating = Operating::open(&self.chosen.holdings)?;
        let known = schedules::show(&operating.context, self.chosen.number);
        show(&operating, &operating.wait(known)?, self.chosen.json)
    }
}

/// Prints a schedule.
pub(super) fn show(
    operating: &Operating,
    schedule: &Schedule,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let now = operating.holdings.wait(operating.context.catalog().now())?;
    to_stdout(|out| {
        match json {
            true => write_json(out, schedule)?,
            false => describe(out, schedule, Time(now))?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn describe(out: &mut impl Write, schedule: &Schedule, now: Time) -> io::Result<()> {
    writeln!(out, "schedule {}: {}", schedule.id, plain(&schedule.name))?;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    field(out, "repository", &text(&schedule.base_url))?;
    field(out, "format", &schedule.metadata_prefix)?;
    field(out, "set", &text(&schedule.set))?;
    if schedule.kind == ScheduleKind::Import {
        field(out, "imports", &schedule.about())?;
    }
    field(out, "how often", &schedule.described)?;
    field(out, "starts", &moment(schedule.starts))?;
    field(out, "ends", &moment(schedule.ends))?;
    field(out, "state", &standing(schedule, now))?;
    field(out, "last run", &moment(schedule.last_run))?;
    for (name, value) in schedules::fields(schedule) {
        field(out, &name.to_lowercase(), &value)?;
    }
    Ok(())
}

/// The state of a schedule, and its next job.
fn standing(schedule: &Schedule, now: Time) -> String {
    let state = schedule.state.name();
    match (schedule.state, schedule.next_run, schedule.job) {
        (_, Some(time), Some(job)) if time <= now => format!("{state}; job {job} is due"),
        (_, Some(time), Some(job)) => format!("{state}; job {job} is due at {time}"),
        (_, None, Some(job)) => format!("{state}; job {job} is running"),
        (ScheduleState::New, ..) => format!("{state}; it is planned as soon as a manager runs"),
        _ => state.to_owned(),
    }
}
