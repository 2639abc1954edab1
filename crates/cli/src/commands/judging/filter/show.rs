//! `garner filter show`: the text of a filter or a mapping.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::rules;

use super::Chosen;
use crate::output::{to_stdout, write_json};
use crate::text::plain_lines;

/// Print the text of a filter or a mapping
#[derive(Debug, Args)]
pub(super) struct Show {
    #[command(flatten)]
    chosen: Chosen,
}

impl Show {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.chosen.holdings.context()?;
        let rules = context.wait(rules::show(&context, self.chosen.id))?;
        to_stdout(|out| {
            match self.chosen.json {
                true => write_json(out, &rules)?,
                false => writeln!(out, "{}", plain_lines(rules.content.trim_end()))?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
