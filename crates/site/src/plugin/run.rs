//! Runs a program within limits and returns its output.
//!
//! The program gets no shell, no standard input and nearly no environment; it is killed with all that it started when it
//! ends or oversteps. Confined it can read the file that it is run on, the files of the system and those that its rule
//! names, and can change nothing. Where it is not confined the limits bound each process and keep it from writing files,
//! but they are no sandbox.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use process::{Confiner, End, Limits, Output, Task};
use rustix::process::Signal;
use thiserror::Error;

/// Says why a program gave nothing.
#[derive(Debug, Error)]
pub(super) enum RunFailure {
    #[error("cannot start `{}`: {reason}; check that it is installed and may be executed", program.display())]
    Start { program: PathBuf, reason: String },
    #[error("cannot watch the program: {0}")]
    Watch(#[from] io::Error),
    #[error("did not end within {} s, raise `timeout_seconds` if it needs longer{complaint}", timeout.as_secs())]
    Timeout {
        timeout: Duration,
        complaint: Complaint,
    },
    #[error("printed more than {} KB, raise `output_kb` if it needs more{complaint}", output_bytes / 1024)]
    TooMuchOutput {
        output_bytes: usize,
        complaint: Complaint,
    },
    #[error("ended with exit status {code}{complaint}")]
    ExitStatus { code: i32, complaint: Complaint },
    #[error("was ended by signal {signal}{}{complaint}", signal_hint(*signal))]
    Signal { signal: i32, complaint: Complaint },
}

impl RunFailure {
    /// The failure as it may be told to everybody: without the program's path and its own words.
    pub(super) fn told(&self) -> String {
        match self {
            Self::Start { .. } => "could not be started".to_owned(),
            Self::Watch(_) => "could not be watched".to_owned(),
            Self::Timeout { timeout, .. } => format!("did not end within {} s", timeout.as_secs()),
            Self::TooMuchOutput { output_bytes, .. } => {
                format!("printed more than {} KB", output_bytes / 1024)
            }
            Self::ExitStatus { code, .. } => format!("ended with exit status {code}"),
            Self::Signal { signal, .. } => format!("was ended by signal {signal}"),
        }
    }
}

/// Runs a program to its end, confined if there is a `confiner`, and returns its standard output.
pub(super) fn run(task: Task<'_>, confiner: Option<&Confiner>) -> Result<Vec<u8>, RunFailure> {
    let (program, timeout) = (task.program, task.wall);
    let output_bytes = match task.output {
        Output::Kept(most) => most,
        Output::File(_) | Output::Ignored => 0,
    };
    let ended = match confiner {
        Some(confiner) => confiner.run(task)?,
        None => task.run_unconfined()?,
    };
    let complaint = Complaint::first_line(&ended.complaints);
    Err(match ended.end {
        End::Code(0) => return Ok(ended.printed),
        End::Code(code) => RunFailure::ExitStatus { code, complaint },
        End::Signal(signal) => RunFailure::Signal { signal, complaint },
        End::TimeOver => RunFailure::Timeout { timeout, complaint },
        End::TooMuchPrinted | End::TooMuchWritten => RunFailure::TooMuchOutput {
            output_bytes,
            complaint,
        },
        End::NotFound | End::NotBegun => RunFailure::Start {
            program: program.to_owned(),
            reason: complaint.0,
        },
    })
}

/// The limits of a plug-in. It may start other programs, as shell scripts do.
pub(super) fn limits(timeout: Duration, memory_bytes: u64) -> Limits {
    Limits {
        memory_bytes,
        cpu_seconds: timeout.as_secs(),
        file_bytes: 0,
        open_files: OPEN_FILES,
        may_start_programs: true,
        // Or a plug-in could not read what only garner may.
        may_read_as_root: true,
        ..Limits::default()
    }
}

fn signal_hint(signal: i32) -> &'static str {
    match Signal::from_named_raw(signal) {
        Some(Signal::XCPU) => " (it used more processor time than `timeout_seconds`)",
        Some(Signal::XFSZ) => " (it tried to write a file; a plug-in may only print)",
        Some(Signal::SEGV | Signal::BUS | Signal::ABORT | Signal::KILL | Signal::TRAP) => {
            " (perhaps for want of memory, see `memory_mb`)"
        }
        _ => "",
    }
}

/// The first line a program wrote to standard error, for the end of a message.
#[derive(Debug)]
pub(super) struct Complaint(String);

impl Complaint {
    fn first_line(stderr: &str) -> Self {
        let line = stderr.lines().map(str::trim).find(|line| !line.is_empty());
        let printable = line.unwrap_or_default().chars().filter(|c| !c.is_control());
        Self(printable.take(COMPLAINT_CHARS).collect())
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_str() {
            "" => Ok(()),
            line => write!(f, ": {line}"),
        }
    }
}

const OPEN_FILES: u64 = 256;

const COMPLAINT_CHARS: usize = 300;

#[cfg(test)]
mod tests;
