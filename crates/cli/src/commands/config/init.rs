//! `garner config init`: begins a configuration file that has every key in comments.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use crate::config::layers::user_file;
use crate::text::plain;

/// Begin a configuration file: every key with its default, in comments
///
/// Only its owner may read the file, so that secrets may stand in it. A file that is there stays as it is.
#[derive(Debug, Args)]
pub(super) struct Init {
    /// The file; - is stdout [default: ~/.config/garner/garner.toml]
    file: Option<PathBuf>,
}

impl Init {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let file = self.file.or_else(user_file).context(
            "there is no home directory to put the file in; name a file: garner config init FILE",
        )?;
        if file.as_os_str() == "-" {
            crate::commands::print(TEMPLATE.as_bytes())?;
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(directory) = file.parent().filter(|it| !it.as_os_str().is_empty()) {
            let made = DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(directory);
            made.with_context(|| format!("cannot make `{}`", directory.display()))?;
        }
        let opened = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&file);
        let mut out = match opened {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => bail!(
                "`{}` is there already and stays as it is; garner config init - prints the template",
                file.display()
            ),
            opened => opened.with_context(|| format!("cannot write `{}`", file.display()))?,
        };
        out.write_all(TEMPLATE.as_bytes())
            .with_context(|| format!("cannot write `{}`", file.display()))?;
        let path = file.display().to_string();
        eprintln!("wrote {}; edit it, then: garner config check", plain(&path));
        Ok(ExitCode::SUCCESS)
    }
}

/// The same file that packages install as /etc/garner/garner.toml.
const TEMPLATE: &str = include_str!("../../../../../contrib/garner.toml");

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the `# ` before keys and tables, all of the template is in force.
    #[test]
    fn every_line_of_the_template_is_a_setting_that_garner_knows() {
        let uncommented: String = TEMPLATE
            .lines()
            .map(|line| match line.strip_prefix('#') {
                Some(setting) if !setting.starts_with(' ') => format!("{setting}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        let settings: toml::Table = toml::from_str(&uncommented).unwrap();
        assert!(settings.len() > 10, "{settings:?}");
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("garner.toml");
        std::fs::write(&file, &uncommented).unwrap();
        crate::config::Layers::read(Some(&file)).unwrap();
    }
}
