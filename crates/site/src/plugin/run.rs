//! Runs a program within limits and returns what it printed.
//!
//! The program gets no shell, no standard input and nearly no environment; it runs in a process group of its own,
//! which is killed as a whole when the program ends or oversteps. The limits bound what each process may use and
//! keep it from writing files. They are no sandbox: a program may leave its group with `setsid`, and what it does
//! in the instant before the limits are set is not limited. Rules are written by the one who runs the site.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, getrlimit, kill_process_group, pidfd_open, prlimit,
};
use thiserror::Error;

/// What a program may use.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    pub(super) timeout: Duration,
    pub(super) memory_bytes: u64,
    pub(super) output_bytes: usize,
}

/// Says why a program gave nothing.
#[derive(Debug, Error)]
pub(super) enum RunFailure {
    #[error("cannot start `{}`: {source}; check that it is installed and may be executed", program.display())]
    Start { program: PathBuf, source: io::Error },
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
    /// What may be told to everybody: what happened, without the program's path and its own words.
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

/// Runs a program to its end and returns what it wrote to standard output.
pub(super) fn run(
    program: &Path,
    arguments: &[OsString],
    limits: &Limits,
) -> Result<Vec<u8>, RunFailure> {
    let mut group = Group::spawn(program, arguments)?;
    let mut stdout = Pipe::new(group.child.stdout.take(), limits.output_bytes)?;
    let mut stderr = Pipe::new(group.child.stderr.take(), STDERR_BYTES)?;
    group.limit(limits)?;

    let timed_out = attend(&group, &mut stdout, &mut stderr, limits)?;
    let status = group.end()?;
    // What the program wrote before its end may still be in the pipes.
    stdout.drain()?;
    stderr.drain()?;

    let complaint = Complaint::first_line(&stderr.kept);
    if stdout.overflowed {
        return Err(RunFailure::TooMuchOutput {
            output_bytes: limits.output_bytes,
            complaint,
        });
    }
    if timed_out {
        return Err(RunFailure::Timeout {
            timeout: limits.timeout,
            complaint,
        });
    }
    check_status(status, complaint)?;
    Ok(stdout.kept)
}

/// Takes what the program prints until it ends or must be stopped; tells whether its time was over.
///
/// Ending is seen through the process, not through its pipes: a process it left behind may hold those open.
fn attend(
    group: &Group,
    stdout: &mut Pipe,
    stderr: &mut Pipe,
    limits: &Limits,
) -> io::Result<bool> {
    let process = pidfd_open(group.pid, PidfdFlags::empty())?;
    let deadline = Instant::now() + limits.timeout;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(true);
        }
        if wait_for_news(&process, [&*stdout, &*stderr], left)? {
            return Ok(false);
        }
        stdout.read_some()?;
        stderr.read_some()?;
        if stdout.overflowed {
            return Ok(false);
        }
    }
}

/// Sleeps until the process has ended, a pipe has news or the time is over; tells whether the process has ended.
fn wait_for_news(process: &OwnedFd, pipes: [&Pipe; 2], left: Duration) -> io::Result<bool> {
    let mut watched = vec![PollFd::new(process, PollFlags::IN)];
    let open = pipes.iter().filter_map(|pipe| pipe.source.as_ref());
    watched.extend(open.map(|source| PollFd::new(source, PollFlags::IN)));
    let left = Timespec::try_from(left).map_err(io::Error::other)?;
    match poll(&mut watched, Some(&left)) {
        Ok(_) => Ok(!watched[0].revents().is_empty()),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn check_status(status: ExitStatus, complaint: Complaint) -> Result<(), RunFailure> {
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(()),
        (Some(code), _) => Err(RunFailure::ExitStatus { code, complaint }),
        (None, signal) => Err(RunFailure::Signal {
            signal: signal.unwrap_or_default(),
            complaint,
        }),
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

/// A program and all it starts, killed together when this value goes away.
struct Group {
    child: Child,
    pid: Pid,
    ended: bool,
}

impl Group {
    fn spawn(program: &Path, arguments: &[OsString]) -> Result<Self, RunFailure> {
        let child = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(ENVIRONMENT)
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| RunFailure::Start {
                program: program.to_owned(),
                source,
            })?;
        let pid = Pid::from_child(&child);
        Ok(Self {
            child,
            pid,
            ended: false,
        })
    }

    fn limit(&self, limits: &Limits) -> io::Result<()> {
        // The hard limit comes a second later: at the soft one the program gets a signal that names the cause.
        let seconds = limits.timeout.as_secs();
        for (resource, soft, hard) in [
            (Resource::As, limits.memory_bytes, limits.memory_bytes),
            (Resource::Cpu, seconds, seconds + 1),
            (Resource::Fsize, 0, 0),
            (Resource::Core, 0, 0),
        ] {
            // A process inherits our limits and may not be given more than they allow.
            let ours = getrlimit(resource).maximum.unwrap_or(u64::MAX);
            let limit = Rlimit {
                current: Some(soft.min(ours)),
                maximum: Some(hard.min(ours)),
            };
            match prlimit(Some(self.pid), resource, limit) {
                // It has ended already.
                Ok(_) | Err(Errno::SRCH) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Kills whatever is left and returns how the program itself ended.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.ended {
            // Before `wait`, for until then nobody else can get the number; a dead program keeps its status.
            self.ended = true;
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
        self.child.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Our end of a pipe, read without ever waiting; keeps the first bytes up to a limit.
struct Pipe {
    source: Option<File>,
    kept: Vec<u8>,
    limit: usize,
    overflowed: bool,
}

impl Pipe {
    fn new(end: Option<impl Into<OwnedFd>>, limit: usize) -> io::Result<Self> {
        let source = end.map(|end| File::from(end.into()));
        if let Some(source) = &source {
            fcntl_setfl(source, fcntl_getfl(source)? | OFlags::NONBLOCK)?;
        }
        Ok(Self {
            source,
            kept: Vec::new(),
            limit,
            overflowed: false,
        })
    }

    /// Reads once, if there is something; tells whether there was.
    fn read_some(&mut self) -> io::Result<bool> {
        let Some(source) = &mut self.source else {
            return Ok(false);
        };
        let mut buffer = [0; 16 * 1024];
        match source.read(&mut buffer) {
            Ok(0) => {
                self.source = None;
                Ok(false)
            }
            Ok(count) => {
                self.keep(&buffer[..count]);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Reads what is there. Stops at the limit, for a process that left the group may write for ever.
    fn drain(&mut self) -> io::Result<()> {
        while !self.overflowed && self.read_some()? {}
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.limit - self.kept.len();
        self.overflowed |= bytes.len() > room;
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

/// The first line a program wrote to standard error, for the end of a message.
#[derive(Debug)]
pub(super) struct Complaint(String);

impl Complaint {
    fn first_line(stderr: &[u8]) -> Self {
        let text = String::from_utf8_lossy(stderr);
        let line = text.lines().map(str::trim).find(|line| !line.is_empty());
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

const ENVIRONMENT: [(&str, &str); 2] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("LC_ALL", "C.UTF-8"),
];

const STDERR_BYTES: usize = 4 * 1024;

const COMPLAINT_CHARS: usize = 300;

#[cfg(test)]
mod tests;
