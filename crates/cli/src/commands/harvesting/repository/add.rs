//! `garner repository add`: adds a repository by its own answers, or all of a list.

mod list;

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
/// Only its address is needed. Its name, formats and sets come from its own answers, and are printed. Nothing is
/// harvested. The scheme may be missing, and the address may be that of the home page: the base URL is then found from its
/// links, its robots.txt, and the paths where repositories usually answer.
///
/// With --from-file all repositories of a list are added: an address a line, with anything behind it, or a ListFriends
/// file or URL. Each line that cannot be added is named on stderr.
///
/// Exits with 3 if some of a list could not be added.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  garner repository add repository.example/oai
  garner repository add --from-file list.txt
  garner repository well-known austria | garner repository add --from-file -")]
pub(super) struct Add {
    /// Its base URL, or the address of its home page
    #[arg(required_unless_present = "from_file")]
    base_url: Option<String>,
    /// Add all repositories of this list: a file, a URL of a ListFriends file, or - for stdin
    #[arg(long, value_name = "LIST", conflicts_with_all = ["base_url", "base_directory"])]
    from_file: Option<String>,
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
        if let Some(source) = &self.from_file {
            return list::add(&self, source);
        }
        let client = Client::new(self.network.client_options()?)?;
        let address = self.base_url.as_deref().unwrap_or_default();
        let description = repositories::find(&client, address, false)?.description;
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
