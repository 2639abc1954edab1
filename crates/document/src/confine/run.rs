//! This side: starts a confined program and takes what it prints.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::attend::Group;
use super::enter;
use super::helper;
use super::limits::{LANDLOCK, Limits, Orders};
use super::pipe::Pipe;
use super::printed::Printed;
use super::written::Written;

/// Knows how this program executes itself to become another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confiner {
    program: PathBuf,
    arguments: Vec<OsString>,
    landlock: Option<u64>,
}

/// A program to be run once.
#[derive(Debug)]
pub struct Task<'a> {
    /// Where it lies.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its environment, beside the locale and the path.
    pub environment: Vec<(&'static str, OsString)>,
    /// What it reads; none: nothing.
    pub input: Option<File>,
    /// Where its standard output goes.
    pub output: Output,
    /// The directory that it runs in and may write to; none: nowhere.
    pub directory: Option<&'a Path>,
    /// How long it may take.
    pub wall: Duration,
    /// What it may use.
    pub limits: Limits,
    /// Its time is over as soon as this is set.
    pub stop: Option<&'a AtomicBool>,
}

/// Where standard output goes.
#[derive(Debug)]
pub enum Output {
    /// Into memory, up to so many bytes; who prints more is stopped. Who may write files is stopped at the limit on those.
    Kept(usize),
    /// Into a file, up to the limit on files.
    File(File),
    /// Nowhere.
    Ignored,
}

/// How a program ended, and what it said.
#[derive(Debug)]
pub struct Ended {
    /// How it ended.
    pub end: End,
    /// What it printed, if that was kept.
    pub printed: Vec<u8>,
    /// The beginning of what it printed to standard error.
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

impl Confiner {
    /// The helper that is installed beside this program, or else this very program, which has a subcommand of that name
    /// with [`enter`](fn@super::enter) behind it, also after its file was replaced by a newer one.
    pub fn this_program(subcommand: &str) -> Self {
        match helper::beside() {
            Some(program) => Self::new(program, [""; 0]),
            None => Self::new("/proc/self/exe", [subcommand]),
        }
    }

    /// Another program that has [`enter`](fn@super::enter) behind these arguments.
    pub fn new<S: Into<OsString>>(
        program: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            landlock: None,
        }
    }

    /// The same, with nothing of Landlock that came after `version`; 0: without it. That is how programs are confined on
    /// older kernels.
    #[must_use]
    pub fn with_landlock(mut self, version: u64) -> Self {
        self.landlock = Some(version);
        self
    }

    /// What this system does not let programs be kept from, in words; nothing where all is well.
    pub fn lacks(&self) -> io::Result<Vec<String>> {
        // Who asks loses rights, so it has to be a process of its own.
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(enter::PROBE);
        if let Some(version) = self.landlock {
            command.arg(format!("{LANDLOCK}={version}"));
        }
        let output = command.env_clear().stdin(Stdio::null()).output()?;
        if !output.status.success() {
            return Err(io::Error::other(format!(
                "`{}` cannot confine programs: {}",
                self.program.display(),
                String::from_utf8_lossy(&output.stderr).trim()
            )));
        }
        let lacks = String::from_utf8_lossy(&output.stdout);
        Ok(lacks.lines().map(str::to_owned).collect())
    }

    /// A command that becomes the given one and ends when this process does; nothing else is changed.
    pub fn bound(&self, program: impl Into<OsString>) -> Command {
        let orders = Orders {
            parent: own_number(),
            command: vec![program.into()],
            ..Orders::default()
        };
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args(orders.arguments());
        command
    }

    /// Runs a program to its end, which it finds when its limits do.
    pub fn run(&self, task: Task<'_>) -> io::Result<Ended> {
        let mut command = self.command(&task);
        let (stdout, printed) = match task.output {
            Output::Kept(most) => {
                let printed = Printed::new(most)?;
                (printed.writer()?.into(), Some(printed))
            }
            Output::File(file) => (file.into(), None),
            Output::Ignored => (Stdio::null(), None),
        };
        let stdin = task.input.map_or_else(Stdio::null, Stdio::from);
        let mut child = command.stdin(stdin).stdout(stdout).spawn()?;
        let stderr = child.stderr.take().map(Into::into);
        let mut group = Group::new(child);
        let mut stderr = Pipe::new(stderr, COMPLAINTS_BYTES)?;

        let written = task.directory.map(|directory| Written {
            directory,
            most_bytes: task.limits.directory_bytes,
        });
        let cut = group.attend(&mut stderr, task.wall, task.stop, written.as_ref())?;
        let status = group.end()?;
        // What it complained of before its end may still be in the pipe.
        stderr.drain()?;

        let complaints = String::from_utf8_lossy(&stderr.kept).into_owned();
        let mut ended = Ended {
            end: match cut {
                _ if stderr.is_full() => End::TooMuchPrinted,
                Some(end) => end,
                // It may have been faster than those who look after it.
                None if written.is_some_and(|written| written.is_too_much()) => End::TooMuchWritten,
                None => end_of(status, &complaints),
            },
            printed: Vec::new(),
            complaints,
        };
        if let Some(printed) = printed {
            let (printed, is_part) = printed.read()?;
            ended.printed = printed;
            if is_part {
                ended.end = End::TooMuchPrinted;
            }
        }
        Ok(ended)
    }

    /// The command but for its input and output.
    fn command(&self, task: &Task<'_>) -> Command {
        let named = task.program.as_os_str().to_owned();
        let orders = Orders {
            parent: own_number(),
            limits: Some(task.limits()),
            directory: task.directory.map(Path::to_owned),
            landlock: self.landlock,
            command: [named]
                .into_iter()
                .chain(task.arguments.iter().cloned())
                .collect(),
        };
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .args(orders.arguments())
            .env_clear()
            .envs(ENVIRONMENT)
            .envs(task.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(task.directory.unwrap_or(Path::new("/")))
            .process_group(0)
            .stderr(Stdio::piped());
        command
    }
}

impl Task<'_> {
    /// Who writes no files is stopped where more is printed than is kept.
    fn limits(&self) -> Limits {
        let mut limits = self.limits.clone();
        if let (Output::Kept(most), None) = (&self.output, self.directory) {
            limits.file_bytes = *most as u64 + 1;
        }
        limits
    }
}

fn end_of(status: ExitStatus, complaints: &str) -> End {
    let ours = complaints.starts_with(enter::COMPLAINT);
    match (status.code(), status.signal()) {
        (Some(code), _) if ours && code == i32::from(enter::NOT_FOUND) => End::NotFound,
        (Some(code), _) if ours && code == i32::from(enter::NOT_ENTERED) => End::NotBegun,
        (Some(code), _) => End::Code(code),
        (None, signal) => End::Signal(signal.unwrap_or_default()),
    }
}

fn own_number() -> i32 {
    rustix::process::getpid().as_raw_pid()
}

const ENVIRONMENT: [(&str, &str); 4] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    // There is none; libraries that would keep things there do without.
    ("HOME", "/nonexistent"),
];

const COMPLAINTS_BYTES: usize = 16 * 1024;
