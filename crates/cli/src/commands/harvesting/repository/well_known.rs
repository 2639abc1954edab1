//! `garner repository well-known`: public repositories to begin with.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::repositories;

use crate::output::{to_stdout, write_json};
use crate::table::{Column, Table};

/// List well-known public repositories to begin with
///
/// The list is shipped with garner, and addresses change: garner repository inspect URL shows whether one still answers.
/// Piped, a line is a base URL, a name and a country, separated by tabs; garner repository add --from-file takes it.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  garner repository well-known germany
  garner repository well-known dataverse | garner repository add --from-file -")]
pub(super) struct WellKnown {
    /// Only those with all of these words in their name, address or country
    words: Vec<String>,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

const COLUMNS: [Column; 3] = [
    Column::text("name", 16),
    Column::word("country").dispensable(1),
    Column::text("base url", 20),
];

impl WellKnown {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let known = repositories::well_known(&self.words.join(" "));
        if known.is_empty() {
            eprintln!("no well-known repository has these words");
        }
        to_stdout(|out| {
            let mut table = Table::on_terminal(&COLUMNS).filter(|_| !self.json);
            for known in &known {
                let (name, url, country) = (known.name, known.base_url, known.country);
                match &mut table {
                    Some(table) => table.row(out, vec![name.into(), country.into(), url.into()])?,
                    None if self.json => write_json(out, known)?,
                    None => writeln!(out, "{url}\t{name}\t{country}")?,
                }
            }
            if let Some(table) = table {
                table.finish(out)?;
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
