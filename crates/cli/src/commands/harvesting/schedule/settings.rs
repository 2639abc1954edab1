//! Options that say when a schedule runs, for those that are added and those that are edited.

use clap::Args;
use operations::schedules::SchedulePatch;
use operations::{Setting, Time};

/// When a schedule runs, and its name. Settings that are not given stay as they are.
#[derive(Debug, Args)]
pub(super) struct Times {
    /// Every so often: a number of minutes, hours, days, weeks or months, such as '1 day'
    #[arg(long, value_name = "INTERVAL", group = "frequency")]
    every: Option<String>,
    /// By a cron expression in UTC: minute, hour, day of month, month, day of week, such as '0 3 * * *'
    #[arg(long, value_name = "EXPRESSION", group = "frequency")]
    cron: Option<String>,
    /// A single time: at once, or see --at
    #[arg(long, group = "frequency")]
    once: bool,
    /// When the only run of --once is due
    #[arg(
        long,
        value_name = "DATE",
        requires = "once",
        conflicts_with = "starts"
    )]
    at: Option<Setting<Time>>,
    /// Nothing runs before this date, and intervals are counted from it
    #[arg(long, value_name = "DATE")]
    starts: Option<Setting<Time>>,
    /// Nothing runs after this date
    #[arg(long, value_name = "DATE")]
    ends: Option<Setting<Time>>,
    /// The name of the schedule
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

impl Times {
    /// The patch of name and times.
    pub(super) fn patch(&self) -> SchedulePatch {
        let frequency = match (&self.every, &self.cron, self.once) {
            (Some(interval), ..) => Some(format!("every {interval}")),
            (_, Some(expression), _) => Some(format!("cron {expression}")),
            (_, _, true) => Some("once".to_owned()),
            _ => None,
        };
        SchedulePatch {
            name: self.name.clone(),
            frequency,
            starts: self.at.clone().or_else(|| self.starts.clone()),
            ends: self.ends.clone(),
            ..SchedulePatch::default()
        }
    }
}
