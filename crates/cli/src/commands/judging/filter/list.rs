//! `garner filter list`: the filters and mappings of the catalog.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::rules::{self, Rules, RulesQuery};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::sorting::Sorting;
use crate::output::{to_stdout, write_json};
use crate::table::{Column, Table};
use crate::text::{ago, plain};

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
        if !json && let Some(mut table) = Table::on_terminal(&COLUMNS) {
            for rules in rules {
                let cells = vec![
                    rules.id.into(),
                    rules.name.as_str().into(),
                    rules.kind.name().into(),
                    rules.version.into(),
                    ago(Some(rules.changed.0)).into(),
                ];
                table.row(out, cells)?;
            }
            table.finish(out)?;
            return Ok(ExitCode::SUCCESS);
        }
        for (at, rules) in rules.iter().enumerate() {
            if json {
                write_json(out, rules)?;
                continue;
            }
            if at == 0 {
                writeln!(out, " no.  kind     version  changed               name")?;
            }
            let (id, kind, version) = (rules.id, rules.kind.name(), rules.version);
            let (changed, name) = (rules.changed, plain(&rules.name));
            writeln!(out, "{id:>4}  {kind:<7}  {version:>7}  {changed}  {name}")?;
        }
        Ok(ExitCode::SUCCESS)
    })
}
