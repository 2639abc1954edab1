//! `garner documents remove`: a takedown.

use std::process::ExitCode;

use clap::Args;
use operations::Actor;
use operations::documents::{self, Takedown};

use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Take a document down
///
/// The document leaves the collection, the search and the feeds at once. Its files go to the trash, from where garner
/// documents restore brings them back for 7 days (history.trash_days). Imports skip its URL, and its bytes under every
/// other URL, until it is restored. Bytes that other documents have stay.
#[derive(Debug, Args)]
pub(super) struct Remove {
    /// Its number or its URL
    #[arg(value_name = "NUMBER|URL")]
    document: String,
    /// The reason, for the audit trail and for the reports of imports
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Remove {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (context, actor) = (self.holdings.context()?, Actor::command_line());
        let id = context.wait(documents::find(&context, &self.document))?;
        let takedown = Takedown {
            reason: self.reason,
        };
        let taken = context.wait(documents::remove(&context, &actor, id, &takedown))?;
        super::update_metadata(&context);
        if self.json {
            return to_stdout(|out| {
                write_json(out, &taken)?;
                Ok(ExitCode::SUCCESS)
            });
        }
        let url = plain(&taken.document.url);
        eprintln!("document {id} is taken down: {url}");
        if !taken.sharing.is_empty() {
            let sharing: Vec<_> = taken.sharing.iter().map(i64::to_string).collect();
            let sharing = sharing.join(", ");
            eprintln!("documents with the same bytes stay in the collection: {sharing}");
        }
        Ok(ExitCode::SUCCESS)
    }
}
