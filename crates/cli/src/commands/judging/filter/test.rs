//! `garner filter test`: the effect of a filter file or a mapping file on a record, and why.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::anyhow;
use catalog::RulesKind;
use clap::Args;
use flows::rules::Trial;
use operations::rules::{RulesTrial, try_on};

use super::read;
use crate::output::{Out, to_stdout, write_json};
use crate::text::{plain, plain_lines};

/// Show the effect of a filter file or a mapping file on a record, and why
///
/// For a filter file each condition is listed, with the nodes that it looks at, and whether the record is accepted. For a
/// mapping file the added elements are listed, and the record as it would be stored. The root element says which it is.
///
/// Exits with 0 if the record is accepted or was mapped, with 1 if it is rejected, and with 2 if the file or the record
/// cannot be used.
#[derive(Debug, Args)]
pub(super) struct FilterTest {
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

impl FilterTest {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self.try_run() {
            // 1 is the answer "no", so a failure has another code.
            Err(error) => {
                eprintln!("garner: {}", plain(&flows::message(&error)));
                Ok(ExitCode::from(UNUSABLE))
            }
            result => result,
        }
    }

    fn try_run(&self) -> anyhow::Result<ExitCode> {
        let file = read(&self.file)?;
        let kind = self.normalise.then_some(RulesKind::Mapping);
        let record = read(&self.record)?;
        let name = self.record.display().to_string();
        let trial = try_on(kind, &file, &record).map_err(|refusal| {
            let is_in_file = refusal
                .mistakes
                .iter()
                .any(|it| it.field == Some("content"));
            let culprit = if is_in_file { &self.file } else { &self.record };
            anyhow!("{}: {}", culprit.display(), refusal.reasons())
        })?;
        let accepted = trial.accepted;
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &RulesTrial::new(name, trial))?,
                false => text(out, &trial)?,
            }
            Ok(match accepted {
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

/// The exit code if there is no answer.
const UNUSABLE: u8 = 2;
