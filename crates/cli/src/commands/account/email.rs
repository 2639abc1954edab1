//! `garner account email`: sets the e-mail address of an account.

use std::process::ExitCode;

use clap::Args;
use operations::accounts;

use super::Chosen;

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
        self.chosen.change(async |context, actor, id| {
            accounts::set_email(context, actor, id, &self.email).await
        })
    }
}
