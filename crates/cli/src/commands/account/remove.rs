//! `garner account remove`: removes somebody who may log in.

use std::process::ExitCode;

use clap::Args;
use operations::accounts;

use super::Chosen;

/// Remove an account with its sessions and API tokens; the last admin stays
#[derive(Debug, Args)]
pub(super) struct Remove {
    #[command(flatten)]
    chosen: Chosen,
}

impl Remove {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        self.chosen
            .change(async |context, actor, id| accounts::remove(context, actor, id).await)
    }
}
