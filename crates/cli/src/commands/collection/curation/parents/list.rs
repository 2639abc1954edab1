//! `garner parents list`: parents, a line each.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use operations::parents::{self, Parent, ParentFilter};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::paging::{each_row, limit};
use crate::output::{to_stdout, write_json};
use crate::table::{Cell, Column, Table};

/// List parents in the order of their numbers
///
/// In a pipe a line is a parent: its number, its documents, those of them that were ingested, when it was last crawled, the
/// state of its link and its URL, separated by tabs.
#[derive(Debug, Args)]
pub(super) struct List {
    /// Only parents of this host
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Only parents with this text in their URL
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// Only parents behind this number
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    after: i64,
    /// How many at most [default: 30 on a terminal, all in a pipe and with --json]
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    holdings: HoldingsOptions,
}

impl List {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        let page = |next: Option<i64>, limit| {
            let filter = ParentFilter {
                text: self.text.clone(),
                host: self.host.clone(),
                after: next.or(Some(self.after)),
                limit,
                ..ParentFilter::default()
            };
            context.wait(parents::list(&context, &filter))
        };
        to_stdout(|out| {
            let most = limit(self.limit, DEFAULT_ROWS, self.json);
            let mut table = Table::to_stdout(&COLUMNS);
            let rows = each_row(most, page, |parent| {
                match self.json {
                    true => write_json(out, &parent)?,
                    false => table.row(out, cells(&parent))?,
                }
                Ok(())
            })?;
            table.finish(out)?;
            out.flush()?;
            if !self.json {
                rows.say_rest("--limit N");
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

const COLUMNS: [Column; 6] = [
    Column::number("no."),
    Column::number("documents"),
    Column::number("ingested").dispensable(2),
    Column::word("crawled").dispensable(1),
    Column::word("link"),
    Column::text("url", 20),
];

fn cells(parent: &Parent) -> Vec<Cell> {
    vec![
        parent.id.into(),
        Cell::count(parent.documents),
        Cell::count(parent.ingested),
        Cell::time(Some(parent.last_crawl_date)),
        Cell::state(&parent.link),
        parent.url.as_str().into(),
    ]
}

/// Rows on a terminal without --limit.
const DEFAULT_ROWS: u64 = 30;
