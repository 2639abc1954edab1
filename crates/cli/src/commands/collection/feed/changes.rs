//! `garner feed changes`: changes of documents as JSON Lines.

use std::process::ExitCode;

use clap::Args;
use operations::MAX_LIMIT;
use operations::feed::{self, FeedQuery};

use crate::commands::LEFT_OUT;
use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Print the documents that are new, updated or removed, one object of JSON a line
///
/// Each document stands at the place of its last change. Whoever keeps the seq of the last line and gives it as --since the
/// next time misses nothing. A document that is set aside counts as removed.
///
/// Exits with 3 if texts of documents are missing; they are named.
#[derive(Debug, Args)]
pub(super) struct Changes {
    /// Only changes behind this one: the seq of a line [default: all]
    #[arg(long, value_name = "SEQ")]
    since: Option<String>,
    /// How many at most [default: all]
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// With the stored texts
    #[arg(long)]
    text: bool,
    /// Print JSON, as without it
    #[arg(long, hide = true)]
    json: bool,
    #[command(flatten)]
    holdings: HoldingsOptions,
}

impl Changes {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        let query = FeedQuery {
            since: self.since,
            limit: self.limit,
            text: self.text,
        };
        let mut since = context.wait(feed::begin(&context, query.since.as_deref()))?;
        let mut missing = 0;
        let mut left = query.limit.unwrap_or(u64::MAX);
        to_stdout(|out| {
            while left > 0 {
                let some = Some(left.min(MAX_LIMIT));
                let (changes, next) =
                    context.wait(feed::changes(&context, since, some, query.text))?;
                for change in &changes {
                    write_json(out, change)?;
                    if let Some(problem) = &change.problem {
                        missing += 1;
                        eprintln!("document {}: {}", change.id, plain(problem));
                    }
                }
                left -= changes.len() as u64;
                let Some(next) = next else { break };
                since = next;
            }
            Ok(match missing {
                0 => ExitCode::SUCCESS,
                _ => ExitCode::from(LEFT_OUT),
            })
        })
    }
}
