//! `garner audit`: the audit trail.

use std::io::{IsTerminal, Write as _};
use std::process::ExitCode;

use clap::Args;
use operations::Actor;
use operations::audit::{self, AuditEntry, AuditQuery};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::paging::limit;
use crate::output::{to_stdout, write_json};
use crate::table::{Cell, Column, Table, say_rest};

/// List the changes that people made, the newest first
#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Only those of one account
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// At most this many [default: 30 on a terminal, all in a pipe and with --json]
    #[arg(long, value_name = "NUMBER")]
    limit: Option<u64>,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

impl Audit {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        let query = AuditQuery {
            account: self.account,
            limit: Some(limit(self.limit, DEFAULT_ROWS, self.json)),
            ..AuditQuery::default()
        };
        let entries = context.wait(audit::list(&context, &Actor::command_line(), query))?;
        let has_more = entries.next.is_some();
        to_stdout(|out| {
            let mut table = Table::to_stdout(&COLUMNS);
            for entry in &entries.items {
                match self.json {
                    true => write_json(out, entry)?,
                    false => table.row(out, cells(entry))?,
                }
            }
            table.finish(out)?;
            out.flush()?;
            if !self.json && std::io::stdout().is_terminal() {
                say_rest(
                    entries.items.len() as u64,
                    entries.total,
                    has_more,
                    "--limit N",
                );
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

const COLUMNS: [Column; 5] = [
    Column::word("when"),
    Column::text("account", 10),
    Column::word("action"),
    Column::text("subject", 16),
    Column::text("details", 12).dispensable(1),
];

fn cells(entry: &AuditEntry) -> Vec<Cell> {
    vec![
        Cell::time(Some(entry.at)),
        entry.account.as_str().into(),
        entry.action.as_str().into(),
        entry.subject.as_str().into(),
        entry.details.as_deref().unwrap_or_default().into(),
    ]
}

/// Rows on a terminal without --limit.
const DEFAULT_ROWS: u64 = 30;
