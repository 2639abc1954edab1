//! `garner account time-zone`: sets the time zone of an account.

use std::process::ExitCode;

use clap::Args;
use operations::accounts;

use super::Chosen;

/// Set the time zone in which the console shows times to an account
///
/// Example: garner account time-zone ann Europe/Berlin
#[derive(Debug, Args)]
pub(super) struct TimeZone {
    #[command(flatten)]
    chosen: Chosen,
    /// A name of the tz database, such as Europe/Berlin, or UTC
    time_zone: String,
}

impl TimeZone {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        self.chosen.change(async |context, actor, id| {
            accounts::set_time_zone(context, actor, id, &self.time_zone).await
        })
    }
}
