//! `garner filter remove`: removes a filter or a mapping.

use std::process::ExitCode;

use clap::Args;
use operations::{Actor, rules};

use super::Chosen;
use super::list::print;

/// Remove a filter or a mapping; it is refused while a schedule uses it
#[derive(Debug, Args)]
pub(super) struct Remove {
    #[command(flatten)]
    chosen: Chosen,
}

impl Remove {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (context, actor) = (self.chosen.holdings.context()?, Actor::command_line());
        let removed = context.wait(rules::remove(&context, &actor, self.chosen.id))?;
        print(&[removed], self.chosen.json)
    }
}
