//! `garner audit`: the audit trail.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::Actor;
use operations::audit::{self, AuditQuery};

use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// List the changes that people made, the newest first
#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Only those of one account
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// At most this many [default: all]
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
            limit: self.limit,
            ..AuditQuery::default()
        };
        let entries = context.wait(audit::list(&context, &Actor::command_line(), query))?;
        to_stdout(|out| {
            for entry in &entries.items {
                if self.json {
                    write_json(out, entry)?;
                    continue;
                }
                let (at, account, action) = (entry.at, plain(&entry.account), plain(&entry.action));
                let subject = plain(&entry.subject);
                write!(out, "{at}  {account}  {action}  {subject}")?;
                match &entry.details {
                    Some(details) => writeln!(out, ": {}", plain(details))?,
                    None => writeln!(out)?,
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
