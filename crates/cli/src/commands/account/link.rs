//! `garner account link`: makes a link by which the owner of an account sets its password.

use std::process::ExitCode;

use clap::Args;
use operations::Actor;
use operations::accounts::{self, PasswordLink};

use super::Chosen;
use crate::output::{to_stdout, write_json};

/// Make a link by which the owner of an account sets its password, once
///
/// It is good for a day, or for seven if the account was invited and has no password yet. An earlier link ends.
#[derive(Debug, Args)]
pub(super) struct Link {
    #[command(flatten)]
    chosen: Chosen,
}

impl Link {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (context, actor) = (self.chosen.holdings.context()?, Actor::command_line());
        let link = context.wait(async {
            let account = accounts::find(&context, &actor, &self.chosen.name).await?;
            accounts::make_link(&context, &actor, account.id).await
        })?;
        if self.chosen.json {
            return to_stdout(|out| {
                write_json(out, &link)?;
                Ok(ExitCode::SUCCESS)
            });
        }
        tell(&link);
        Ok(ExitCode::SUCCESS)
    }
}

/// Says where the link leads.
pub(super) fn tell(link: &PasswordLink) {
    eprintln!(
        "the link to set the password, at the address of the console, until {}: {}",
        link.expires, link.path
    );
}
