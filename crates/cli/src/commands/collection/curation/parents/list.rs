//! `garner parents list`: parents, a line each.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::parents::{self, Parent, ParentFilter};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::paging::each_row;
use crate::output::{Out, to_stdout, write_json};
use crate::text::plain;

/// List parents in the order of their numbers
///
/// A line is a parent: its number, its documents, those of them that were ingested, when it was last crawled, the state of
/// its link and its URL, separated by tabs.
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
    /// How many at most [default: all]
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
            let limit = self.limit.unwrap_or(u64::MAX);
            each_row(limit, page, |parent| self.write(&parent, out))?;
            Ok(ExitCode::SUCCESS)
        })
    }

    fn write(&self, parent: &Parent, out: &mut Out) -> anyhow::Result<()> {
        if self.json {
            return Ok(write_json(out, parent)?);
        }
        let Parent {
            id,
            documents,
            ingested,
            last_crawl_date,
            link,
            ..
        } = parent;
        let url = plain(&parent.url);
        Ok(writeln!(
            out,
            "{id}\t{documents}\t{ingested}\t{last_crawl_date}\t{link}\t{url}"
        )?)
    }
}
