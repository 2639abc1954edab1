//! `garner repository tag`: groups repositories by words.

use std::process::ExitCode;

use clap::Args;
use operations::Actor;
use operations::repositories::{self, TagChange};

use crate::commands::repository::Chosen;
use crate::commands::repository::show::print;

/// Add tags to a repository, or remove some
///
/// Tags are words by which the lists of repositories can be filtered, such as a country or a project.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  garner repository tag https://repository.example/oai --add germany --add theses --remove new")]
pub(super) struct Tag {
    #[command(flatten)]
    chosen: Chosen,
    /// A tag that it gets; may be given several times
    #[arg(long, value_name = "TAG", required_unless_present = "remove")]
    add: Vec<String>,
    /// A tag that it loses; may be given several times
    #[arg(long, value_name = "TAG")]
    remove: Vec<String>,
}

impl Tag {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.chosen.holdings.context()?;
        let id = context.holdings().repository(&self.chosen.repository)?.id;
        let change = TagChange {
            add: self.add,
            remove: self.remove,
        };
        let actor = Actor::command_line();
        let changed = repositories::change_tags(&context, &actor, id, &change);
        print(&context, &context.wait(changed)?, self.chosen.json)
    }
}
