//! `garner filter list`: the filters and mappings of the catalog.

use std::process::ExitCode;

use clap::Args;
use operations::rules::{self, Rules, RulesQuery};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::sorting::Sorting;
use crate::output::{to_stdout, write_json};
use crate::table::{Cell, Column, Table};

/// List the filters and mappings of the catalog
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    sorting: Sorting,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        let rules = context.wait(rules::list(&context, RulesQuery::default()))?;
        if rules.is_empty() {
            eprintln!(
                "there is no filter and no mapping; add one with garner filter add NAME FILE"
            );
        }
        let rules = self.sorting.paging().page(rules, rules::ORDERS)?;
        print(&rules.items, self.json)
    }
}

const COLUMNS: [Column; 5] = [
    Column::number("no."),
    Column::text("name", 12),
    Column::word("kind"),
    Column::number("version"),
    Column::word("changed"),
];

/// Prints rules, a line each.
pub(super) fn print(rules: &[Rules], json: bool) -> anyhow::Result<ExitCode> {
    to_stdout(|out| {
        let mut table = Table::to_stdout(&COLUMNS);
        for rules in rules {
            if json {
                write_json(out, rules)?;
                continue;
            }
            let cells = vec![
                rules.id.into(),
                rules.name.as_str().into(),
                rules.kind.name().into(),
                rules.version.into(),
                Cell::time(Some(rules.changed)),
            ];
            table.row(out, cells)?;
        }
        table.finish(out)?;
        Ok(ExitCode::SUCCESS)
    })
}
