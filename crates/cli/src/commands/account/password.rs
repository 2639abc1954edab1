//! `garner account password`: sets a password, also one that was forgotten.

use std::process::ExitCode;

use clap::Args;
use operations::{Actor, accounts};

use super::Chosen;
use super::list::show;
use super::prompt::new_password;
use crate::text::plain;

/// Set the password of an account, and end its sessions and API tokens
///
/// The password is asked for without showing it, or read from the first line of stdin where that is no terminal.
#[derive(Debug, Args)]
pub(super) struct Password {
    #[command(flatten)]
    chosen: Chosen,
}

impl Password {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (context, actor) = (self.chosen.holdings.context()?, Actor::command_line());
        let account = context.wait(accounts::find(&context, &actor, &self.chosen.name))?;
        let new = new_password()?;
        let set = context.wait(accounts::set_password(&context, &actor, account.id, new))?;
        if !set.ended_tokens.is_empty() {
            let tokens = set.ended_tokens.join(", ");
            eprintln!(
                "API tokens that ended with the old password: {}",
                plain(&tokens)
            );
        }
        show(&[set.account], self.chosen.json)
    }
}
