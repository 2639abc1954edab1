//! `garner account password`: another password, also for who has forgotten theirs.

use std::process::ExitCode;

use clap::Args;

use super::list::show;
use super::prompt::new_password;
use super::{Chosen, account, audit};

/// Give an account another password, which ends its sessions
///
/// The password is asked for without showing it, or read from the first line of stdin where that is no terminal.
#[derive(Debug, Args)]
pub(super) struct Password {
    #[command(flatten)]
    chosen: Chosen,
}

impl Password {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.chosen.holdings.open()?;
        let known = account(&holdings, &self.chosen.name)?;
        let hash = console::password::hash(&new_password()?)?;
        holdings.wait(holdings.catalog().set_password(known.id, &hash))?;
        audit(&holdings, "account.password", &known.name)?;
        show(&[known], self.chosen.json)
    }
}
