//! `garner account remove`: somebody may not log in any more.

use std::process::ExitCode;

use clap::Args;

use super::list::show;
use super::{Chosen, account, audit};

/// Remove an account with its sessions and API tokens; the last admin stays
#[derive(Debug, Args)]
pub(super) struct Remove {
    #[command(flatten)]
    chosen: Chosen,
}

impl Remove {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.chosen.holdings.open()?;
        let known = account(&holdings, &self.chosen.name)?;
        holdings.wait(holdings.catalog().remove_account(known.id))?;
        audit(&holdings, "account.remove", &known.name)?;
        show(&[known], self.chosen.json)
    }
}
