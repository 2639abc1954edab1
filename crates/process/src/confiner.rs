//! This side of confinement: starts the process that limits itself and becomes the program.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use super::enter;
use super::helper;
use super::limits::{LANDLOCK, Limits, Orders};
use super::run::{Ended, Output, Task};

/// Knows how this program executes itself to become another one.
#[derive(Debug, Clone)]
pub struct Confiner {
    program: PathBuf,
    arguments: Vec<OsString>,
    landlock: Option<u64>,
    /// The file of the program, if it is named by its number.
    _opened: Option<Arc<File>>,
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

    /// The helper at `path`, for a process that has no such subcommand. The error says why it cannot be used.
    pub fn installed(path: &Path) -> Result<Self, String> {
        let (program, opened) = helper::installed(path)?;
        Ok(Self {
            _opened: Some(Arc::new(opened)),
            ..Self::new(program, [""; 0])
        })
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
            _opened: None,
        }
    }

    /// The same, with nothing of Landlock that came after `version`; 0: without it. That is how programs are confined on
    /// older kernels.
    #[must_use]
    pub fn with_landlock(mut self, version: u64) -> Self {
        self.landlock = Some(version);
        self
    }

    /// The deeds that this system does not let programs be kept from, in words; none where all is well.
    pub fn lacks(&self) -> io::Result<Vec<String>> {
        // The process that answers loses rights, so it is not this one.
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
        self.command(&orders)
    }

    /// Runs a program to its end, which it finds when its limits do.
    pub fn run(&self, task: Task<'_>) -> io::Result<Ended> {
        let named = task.program.as_os_str().to_owned();
        let orders = Orders {
            parent: own_number(),
            limits: Some(limits_of(&task)),
            directory: task.directory.map(Path::to_owned),
            readable: task.readable.clone(),
            landlock: self.landlock,
            command: [named]
                .into_iter()
                .chain(task.arguments.iter().cloned())
                .collect(),
        };
        task.run_as(self.command(&orders))
    }

    fn command(&self, orders: &Orders) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args(orders.arguments());
        command
    }
}

/// A program that writes no files is stopped where more is printed than is kept.
fn limits_of(task: &Task<'_>) -> Limits {
    let mut limits = task.limits.clone();
    if let (Output::Kept(most), None) = (&task.output, task.directory) {
        limits.file_bytes = *most as u64 + 1;
    }
    limits
}

fn own_number() -> i32 {
    rustix::process::getpid().as_raw_pid()
}
