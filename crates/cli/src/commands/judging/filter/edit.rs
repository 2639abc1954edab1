//! `garner filter edit`: changes name or text of a filter or a mapping.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use operations::Actor;
use operations::rules::{self, ChangedRules};

use super::list::print;
use super::{Chosen, read_text};

/// Change the name or the text of a filter or a mapping
#[derive(Debug, Args)]
pub(super) struct Edit {
    #[command(flatten)]
    chosen: Chosen,
    /// Its new name
    #[arg(long)]
    name: Option<String>,
    /// The file that replaces its text; - for stdin
    #[arg(long, required_unless_present = "name")]
    file: Option<PathBuf>,
}

impl Edit {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.chosen.holdings.context()?;
        let known = context.wait(rules::show(&context, self.chosen.id))?;
        let content = self.file.as_deref().map(read_text).transpose()?;
        let changed = ChangedRules {
            name: self.name.unwrap_or(known.name),
            content: content.unwrap_or(known.content),
            version: known.version,
        };
        let actor = Actor::command_line();
        let changed = context.wait(rules::change(&context, &actor, known.id, &changed))?;
        print(&[changed], self.chosen.json)
    }
}
