//! `garner account email`: sets the e-mail address of an account.

use std::process::ExitCode;

use clap::Args;
use operations::{Actor, accounts};

use super::{Chosen, list};

/// Set the e-mail address of the owner of an account
///
/// Example: garner account email ann ann@example.org
#[derive(Debug, Args)]
pub(super) struct Email {
    #[command(flatten)]
    chosen: Chosen,
    /// The address; an empty text for none
    email: String,
}

impl Email {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (context, actor) = (self.chosen.holdings.context()?, Actor::command_line());
        let account = context.wait(async {
            let id = accounts::find(&context, &actor, &self.chosen.name)
                .await?
                .id;
            accounts::set_email(&context, &actor, id, &self.email).await
        })?;
        list::show(&[account], self.chosen.json)
    }
}
