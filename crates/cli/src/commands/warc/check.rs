//! `garner warc check`: structure and digests of archives.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::commands::LEFT_OUT;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Check the structure and the digests of archives
///
/// Every record is read, and every digest is compared with the bytes that it is of: of blocks and of payloads, as they
/// were transferred or decoded. Problems go to stdout with file, offset and record.
///
/// Exits with 0 if nothing is wrong, with 3 if there are problems, and with 1 if a file is no archive.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Archives, or directories of archives
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// How many threads read [default: one for each core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Print one JSON object for each file
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.jobs.map_or_else(cores, usize::from);
        to_stdout(|out| {
            let mut is_well = true;
            for file in &self.files {
                let check = flows::check_archive(file, threads)?;
                is_well &= check.is_well();
                if self.json {
                    write_json(out, &check)?;
                    continue;
                }
                for problem in &check.problems {
                    let record = match problem.record.as_str() {
                        "" => String::new(),
                        record => format!("{record}: "),
                    };
                    let (file, offset) = (&problem.file, problem.offset);
                    let line = format!("{file} offset {offset}: {record}{}", problem.problem);
                    writeln!(out, "{}", plain(&line))?;
                }
                let verdict = match check.problems.len() {
                    0 => "no problems".to_owned(),
                    1 => "1 problem".to_owned(),
                    count => format!("{count} problems"),
                };
                let (captures, right) = (check.captures, check.digests_right);
                let line = format!(
                    "{}: {verdict}; {captures} captures, {right} digests are right, {} captures have none",
                    check.file, check.without_digest
                );
                writeln!(out, "{}", plain(&line))?;
            }
            Ok(match is_well {
                true => ExitCode::SUCCESS,
                false => ExitCode::from(LEFT_OUT),
            })
        })
    }
}
