//! `garner config check`: finds mistakes in the configuration without starting anything.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::config::Layers;
use crate::config::layers::unknown_variables;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Find mistakes in the configuration without starting anything
///
/// Exits with 0 if garner can start with it, and with 1 if not. Deprecated keys and unknown variables are warnings.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// The file to check, on top of the others, as --config names it [default: $GARNER_CONFIG]
    file: Option<PathBuf>,
    /// The same as FILE
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The result.
#[derive(Serialize)]
struct Report {
    state: &'static str,
    files: Vec<PathBuf>,
    warnings: Vec<String>,
    errors: Vec<String>,
}

impl Check {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let named = self.file.as_deref().or(self.config.as_deref());
        let mut report = Report {
            state: "ok",
            files: Vec::new(),
            warnings: Vec::new(),
            errors: Vec::new(),
        };
        match Layers::read(named) {
            Ok(layers) => {
                let checked = layers.config().and_then(|config| {
                    config.check()?;
                    config.place(None, None).map(drop)
                });
                report
                    .errors
                    .extend(checked.err().map(|error| flows::message(&error)));
                report.warnings = layers.warnings;
                report.files = layers.files;
            }
            Err(error) => report.errors.push(flows::message(&error)),
        }
        for name in unknown_variables() {
            report
                .warnings
                .push(format!("the variable {name} means nothing to garner"));
        }
        if !report.errors.is_empty() {
            report.state = "failed";
        }
        match self.json {
            true => to_stdout(|out| {
                write_json(out, &report)?;
                Ok(ExitCode::SUCCESS)
            })?,
            false => tell(&report)?,
        };
        Ok(match report.errors.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    }
}

fn tell(report: &Report) -> anyhow::Result<ExitCode> {
    for warning in &report.warnings {
        eprintln!("warning: {}", plain(warning));
    }
    for error in &report.errors {
        eprintln!("garner: {}", plain(error));
    }
    if report.errors.is_empty() {
        let files: Vec<_> = report
            .files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        let said = match files.is_empty() {
            true => "no configuration file; the defaults apply\n".to_owned(),
            false => format!("the configuration is fine: {}\n", plain(&files.join(", "))),
        };
        crate::commands::print(said.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}
