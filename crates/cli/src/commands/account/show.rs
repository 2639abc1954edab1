//! `garner account show`: one account.

use std::process::ExitCode;

use clap::Args;
use operations::{Actor, accounts};

use super::{Chosen, list};

/// Show an account
#[derive(Debug, Args)]
pub(super) struct Show {
    #[command(flatten)]
    chosen: Chosen,
}

impl Show {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (context, actor) = (self.chosen.holdings.context()?, Actor::command_line());
        let account = context.wait(accounts::find(&context, &actor, &self.chosen.name))?;
        list::show(&[account], self.chosen.json)
    }
}
