//! `garner account remove`: removes somebody who may log in.

use std::process::ExitCode;

use clap::Args;
use operations::{Actor, accounts};

use super::Chosen;
use super::list::show;

/// Remove an account with its sessions and API tokens; the last admin stays
#[derive(Debug, Args)]
pub(super) struct Remove {
    #[command(flatten)]
    chosen: Chosen,
}

impl Remove {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (context, actor) = (self.chosen.holdings.context()?, Actor::command_line());
        let account = context.wait(accounts::find(&context, &actor, &self.chosen.name))?;
        let removed = context.wait(accounts::remove(&context, &actor, account.id))?;
        show(&[removed], self.chosen.json)
    }
}
