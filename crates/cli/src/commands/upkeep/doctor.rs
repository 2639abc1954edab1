//! `garner doctor`: what is wrong with this installation, and what helps.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use flows::{CheckState, Checked};
use operations::{Actor, Context, upkeep};
use serde::Serialize;

use crate::commands::LEFT_OUT;
use crate::commands::confine::confiner;
use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Find out what is wrong with this installation, and what helps
///
/// Looks at the configuration, the programs that garner calls, how they are confined on this kernel, the data directory
/// and its permissions, the disk, the catalog, the clocks, and a sample of the files. garner verify compares all files.
///
/// Exits with 0 if garner can work, warnings or not, and with 3 if there are problems.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// All findings.
#[derive(Serialize)]
struct Report {
    version: &'static str,
    state: &'static str,
    checks: Vec<Checked>,
}

impl Doctor {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let mut checks = vec![version()];
        checks.extend(flows::check_system(confiner()));
        checks.push(self.configuration());
        checks.extend(self.check_holdings());
        let is_well = checks
            .iter()
            .all(|check| check.state != CheckState::Problem);
        let report = Report {
            version: env!("CARGO_PKG_VERSION"),
            state: match is_well {
                true => "ok",
                false => "problems",
            },
            checks,
        };
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &report)?,
                false => tell(out, &report)?,
            }
            Ok(match is_well {
                true => ExitCode::SUCCESS,
                false => ExitCode::from(LEFT_OUT),
            })
        })
    }

    fn configuration(&self) -> Checked {
        let checked = self
            .holdings
            .configuration()
            .and_then(|config| config.check());
        match checked {
            Ok(()) => Checked::ok("configuration", "the configuration has no mistakes"),
            Err(error) => Checked::problem(
                "configuration",
                flows::message(&error),
                "mend the key; garner config show lists all settings and their files",
            ),
        }
    }

    fn check_holdings(&self) -> Vec<Checked> {
        let opened = self.holdings.open();
        let checked = opened.and_then(|holdings| {
            let context = Context::new(Arc::new(holdings));
            Ok(upkeep::check(&context, &Actor::command_line())?)
        });
        checked.unwrap_or_else(|error| {
            let is_new = flows::failure_code(&error) == flows::Failure::NO_CATALOG;
            vec![match is_new {
                true => Checked::warning(
                    "catalog",
                    flows::message(&error),
                    "start with garner up, garner harvest or garner import",
                ),
                false => Checked::problem(
                    "catalog",
                    flows::message(&error),
                    "see that the database runs, that its disk has room, and that this user may use it",
                ),
            }]
        })
    }
}

fn version() -> Checked {
    let system = rustix::system::uname();
    let kernel = system.release().to_string_lossy().into_owned();
    Checked::ok(
        "version",
        format!("garner {} on Linux {kernel}", env!("CARGO_PKG_VERSION")),
    )
}

fn tell(out: &mut impl Write, report: &Report) -> anyhow::Result<()> {
    for check in &report.checks {
        let state = match check.state {
            CheckState::Ok => "ok",
            CheckState::Warning => "warning",
            CheckState::Problem => "PROBLEM",
        };
        writeln!(
            out,
            "{state:<8} {:<14} {}",
            check.check,
            plain(&check.message)
        )?;
        if let Some(remedy) = &check.remedy {
            writeln!(out, "{:<24}{}", "", plain(remedy))?;
        }
    }
    Ok(())
}
