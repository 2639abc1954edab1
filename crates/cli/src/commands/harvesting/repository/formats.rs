//! `garner repository formats`: the metadata formats of a repository.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::repositories;

use crate::commands::repository::Chosen;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// List the metadata formats that a repository offers, and those that records are held in
#[derive(Debug, Args)]
pub(super) struct Formats {
    #[command(flatten)]
    chosen: Chosen,
}

impl Formats {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.chosen.holdings.context()?;
        let id = context.holdings().repository(&self.chosen.repository)?.id;
        let formats = context.wait(repositories::formats(&context, id))?;
        to_stdout(|out| {
            for (at, format) in formats.iter().enumerate() {
                if self.chosen.json {
                    write_json(out, format)?;
                    continue;
                }
                if at == 0 {
                    writeln!(out, "   records   deleted  format and namespace")?;
                }
                let (records, deleted) = (format.records, format.deleted);
                let prefix = plain(&format.metadata_prefix);
                let namespace = match format.offered {
                    true => plain(&format.namespace),
                    false => plain("not offered any more"),
                };
                writeln!(out, "{records:>10} {deleted:>9}  {prefix}  {namespace}")?;
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
