//! `garner repository refresh`: asks a repository about itself again.

use std::process::ExitCode;

use clap::Args;
use harvester::Client;
use operations::{Actor, repositories};

use crate::commands::network_options::NetworkOptions;
use crate::commands::repository::Chosen;
use crate::commands::repository::show::print;

/// Ask a repository about itself again (Identify, formats, sets), and keep its answers
#[derive(Debug, Args)]
pub(super) struct Refresh {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    network: NetworkOptions,
}

impl Refresh {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.chosen.holdings.context()?;
        let known = context.holdings().repository(&self.chosen.repository)?;
        let client = Client::new(self.network.client_options()?)?;
        let description = repositories::ask(&client, &known.base_url, false)?;
        let actor = Actor::command_line();
        let refreshed = context.wait(repositories::add(&context, &actor, description, None))?;
        print(&context, &refreshed.repository, self.chosen.json)
    }
}
