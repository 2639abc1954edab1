//! `garner run failures`: failures by their causes, and all of a cause retried.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::runs;

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::operating::Operating;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Group the unresolved failures by their causes
///
/// With --retry the runs are put into the queue again: of each schedule and each target the last one. Exits with 3 if some
/// of them could not be.
#[derive(Debug, Args)]
pub(super) struct Failures {
    /// Failures of the last N days
    #[arg(long, value_name = "N", default_value_t = 7)]
    days: u32,
    /// Retry the failures: all of them, or those of this cause, as the list prints it
    #[arg(long, value_name = "CAUSE", num_args = 0..=1)]
    retry: Option<Option<String>>,
    /// Acknowledge the failures of this cause: the overview leaves them out until the next one
    #[arg(long, value_name = "CAUSE", conflicts_with = "retry")]
    acknowledge: Option<String>,
    /// With --acknowledge: for N days, even if it comes up again
    #[arg(long, value_name = "N", requires = "acknowledge")]
    mute_days: Option<u32>,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON: one object a cause, or what became of the retries
    #[arg(long)]
    json: bool,
}

impl Failures {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let operating = Operating::open(&self.holdings)?;
        if let Some(cause) = &self.retry {
            return self.retry(&operating, cause.as_deref());
        }
        let (context, actor) = (&operating.context, &operating.actor);
        if let Some(cause) = &self.acknowledge {
            let noted = runs::acknowledge(context, actor, self.days, cause, self.mute_days);
            operating.wait(noted)?;
            eprintln!("acknowledged");
            return Ok(ExitCode::SUCCESS);
        }
        let failures = operating.wait(runs::failures(context, self.days))?;
        if failures.groups.is_empty() {
            eprintln!("no unresolved failures in the last {} days", self.days);
        }
        if failures.is_cut {
            eprintln!("there are more failures; only the latest are grouped");
        }
        to_stdout(|out| {
            for group in &failures.groups {
                if self.json {
                    write_json(out, group)?;
                    continue;
                }
                match group.count {
                    1 => write!(out, "once: ")?,
                    count => write!(out, "{count} times: ")?,
                }
                writeln!(out, "{}", plain(&group.cause))?;
                writeln!(out, "  first {}, last {}", group.first, group.last)?;
                let runs: Vec<_> = group.runs.iter().map(|run| run.id.to_string()).collect();
                let more = if group.count > runs.len() as u64 {
                    " …"
                } else {
                    ""
                };
                writeln!(out, "  runs {}{more}", runs.join(", "))?;
                if !group.names.is_empty() {
                    writeln!(out, "  {}", plain(&group.names.join(", ")))?;
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }

    fn retry(&self, operating: &Operating, cause: Option<&str>) -> anyhow::Result<ExitCode> {
        let (context, actor) = (&operating.context, &operating.actor);
        let retried = operating.wait(runs::retry_failed(context, actor, self.days, cause))?;
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &retried)?,
                false => {
                    match retried.retried.len() {
                        1 => writeln!(out, "1 run is in the queue again")?,
                        number => writeln!(out, "{number} runs are in the queue again")?,
                    }
                    for skipped in &retried.skipped {
                        writeln!(out, "run {}: {}", skipped.run, plain(&skipped.reason))?;
                    }
                }
            }
            Ok(match retried.skipped.is_empty() {
                true => ExitCode::SUCCESS,
                false => ExitCode::from(3),
            })
        })
    }
}
