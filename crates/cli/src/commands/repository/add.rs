//! `garner repository add`: a repository introduces itself.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use harvester::Client;

use super::show::{Introduction, show};
use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::network_options::NetworkOptions;
use crate::output::{to_stdout, write_json};

/// Add a repository, or bring up to date what is known of it
///
/// Only its base URL is needed. Its name, formats and sets come from its own answers, and are printed. Nothing is
/// harvested.
#[derive(Debug, Args)]
pub(super) struct Add {
    /// Where the repository answers
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
        let repository = client.repository(&self.base_url)?;
        let description = jobs::introduce(&repository)?;
        let holdings = self.holdings.create()?;
        let known = description.keep(&holdings, self.base_directory.as_deref())?;
        let introduction = Introduction::of(&holdings, known)?;
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &introduction.json())?,
                false => {
                    show(out, &introduction)?;
                    for (quirk, _) in description.quirks().iter() {
                        writeln!(out, "oddity: {quirk}")?;
                    }
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
