//! `garner records cat`: the XML of a record, by its identifier.

use std::io;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use operations::records::{self, IdentifierQuery};
use operations::{Code, Mistake};

use crate::commands::holdings_options::HoldingsOptions;
use crate::output::to_stdout;

/// Print the XML of a record that is held, by its identifier
///
/// If it is held in several formats or from several repositories, --prefix and --repository say which is meant.
#[derive(Debug, Args)]
pub(super) struct Cat {
    /// The identifier of the record
    identifier: String,
    /// The format
    #[arg(long)]
    prefix: Option<String>,
    /// The repository
    #[arg(long, value_name = "URL|NUMBER")]
    repository: Option<String>,
    #[command(flatten)]
    holdings: HoldingsOptions,
}

impl Cat {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        let repository = match &self.repository {
            Some(name) => Some(context.holdings().repository(name)?.id),
            None => None,
        };
        let query = IdentifierQuery {
            identifier: self.identifier,
            metadata_prefix: self.prefix,
            repository,
        };
        let record = context.wait(records::find(&context, &query));
        let record = record.map_err(|refusal| match refusal.mistakes.first() {
            Some(Mistake { reason, .. }) if refusal.code == Code::Invalid => {
                anyhow!("{reason} with --prefix and --repository")
            }
            _ => refusal.into(),
        })?;
        let file = context.wait(records::xml(&context, record.id))?;
        to_stdout(|out| {
            io::copy(&mut file.open()?, out)?;
            Ok(ExitCode::SUCCESS)
        })
    }
}
