//! `garner history remove`: removes harvests and imports from the history; records and documents stay.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::harvests::{self, Removed};
use operations::{Actor, imports};

use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{to_stdout, write_json};

/// Remove entries of the history; records and documents stay
///
/// Running ones stay. So do those that the next harvest continues from or resumes, unless --force is given: without them
/// everything is harvested again.
#[derive(Debug, Args)]
pub(super) struct Remove {
    /// The numbers of harvests, or of imports with --imports
    #[arg(required_unless_present = "older_than")]
    numbers: Vec<i64>,
    /// Harvests that ended more than DAYS ago, instead of numbers; the last one of each repository, format and set
    /// stays
    #[arg(long, value_name = "DAYS", conflicts_with = "numbers")]
    older_than: Option<u32>,
    /// Imports instead of harvests
    #[arg(long)]
    imports: bool,
    /// Also those that the next harvest continues from or resumes
    #[arg(long, conflicts_with_all = ["older_than", "imports"])]
    force: bool,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Remove {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (context, actor) = (self.holdings.context()?, Actor::command_line());
        let removed: Removed = match (self.older_than, self.imports) {
            (Some(days), true) => context.wait(imports::remove_old(&context, &actor, days)),
            (Some(days), false) => context.wait(harvests::remove_old(&context, &actor, days)),
            (None, true) => context.wait(imports::remove(&context, &actor, &self.numbers)),
            (None, false) => {
                let removal = harvests::remove(&context, &actor, &self.numbers, self.force);
                context.wait(removal)
            }
        }?;
        to_stdout(|out| {
            match (self.json, removed.removed) {
                (true, _) => write_json(out, &removed)?,
                (false, 1) => writeln!(out, "removed 1 entry")?,
                (false, number) => writeln!(out, "removed {number} entries")?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
