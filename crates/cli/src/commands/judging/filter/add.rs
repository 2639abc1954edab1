//! `garner filter add`: adds a filter or a mapping to the catalog.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use operations::Actor;
use operations::rules::{self, NewRules};

use super::list::print;
use super::read_text;
use crate::commands::holdings_options::HoldingsOptions;

/// Add a filter or a mapping to the catalog
///
/// The root element of the file tells which it is.
#[derive(Debug, Args)]
pub(super) struct Add {
    /// Its name
    name: String,
    /// The filter file or mapping file; - for stdin
    file: PathBuf,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Add {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let content = read_text(&self.file)?;
        let new = NewRules {
            kind: rules::kind_of(content.as_bytes())?,
            name: self.name,
            content,
        };
        let context = self.holdings.create_context()?;
        let added = context.wait(rules::add(&context, &Actor::command_line(), &new))?;
        print(&[added], self.json)
    }
}
