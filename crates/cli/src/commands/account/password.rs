//! `garner account password`: another password, also for who has forgotten theirs.

use std::process::ExitCode;

use clap::Args;

use super::list::show;
use super::prompt::new_password;
use super::{Chosen, account, audit};
use crate::text::plain;

/// Give an account another password, which ends its sessions and its API tokens
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
        let ended = holdings.wait(holdings.catalog().set_password(known.id, &hash))?;
        if !ended.is_empty() {
            let tokens = ended.join(", ");
            eprintln!(
                "API tokens that ended with the old password: {}",
                plain(&tokens)
            );
        }
        audit(&holdings, "account.password", &known.name)?;
        show(&[known], self.chosen.json)
    }
}
