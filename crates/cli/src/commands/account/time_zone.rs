//! `garner account time-zone`: sets the time zone of an account.

use std::process::ExitCode;

use clap::Args;
use operations::{Actor, accounts};

use super::{Chosen, list};

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
        let (context, actor) = (self.chosen.holdings.context()?, Actor::command_line());
        let account = context.wait(async {
            let id = accounts::find(&context, &actor, &self.chosen.name)
                .await?
                .id;
            accounts::set_time_zone(&context, &actor, id, &self.time_zone).await
        })?;
        list::show(&[account], self.chosen.json)
    }
}
