//! `garner records show`: one record that is held.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use operations::records::{self, Record};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::records::status;
use crate::human::moment;
use crate::output::{field, to_stdout, write_json};

/// Show a record that is held
#[derive(Debug, Args)]
pub(super) struct Show {
    /// The number of the record
    number: i64,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the XML of the record
    #[arg(long, conflicts_with = "json")]
    xml: bool,
}

impl Show {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        to_stdout(|out| {
            if self.xml {
                let file = context.wait(records::xml(&context, self.number))?;
                io::copy(&mut file.open()?, out)?;
                return Ok(ExitCode::SUCCESS);
            }
            let record = context.wait(records::show(&context, self.number))?;
            match self.json {
                true => write_json(out, &record)?,
                false => describe(out, &record)?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn describe(out: &mut impl Write, record: &Record) -> io::Result<()> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let datestamp = record.datestamp.map(|time| time.to_string());
    let path = record.path.as_ref().map(ToString::to_string);
    writeln!(out, "record {}: {}", record.id, status(record.deleted))?;
    for (name, value) in [
        ("identifier", record.identifier.clone()),
        ("title", text(&record.title)),
        ("repository", record.base_url.clone()),
        ("format", record.metadata_prefix.clone()),
        ("datestamp", text(&datestamp)),
        ("sets", record.set_specs.join(", ")),
        ("file", text(&path)),
        ("SHA-256", text(&record.sha256)),
        ("harvested", moment(Some(record.harvested))),
        ("validation", record.validation.name().to_owned()),
        ("changed by", format!("harvest {}", record.changed_by)),
        ("seen by", format!("harvest {}", record.seen_by)),
    ] {
        field(out, name, &value)?;
    }
    Ok(())
}
