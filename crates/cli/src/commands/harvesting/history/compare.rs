//! `garner history compare`: two harvests side by side.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use operations::harvests::{self, ComparisonLine};

use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Compare the counts, parameters and quirks of two harvests
#[derive(Debug, Args)]
pub(super) struct Compare {
    /// The number of one harvest
    one: i64,
    /// The number of the other
    other: i64,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Compare {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        let comparison = context.wait(harvests::compare(&context, self.one, self.other))?;
        to_stdout(|out| {
            if self.json {
                write_json(out, &comparison)?;
                return Ok(ExitCode::SUCCESS);
            }
            let (one, other) = (comparison.one.id, comparison.other.id);
            writeln!(out, "harvests {one} and {other}")?;
            section(out, "counts", &comparison.counts)?;
            section(out, "parameters that differ", &comparison.parameters)?;
            section(out, "quirks of the repository", &comparison.quirks)?;
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn section(out: &mut impl Write, title: &str, lines: &[ComparisonLine]) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}")?;
    for line in lines {
        let change = line.change.filter(|change| *change != 0);
        let change = change.map(|change| format!("  ({change:+})"));
        writeln!(
            out,
            "  {}: {} → {}{}",
            plain(&line.name),
            plain(&line.one),
            plain(&line.other),
            change.unwrap_or_default()
        )?;
    }
    Ok(())
}
