//! `garner repository inspect`: what a repository says about itself, without adding it.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use harvester::Client;
use operations::repositories::{self, Inspection};

use crate::commands::network_options::NetworkOptions;
use crate::output::{Out, field, to_stdout, write_json};
use crate::text::{grouped, plain};

/// Show what a repository says about itself, its formats and sets, without adding it
///
/// The scheme may be missing, and the address may be that of the home page: the base URL is then found from its links, its
/// robots.txt, and the paths where repositories usually answer.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  garner repository inspect https://repository.example/oai
  garner repository inspect repository.example --json")]
pub(super) struct Inspect {
    /// Its base URL, or the address of its home page
    address: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    network: NetworkOptions,
}

impl Inspect {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let client = Client::new(self.network.client_options()?)?;
        let found = repositories::find(&client, &self.address, false)?;
        let inspection = Inspection::new(&found);
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &inspection)?,
                false => print(out, &inspection)?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn print(out: &mut Out, inspection: &Inspection) -> std::io::Result<()> {
    let identity = &inspection.identity;
    let mut line = |name, value: Option<&str>| field(out, name, value.unwrap_or_default());
    line("base URL", Some(&inspection.base_url))?;
    line("name", identity.name.as_deref())?;
    line("protocol", identity.protocol_version.as_deref())?;
    line("e-mail", Some(&identity.admin_emails.join(", ")))?;
    line("earliest", identity.earliest_datestamp.as_deref())?;
    line("deletions", identity.deleted_record.as_deref())?;
    line("granularity", identity.granularity.as_deref())?;
    let formats = inspection.formats.iter().flatten();
    let formats: Vec<_> = formats
        .map(|format| format.metadata_prefix.as_str())
        .collect();
    line("formats", Some(&formats.join(", ")))?;
    let Some(sets) = &inspection.sets else {
        return line("sets", Some("it cannot tell"));
    };
    line("sets", Some(&grouped(sets.len() as u64)))?;
    for set in sets {
        let name = set.name.as_deref().unwrap_or_default();
        writeln!(out, "  {:<20}  {}", plain(&set.set_spec), plain(name))?;
    }
    for quirk in &inspection.quirks {
        field(out, "oddity", quirk)?;
    }
    Ok(())
}
