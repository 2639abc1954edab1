//! What a program may use, and how that is said on the command line by which the program executes itself.

use std::ffi::OsString;
use std::path::PathBuf;

/// What one process may use.
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
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 2 * 1024 * 1024 * 1024,
            cpu_seconds: 30,
            file_bytes: 256 * 1024 * 1024,
            open_files: 64,
            directory_bytes: 512 * 1024 * 1024,
        }
    }
}

/// All that is said to the process that becomes a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Orders {
    /// The process without which it has no reason to live.
    pub(super) parent: i32,
    pub(super) limits: Option<Limits>,
    /// The directory that it may write in; none: nowhere.
    pub(super) directory: Option<PathBuf>,
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
            ];
            arguments.extend(limits.map(|(name, value)| format!("--{name}={value}").into()));
        }
        if let Some(directory) = &self.directory {
            let mut argument = OsString::from("--directory=");
            argument.push(directory);
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
        if let Some(path) = argument.as_bytes().strip_prefix(b"--directory=") {
            self.directory = Some(OsString::from_vec(path.to_vec()).into());
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
            _ => return Err(unknown()),
        }
        Ok(())
    }
}

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
                ..Limits::default()
            }),
            directory: Some("/tmp/a b=c".into()),
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
