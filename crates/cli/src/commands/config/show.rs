//! `garner config show`: every setting that differs from the defaults, and where it comes from.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use toml::Value;

use crate::config::Layers;
use crate::config::layers::without_password;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Show every setting that was made, and which file or variable made it
///
/// Secrets are not shown. The data directory is the one that commands use here if they are not told another.
#[derive(Debug, Args)]
pub(super) struct Show {
    /// A configuration file in TOML, on top of the others [default: $GARNER_CONFIG]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The settings, as JSON has them.
#[derive(Serialize)]
struct Report {
    data: PathBuf,
    catalog: Option<String>,
    files: Vec<PathBuf>,
    settings: Vec<Setting>,
}

/// One setting.
#[derive(Serialize)]
struct Setting {
    key: String,
    value: Value,
    origin: String,
}

impl Show {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let layers = Layers::read(self.config.as_deref())?;
        let place = layers.config()?.place(None, None)?;
        let settings = layers.shown().into_iter().map(|setting| Setting {
            key: setting.key,
            value: setting.value,
            origin: setting.origin,
        });
        let report = Report {
            data: place.data,
            catalog: place.catalog.map(|catalog| without_password(&catalog)),
            files: layers.files,
            settings: settings.collect(),
        };
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &report)?,
                false => tell(out, &report)?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn tell(out: &mut impl Write, report: &Report) -> anyhow::Result<()> {
    let data = report.data.display().to_string();
    writeln!(out, "# the data directory is {}", plain(&data))?;
    for Setting { key, value, origin } in &report.settings {
        writeln!(
            out,
            "{} = {}  # {}",
            plain(key),
            plain(&value.to_string()),
            plain(origin)
        )?;
    }
    Ok(())
}
