//! `garner filter test`: what a filter or mapping file does to a record, and why.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use catalog::RulesKind;
use clap::{Args, Subcommand};
use harvester::xml::Limits;
use jobs::rules::{ReadRules, Trial, try_rules};
use serde_json::Value;

use crate::output::{Out, to_stdout, write_json};
use crate::text::{plain, plain_lines};

/// Try filter files and mapping files out
#[derive(Debug, Args)]
pub(crate) struct Filter {
    #[command(subcommand)]
    command: FilterCommand,
}

#[derive(Debug, Subcommand)]
enum FilterCommand {
    Test(FilterTest),
}

/// Show what a filter file or a mapping file does to a record, and why
///
/// Of a filter file each filter is told, with the nodes that it looks at, and whether the record is accepted. Of a
/// mapping file all that it adds is told, and the record as it would be stored. The root element says which it is.
///
/// Exits with 0 if the record is accepted or was mapped, with 1 if it is rejected, and with 2 if the file or the record
/// cannot be used.
#[derive(Debug, Args)]
struct FilterTest {
    /// The filter file or mapping file
    file: PathBuf,
    /// A file with a record, such as one that was harvested; - for stdin
    record: PathBuf,
    /// Take FILE for a mapping file, whatever its root element is
    #[arg(long)]
    normalise: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Filter {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let FilterCommand::Test(test) = self.command;
        match test.run() {
            // 1 is the answer "no", so what prevents an answer is told apart.
            Err(error) => {
                eprintln!("garner: {}", plain(&jobs::message(&error)));
                Ok(ExitCode::from(UNUSABLE))
            }
            result => result,
        }
    }
}

impl FilterTest {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let name = self.file.display();
        let file = read(&self.file)?;
        let kind = self.normalise.then_some(RulesKind::Mapping);
        let rules = ReadRules::parse(&file, kind).with_context(|| name.to_string())?;
        let record = read_record(&self.record)?;
        let trial = match &rules {
            ReadRules::Filter(filters) => try_rules(Some(filters), None, &record),
            ReadRules::Mapping(mappings) => try_rules(None, Some(mappings), &record),
        };
        let trial = trial.with_context(|| self.record.display().to_string())?;
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &json(&trial)?)?,
                false => text(out, &trial)?,
            }
            Ok(match trial.accepted {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            })
        })
    }
}

fn text(out: &mut Out, trial: &Trial) -> std::io::Result<()> {
    write!(out, "{}", plain_lines(&trial.to_string()))?;
    match &trial.mapping {
        Some(mapped) => writeln!(out, "\n{}", plain_lines(mapped.record.trim_end())),
        None => Ok(()),
    }
}

fn json(trial: &Trial) -> serde_json::Result<Value> {
    let Some(explanation) = &trial.filter else {
        return serde_json::to_value(&trial.mapping);
    };
    let mut value = serde_json::to_value(explanation)?;
    value["accepted"] = trial.accepted.into();
    value["deleted"] = trial.deleted.into();
    Ok(value)
}

fn read_record(path: &Path) -> anyhow::Result<Vec<u8>> {
    match path == Path::new("-") {
        true => read_from(std::io::stdin().lock()).context("cannot read the record from stdin"),
        false => read(path),
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let file = std::fs::File::open(path).and_then(read_from);
    file.with_context(|| format!("cannot read {}", path.display()))
}

/// Reads no more than is looked at anyway: one byte above the limit tells that there is too much.
fn read_from(reader: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = Limits::default().bytes as u64 + 1;
    reader.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The exit code if there is no answer.
const UNUSABLE: u8 = 2;
