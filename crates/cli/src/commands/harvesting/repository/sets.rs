//! `garner repository sets`: the sets of a repository.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::repositories::{self, SetQuery};

use crate::commands::repository::Chosen;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// List the sets of a repository
#[derive(Debug, Args)]
pub(super) struct Sets {
    #[command(flatten)]
    chosen: Chosen,
    /// Only sets with this text in their setSpec or name
    #[arg(long)]
    text: Option<String>,
}

impl Sets {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.chosen.holdings.context()?;
        let id = context.holdings().repository(&self.chosen.repository)?.id;
        let query = SetQuery {
            text: self.text,
            ..SetQuery::default()
        };
        let sets = context.wait(repositories::sets(&context, id, &query))?;
        to_stdout(|out| {
            for set in &sets.items {
                if self.chosen.json {
                    write_json(out, set)?;
                    continue;
                }
                let name = plain(set.name.as_deref().unwrap_or_default()).to_string();
                let line = format!("{}  {name}", plain(&set.set_spec));
                writeln!(out, "{}", line.trim_end())?;
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
