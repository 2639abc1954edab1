//! `garner records`: the records that are held, or those of a repository without holding them.

mod cat;
mod export;
mod held;
mod show;
mod streamed;

use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand, ValueEnum};
use oai::{Datestamp, Granularity};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::network_options::NetworkOptions;
use crate::commands::sorting::Sorting;

/// List the records that are held, or those of a repository as they come
///
/// With --from-url a repository is asked and nothing is stored.
///
/// A line is a record: datestamp, live or deleted, identifier and, of a record that is held, its file, separated by
/// tabs. Of a record without a file there is a dash.
///
/// Exits with 3 if records of the repository could not be read; they are named on stderr.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Records {
    #[command(subcommand)]
    command: Option<RecordsCommand>,
    /// Only records of this repository
    #[arg(long, value_name = "URL|NUMBER")]
    repository: Option<String>,
    /// Only records in this format [default: all that are held; with --from-url oai_dc]
    #[arg(long)]
    prefix: Option<String>,
    /// Only records of this set
    #[arg(long)]
    set: Option<String>,
    /// Only records that changed on this day or at this moment, or later
    #[arg(long, value_name = "DATE", value_parser = date)]
    since: Option<Date>,
    /// Only deleted records
    #[arg(long, conflicts_with = "live")]
    deleted: bool,
    /// Only records that are not deleted
    #[arg(long)]
    live: bool,
    /// How many records at most [default: 30 of those that are held on a terminal, else all]
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
    /// Print the paths of files only, one a line
    #[arg(long, conflicts_with = "json")]
    files: bool,
    #[command(flatten)]
    sorting: Sorting,
    #[command(flatten)]
    holdings: HoldingsOptions,

    /// Ask the repository at this base URL, and store nothing
    #[arg(
        long,
        value_name = "BASE_URL",
        help_heading = "Records of a repository",
        conflicts_with_all = ["HoldingsOptions", "Sorting", "repository", "since", "files"]
    )]
    from_url: Option<String>,
    /// Ask for whole records with ListRecords, the default, or for headers with ListIdentifiers
    #[arg(long, help_heading = "Records of a repository", requires = "from_url")]
    #[arg(hide_possible_values = true)]
    verb: Option<Verb>,
    /// Only records that changed on this day or at this moment, or later
    #[arg(long, value_name = "DATE", value_parser = date)]
    #[arg(help_heading = "Records of a repository", requires = "from_url")]
    from: Option<Date>,
    /// Only records that changed on this day or at this moment, or before
    #[arg(long, value_name = "DATE", value_parser = date)]
    #[arg(help_heading = "Records of a repository", requires = "from_url")]
    until: Option<Date>,
    /// Print the records themselves, in one XML document with the root element records
    #[arg(long, help_heading = "Records of a repository", requires = "from_url")]
    #[arg(conflicts_with = "json")]
    xml: bool,
    #[command(flatten)]
    network: NetworkOptions,
}

#[derive(Debug, Subcommand)]
enum RecordsCommand {
    Show(show::Show),
    Cat(cat::Cat),
    Export(export::ExportCommand),
}

/// A date as it was written, and what it means.
#[derive(Debug, Clone)]
struct Date {
    text: String,
    moment: Datestamp,
    granularity: Granularity,
}

/// The verbs that list records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "PascalCase")]
enum Verb {
    ListRecords,
    ListIdentifiers,
}

impl Records {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Some(RecordsCommand::Show(command)) => return command.run(),
            Some(RecordsCommand::Cat(command)) => return command.run(),
            Some(RecordsCommand::Export(command)) => return command.run(),
            None => {}
        }
        match &self.from_url {
            Some(base_url) => streamed::run(&self, base_url),
            None if self.network.is_given() => {
                bail!(
                    "nothing is asked over the network without --from-url; leave the network options out"
                );
            }
            None => held::run(&self),
        }
    }

    /// Whether a record of this kind is wanted.
    fn wants(&self, deleted: bool) -> bool {
        match deleted {
            true => !self.live,
            false => !self.deleted,
        }
    }
}

impl Date {
    /// The last moment that is meant.
    fn last(&self) -> Datestamp {
        match self.granularity {
            Granularity::Day => self.moment.end_of_day(),
            Granularity::Second => self.moment,
        }
    }
}

fn date(text: &str) -> Result<Date, String> {
    match Datestamp::parse(text) {
        Some((moment, granularity)) => Ok(Date {
            text: text.to_owned(),
            moment,
            granularity,
        }),
        None => Err("write YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ".to_owned()),
    }
}

/// The word for the status of a record.
fn status(deleted: bool) -> &'static str {
    if deleted { "deleted" } else { "live" }
}
