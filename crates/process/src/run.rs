//! Runs a program to its end, which it finds when its limits do, and takes what it prints.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::enter;
use super::group::{Group, Watch};
use super::limits::Limits;
use super::pipe::{Part, Pipe};
use super::printed::Printed;
use super::written::Written;

/// A program to be run once.
#[derive(Debug)]
pub struct Task<'a> {
    /// Its path.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its environment, beside the locale and the path.
    pub environment: Vec<(&'static str, OsString)>,
    /// Its standard input; none: nothing.
    pub input: Option<File>,
    /// Where its standard output goes.
    pub output: Output,
    /// The directory that it runs in and may write to; none: nowhere.
    pub directory: Option<&'a Path>,
    /// Files and directories that it may read beside those of the system.
    pub readable: Vec<PathBuf>,
    /// How long it may take.
    pub wall: Duration,
    /// Its limits.
    pub limits: Limits,
    /// Its time is over as soon as this is set.
    pub stop: Option<&'a AtomicBool>,
}

/// Where standard output goes.
#[derive(Debug)]
pub enum Output {
    /// Into memory, up to so many bytes; a program that prints more is stopped. One that may write files is stopped at the
    /// limit on those.
    Kept(usize),
    /// Into a file, up to the limit on files.
    File(File),
    /// Nowhere.
    Ignored,
}

/// How a program ended, with its output.
#[derive(Debug)]
pub struct Ended {
    /// How it ended.
    pub end: End,
    /// Its standard output, if that was kept.
    pub printed: Vec<u8>,
    /// The beginning of its standard error.
    pub complaints: String,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself, with a code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// By us: its time was over.
    TimeOver,
    /// By us: it printed too much.
    TooMuchPrinted,
    /// By us: the files in its directory are too long in sum, or too many.
    TooMuchWritten,
    /// It was never there.
    NotFound,
    /// It was never begun, for a reason that is among the complaints.
    NotBegun,
}

impl Task<'_> {
    /// Runs the program without confinement, where none is to be had or none is wanted. The limits hold for each of its
    /// processes from a moment after its start, and it can write no byte into a file; nothing else is kept from it.
    pub fn run_unconfined(mut self) -> io::Result<Ended> {
        let mut command = Command::new(self.program);
        self.dress(command.args(&self.arguments));
        self.limits.file_bytes = 0;
        let (stdout, most) = match self.output {
            // Not a file in memory, for which the limit on files would have to be another one.
            Output::Kept(most) => (Stdio::piped(), most),
            Output::File(file) => (file.into(), 0),
            Output::Ignored => (Stdio::null(), 0),
        };
        let stdin = self.input.map_or_else(Stdio::null, Stdio::from);
        let mut child = match command.stdin(stdin).stdout(stdout).spawn() {
            Ok(child) => child,
            Err(error) => return Ok(Ended::never_begun(&error)),
        };
        let mut pipes = Vec::new();
        let (stderr, stdout) = (child.stderr.take(), child.stdout.take());
        let group = Group::new(child);
        if let Some(stderr) = stderr {
            pipes.push(Pipe::new(stderr, Part::First(COMPLAINTS_BYTES))?);
        }
        if let Some(stdout) = stdout {
            pipes.push(Pipe::new(stdout, Part::All(most))?);
        }
        group.limit(&self.limits)?;
        let watch = Watch {
            wall: self.wall,
            stop: self.stop,
            written: None,
            is_trusted: false,
        };
        let end = finish(group, &mut pipes, &watch)?;
        let mut kept = pipes.into_iter().map(|pipe| pipe.kept);
        let complaints = kept.next().unwrap_or_default();
        Ok(Ended {
            end,
            printed: kept.next().unwrap_or_default(),
            complaints: String::from_utf8_lossy(&complaints).into_owned(),
        })
    }

    /// Runs `command`, which becomes the program within its limits.
    pub(super) fn run_as(self, mut command: Command) -> io::Result<Ended> {
        self.dress(&mut command);
        let (stdout, printed) = match self.output {
            Output::Kept(most) => {
                let printed = Printed::new(most)?;
                (printed.writer()?.into(), Some(printed))
            }
            Output::File(file) => (file.into(), None),
            Output::Ignored => (Stdio::null(), None),
        };
        let stdin = self.input.map_or_else(Stdio::null, Stdio::from);
        let mut child = command.stdin(stdin).stdout(stdout).spawn()?;
        let stderr = child.stderr.take();
        let group = Group::new(child);
        let mut pipes = Vec::new();
        if let Some(stderr) = stderr {
            pipes.push(Pipe::new(stderr, Part::First(COMPLAINTS_BYTES))?);
        }
        let watch = Watch {
            wall: self.wall,
            stop: self.stop,
            written: self.directory.map(|directory| Written {
                directory,
                most_bytes: self.limits.directory_bytes,
            }),
            is_trusted: false,
        };
        let mut end = finish(group, &mut pipes, &watch)?;
        let (printed, is_part) = match printed {
            Some(printed) => printed.read()?,
            None => (Vec::new(), false),
        };
        if is_part {
            end = End::TooMuchPrinted;
        }
        let complaints = pipes
            .first()
            .map(|pipe| String::from_utf8_lossy(&pipe.kept));
        let complaints = complaints.unwrap_or_default();
        let complaints = match end {
            End::NotFound | End::NotBegun => complaints.trim_start_matches(enter::COMPLAINT),
            _ => &*complaints,
        };
        Ok(Ended {
            end,
            printed,
            complaints: complaints.to_owned(),
        })
    }

    /// Sets what the command finds when it begins: nearly no environment, its directory, a group of its own.
    fn dress(&self, command: &mut Command) {
        command
            .env_clear()
            .envs(ENVIRONMENT)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.directory.unwrap_or(Path::new("/")))
            .process_group(0)
            .stderr(Stdio::piped());
    }
}

/// Runs a command of the one who runs garner, with the environment of garner: until it ends, its time is over or `stop` is
/// set. Then it is asked to end, and killed if it does not, with all that it started. Processes that it leaves behind when it ends
/// by itself go on, for a command may start a service.
///
/// [`Ended::printed`] is the end of its standard output and its standard error together, at most `most` bytes.
pub fn run_trusted(
    mut command: Command,
    input: File,
    most: usize,
    wall: Duration,
    stop: &AtomicBool,
) -> io::Result<Ended> {
    let (ours, theirs) = io::pipe()?;
    command
        .process_group(0)
        .stdin(input)
        .stdout(theirs.try_clone()?)
        .stderr(theirs);
    let started = command.spawn();
    // Our copies of the other end would keep the pipe open.
    drop(command);
    let child = match started {
        Ok(child) => child,
        Err(error) => return Ok(Ended::never_begun(&error)),
    };
    let group = Group::new(child);
    let mut pipes = [Pipe::new(ours, Part::Last(most))?];
    let watch = Watch {
        wall,
        stop: Some(stop),
        written: None,
        is_trusted: true,
    };
    let end = finish(group, &mut pipes, &watch)?;
    let [pipe] = pipes;
    Ok(Ended {
        end,
        printed: pipe.kept,
        complaints: String::new(),
    })
}

/// Attends to a group until it is over. The first pipe has its standard error.
fn finish(mut group: Group, pipes: &mut [Pipe], watch: &Watch<'_>) -> io::Result<End> {
    let cut = group.attend(pipes, watch)?;
    let status = match (watch.is_trusted, cut) {
        (false, _) => group.end()?,
        (true, None) => group.release()?,
        (true, Some(_)) => {
            group.ask_to_end(pipes)?;
            group.end()?
        }
    };
    // The last that it printed before its end may still be in the pipes.
    for pipe in &mut *pipes {
        pipe.drain()?;
    }
    Ok(match cut {
        _ if pipes.iter().any(Pipe::is_full) => End::TooMuchPrinted,
        Some(end) => end,
        // It may have been faster than those who look after it.
        None if watch.written.as_ref().is_some_and(Written::is_too_much) => End::TooMuchWritten,
        None => end_of(status, pipes.first().map_or(&[], |pipe| &pipe.kept)),
    })
}

impl Ended {
    fn never_begun(error: &io::Error) -> Self {
        Self {
            end: match error.kind() {
                io::ErrorKind::NotFound => End::NotFound,
                _ => End::NotBegun,
            },
            printed: Vec::new(),
            complaints: error.to_string(),
        }
    }
}

fn end_of(status: ExitStatus, complaints: &[u8]) -> End {
    let ours = complaints.starts_with(enter::COMPLAINT.as_bytes());
    match (status.code(), status.signal()) {
        (Some(code), _) if ours && code == i32::from(enter::NOT_FOUND) => End::NotFound,
        (Some(code), _) if ours && code == i32::from(enter::NOT_ENTERED) => End::NotBegun,
        (Some(code), _) => End::Code(code),
        (None, signal) => End::Signal(signal.unwrap_or_default()),
    }
}

const ENVIRONMENT: [(&str, &str); 4] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    // There is none; libraries that would keep things there do without.
    ("HOME", "/nonexistent"),
];

const COMPLAINTS_BYTES: usize = 16 * 1024;
