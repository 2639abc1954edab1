//! `garner repository add`: adds a repository by its own answers.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use harvester::Client;
use operations::{Actor, repositories};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::network_options::NetworkOptions;
use crate::commands::repository::show::show;
use crate::output::{to_stdout, write_json};

/// Add a repository, or refresh one that is known
///
/// Only its base URL is needed. Its name, formats and sets come from its own answers, and are printed. Nothing is
/// harvested.
#[derive(Debug, Args)]
pub(super) struct Add {
    /// Its base URL
    base_url: String,
    /// Where its files go, if it is new [default: DIR/records/ and a name made of the URL]
    #[arg(long, value_name = "DIR")]
    base_directory: Option<PathBuf>,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    network: NetworkOptions,
}

impl Add {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let client = Client::new(self.network.client_options()?)?;
        let description = repositories::ask(&client, &self.base_url, false)?;
        let quirks = description.quirks().clone();
        let context = self.holdings.create_context()?;
        let actor = Actor::command_line();
        let added = repositories::add(&context, &actor, description, self.base_directory);
        let repository = context.wait(added)?.repository;
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &repository)?,
                false => {
                    show(out, &context, &repository)?;
                    for (quirk, _) in quirks.iter() {
                        writeln!(out, "oddity: {quirk}")?;
                    }
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
