//! `garner robots`: prints the lines that advertise the repository in a robots.txt.

use std::process::ExitCode;

use clap::Args;

use crate::commands::print;
use crate::config::Config;

/// Print the robots.txt lines that advertise the repository
///
/// A site without a robots.txt gets one from garner serve by itself; one that has its own is never touched,
/// and these are the lines to add to it.
#[derive(Debug, Args)]
pub(crate) struct Robots {
    /// A configuration file in TOML
    #[arg(long, value_name = "FILE")]
    config: Option<std::path::PathBuf>,
    /// Ask robots to keep to the repository
    #[arg(long)]
    exclusive: bool,
    /// Print the lines for Apache with mod_oai instead
    #[arg(long)]
    apache: bool,
}

impl Robots {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let mut config = Config::load(self.config.as_deref())?.one_site(None)?;
        config.robots.exclusive |= self.exclusive;
        let base_url = config.base_url(config.server.listen)?;
        let lines = match self.apache {
            true => server::robots::apache(&base_url, &config.robots),
            false => server::robots::file(&base_url, &config.robots),
        };
        print(lines.as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }
}
