//! `garner documents restore`: removed documents come back.

use std::process::ExitCode;

use clap::Args;
use operations::Actor;
use operations::documents::{self, Restoration};

use crate::commands::LEFT_OUT;
use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Restore documents from the trash
///
/// Without a document, everything that the trash holds is restored. A takedown ends with it: imports take the document
/// again, even if the trash no longer holds its files.
///
/// Exits with 3 if some documents could not be restored, or not with their files; they are named.
#[derive(Debug, Args)]
pub(super) struct Restore {
    /// The numbers that the documents had, or their URLs
    #[arg(value_name = "NUMBER|URL")]
    documents: Vec<String>,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Restore {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (context, actor) = (self.holdings.context()?, Actor::command_line());
        let restoration = Restoration {
            documents: self.documents,
        };
        let restored = context.wait(documents::restore(&context, &actor, &restoration))?;
        if self.json {
            to_stdout(|out| {
                write_json(out, &restored)?;
                Ok(ExitCode::SUCCESS)
            })?;
        } else {
            for problem in &restored.problems {
                let (document, reason) = (plain(&problem.document), plain(&problem.reason));
                eprintln!("{document}: {reason}");
            }
            eprintln!("{}", restored.said());
        }
        Ok(match restored.problems.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(LEFT_OUT),
        })
    }
}
