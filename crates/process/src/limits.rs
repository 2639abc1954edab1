//! The limits of a program, and how they are written on the command line by which the program executes itself.

use std::ffi::OsString;
use std::path::PathBuf;

use rustix::process::{Resource, Rlimit, getrlimit};

/// The limits of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Address space.
    pub memory_bytes: u64,
    /// Processor time.
    pub cpu_seconds: u64,
    /// The longest file that it may write.
    pub file_bytes: u64,
    /// Files it may have open at a time.
    pub open_files: u64,
    /// The sum of the files in its directory. The process that waits for it looks after that.
    pub directory_bytes: u64,
    /// Whether it may start other programs, each within the same limits. They are killed with it.
    pub may_start_programs: bool,
    /// Whether it may read files that are readable for root alone, where garner runs as root.
    pub may_read_as_root: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 2 * 1024 * 1024 * 1024,
            cpu_seconds: 30,
            file_bytes: 256 * 1024 * 1024,
            open_files: 64,
            directory_bytes: 512 * 1024 * 1024,
            may_start_programs: false,
            may_read_as_root: false,
        }
    }
}

impl Limits {
    /// The limits that the kernel keeps for each process; no process may have more than was given to this one.
    pub(super) fn resources(&self) -> impl Iterator<Item = (Resource, Rlimit)> {
        let processes = match self.may_start_programs {
            // The limit counts all processes of the user.
            true => u64::MAX,
            // It does not hold for root, for whom calls are forbidden.
            false => 0,
        };
        [
            (Resource::As, self.memory_bytes, self.memory_bytes),
            // At the soft limit the program gets a signal that names the cause.
            (Resource::Cpu, self.cpu_seconds, self.cpu_seconds + 1),
            (Resource::Fsize, self.file_bytes, self.file_bytes),
            (Resource::Nofile, self.open_files, self.open_files),
            (Resource::Core, 0, 0),
            (Resource::Nproc, processes, processes),
        ]
        .into_iter()
        .map(|(resource, soft, hard)| {
            let ours = getrlimit(resource).maximum.unwrap_or(u64::MAX);
            let limit = Rlimit {
                current: Some(soft.min(ours)),
                maximum: Some(hard.min(ours)),
            };
            (resource, limit)
        })
    }
}

/// The orders for the process that becomes a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Orders {
    /// The process without which it has no reason to live.
    pub(super) parent: i32,
    pub(super) limits: Option<Limits>,
    /// The directory that it may write in; none: nowhere.
    pub(super) directory: Option<PathBuf>,
    /// Files and directories that it may read beside those of the system.
    pub(super) readable: Vec<PathBuf>,
    /// The newest version of Landlock to be used, to try what holds on older kernels; none: the newest there is.
    pub(super) landlock: Option<u64>,
    pub(super) command: Vec<OsString>,
}

impl Orders {
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let mut arguments = vec![OsString::from(format!("--parent={}", self.parent))];
        if let Some(limits) = &self.limits {
            let limits = [
                ("memory", limits.memory_bytes),
                ("cpu", limits.cpu_seconds),
                ("file", limits.file_bytes),
                ("open", limits.open_files),
                ("programs", limits.may_start_programs.into()),
                ("root", limits.may_read_as_root.into()),
            ];
            arguments.extend(limits.map(|(name, value)| format!("--{name}={value}").into()));
        }
        let directory = self.directory.iter().map(|path| (DIRECTORY, path));
        let readable = self.readable.iter().map(|path| (READABLE, path));
        for (name, path) in directory.chain(readable) {
            let mut argument = OsString::from(name);
            argument.push(path);
            arguments.push(argument);
        }
        if let Some(version) = self.landlock {
            arguments.push(format!("{LANDLOCK}={version}").into());
        }
        arguments.push("--".into());
        arguments.extend(self.command.iter().cloned());
        arguments
    }

    pub(super) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut orders = Self::default();
        let mut arguments = arguments.into_iter();
        for argument in arguments.by_ref() {
            if argument == "--" {
                break;
            }
            orders.take(&argument)?;
        }
        orders.command = arguments.collect();
        if orders.command.is_empty() {
            return Err("no program is named behind `--`".to_owned());
        }
        Ok(orders)
    }

    pub(super) fn take(&mut self, argument: &OsString) -> Result<(), String> {
        use std::os::unix::ffi::{OsStrExt, OsStringExt};

        let unknown = || format!("`{}` is not understood", argument.display());
        let path_of = |name: &str| {
            let path = argument.as_bytes().strip_prefix(name.as_bytes())?;
            Some(PathBuf::from(OsString::from_vec(path.to_vec())))
        };
        if let Some(path) = path_of(DIRECTORY) {
            self.directory = Some(path);
            return Ok(());
        }
        if let Some(path) = path_of(READABLE) {
            self.readable.push(path);
            return Ok(());
        }
        let (name, value) = argument
            .to_str()
            .and_then(|text| text.split_once('='))
            .ok_or_else(unknown)?;
        if name == "--parent" {
            self.parent = value.parse().map_err(|_| unknown())?;
            return Ok(());
        }
        let value: u64 = value.parse().map_err(|_| unknown())?;
        if name == LANDLOCK {
            self.landlock = Some(value);
            return Ok(());
        }
        let limits = self.limits.get_or_insert_default();
        match name {
            "--memory" => limits.memory_bytes = value,
            "--cpu" => limits.cpu_seconds = value,
            "--file" => limits.file_bytes = value,
            "--open" => limits.open_files = value,
            "--programs" => limits.may_start_programs = value != 0,
            "--root" => limits.may_read_as_root = value != 0,
            _ => return Err(unknown()),
        }
        Ok(())
    }
}

const DIRECTORY: &str = "--directory=";
const READABLE: &str = "--readable=";
pub(super) const LANDLOCK: &str = "--landlock";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_arrive_as_they_were_given() {
        let orders = Orders {
            parent: 4711,
            limits: Some(Limits {
                memory_bytes: 1,
                cpu_seconds: 2,
                file_bytes: 3,
                open_files: 4,
                may_start_programs: true,
                may_read_as_root: true,
                ..Limits::default()
            }),
            directory: Some("/tmp/a b=c".into()),
            readable: vec!["/srv/a=b".into(), "/usr/lib/x y".into()],
            landlock: Some(2),
            command: ["/usr/bin/gs", "--", "--cpu=9", "-"]
                .map(OsString::from)
                .into(),
        };
        assert_eq!(Orders::parse(orders.arguments()), Ok(orders));
    }

    #[test]
    fn orders_that_are_not_understood_are_refused() {
        let parse = |arguments: &[&str]| Orders::parse(arguments.iter().map(OsString::from));
        for wrong in [
            &["--parent=1"][..],
            &["--"],
            &["--cpu=x", "--", "a"],
            &["--swap=1", "--", "a"],
            &["ls"],
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
