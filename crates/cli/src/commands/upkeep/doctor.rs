//! `garner doctor`: what is wrong with this installation, and what helps.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::system::{self, Configuration, SystemReport};
use operations::{Actor, Settings};

use crate::colour::{self, Colour};
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
/// With --json it tells all that the page System of the console shows: workers, versions, disks, programs and settings too.
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

impl Doctor {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let report = self.look();
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &report)?,
                false => tell(out, &report)?,
            }
            Ok(match report.has_problems() {
                false => ExitCode::SUCCESS,
                true => ExitCode::from(LEFT_OUT),
            })
        })
    }

    fn look(&self) -> SystemReport {
        let configuration = self.holdings.effective();
        let configuration = configuration.unwrap_or_else(|error| Configuration {
            errors: vec![flows::message(&error)],
            ..Configuration::default()
        });
        let settings = Settings {
            configuration,
            confiner: Some(confiner()),
            ..Settings::default()
        };
        let looked = self.holdings.context().and_then(|context| {
            let context = context.configured(settings.clone());
            let looked = context.wait(system::check(&context, &Actor::command_line()));
            Ok(looked?)
        });
        looked.unwrap_or_else(|error| system::check_without_catalog(&settings, &error))
    }
}

fn tell(out: &mut impl Write, report: &SystemReport) -> anyhow::Result<()> {
    for check in &report.checks {
        let (word, colour) = match check.state.as_str() {
            "ok" => ("ok", Colour::Green),
            "warning" => ("warning", Colour::Yellow),
            _ => ("PROBLEM", Colour::Red),
        };
        let state = format!("{word:<8}");
        let state = match colour::is_on() {
            true => colour.paint(&state),
            false => state,
        };
        let (area, message) = (&check.check, plain(&check.message));
        writeln!(out, "{state} {area:<14} {message}")?;
        if let Some(remedy) = &check.remedy {
            writeln!(out, "{:<24}{}", "", plain(remedy))?;
        }
    }
    Ok(())
}
