//! `garner repository edit`: corrects the base URL of a repository.

use std::process::ExitCode;

use clap::Args;
use harvester::Client;
use operations::{Actor, repositories};

use crate::commands::network_options::NetworkOptions;
use crate::commands::repository::Chosen;
use crate::commands::repository::show::print;

/// Correct the base URL of a repository
///
/// The repository is asked there first. Its records and its history stay. It is refused while the repository is being
/// harvested.
#[derive(Debug, Args)]
pub(super) struct Edit {
    #[command(flatten)]
    chosen: Chosen,
    /// The new base URL
    #[arg(long, value_name = "URL")]
    base_url: String,
    #[command(flatten)]
    network: NetworkOptions,
}

impl Edit {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.chosen.holdings.context()?;
        let id = context.holdings().repository(&self.chosen.repository)?.id;
        let client = Client::new(self.network.client_options()?)?;
        let description = repositories::ask(&client, &self.base_url, false)?;
        let actor = Actor::command_line();
        let changed = repositories::change_base_url(&context, &actor, id, description);
        print(&context, &context.wait(changed)?, self.chosen.json)
    }
}
