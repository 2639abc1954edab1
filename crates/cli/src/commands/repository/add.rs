//! `garner repository add`: a repository introduces itself.

use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use harvester::Client;
use jobs::Holdings;

use super::show::{Introduction, show};
use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::network_options::NetworkOptions;
use crate::output::{to_stdout, write_json};

/// Add a repository, or bring up to date what is known of it
///
/// Only its base URL is needed. Its name, formats and sets come from its own answers, and are printed. Nothing is
/// harvested.
#[derive(Debug, Args)]
pub(super) struct Add {
    /// Where the repository answers
    base_url: String,
    /// Where its files will lie, below the data directory [default: made of the base URL]
    #[arg(long, value_name = "DIR")]
    base_directory: Option<String>,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    network: NetworkOptions,
}

impl Add {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let client = Client::new(self.network.client_options()?)?;
        let repository = client.repository(&self.base_url)?;
        answers(&repository)?;
        let holdings = self.holdings.create()?;
        if let Some(directory) = &self.base_directory {
            check(&holdings, &repository.base_url(), directory)?;
        }
        let known = jobs::introduce(&holdings, &repository, self.base_directory.as_deref())?;
        let introduction = Introduction::of(&holdings, known)?;
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &introduction.json())?,
                false => show(out, &introduction)?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

/// A repository may get one of these verbs wrong and still give records. What gets both wrong is none: a web page, or a
/// URL that was mistyped.
fn answers(repository: &harvester::Repository) -> Result<(), harvester::Error> {
    match repository.identify() {
        Err(error) if repository.list_metadata_formats(None).is_err() => Err(error),
        _ => Ok(()),
    }
}

/// A directory belongs to one repository, and stays the same.
fn check(holdings: &Holdings, base_url: &str, directory: &str) -> anyhow::Result<()> {
    let wanted = plain_path(Path::new(directory));
    if wanted.as_os_str().is_empty() {
        bail!("the base directory `{directory}` names none; give one below the data directory");
    }
    for other in holdings.wait(holdings.catalog().repositories())? {
        let taken = plain_path(Path::new(&other.base_directory));
        let number = other.id;
        if other.base_url == base_url && taken != wanted {
            bail!(
                "the files of repository {number} lie in `{}` already; remove it first, or leave out --base-directory",
                other.base_directory
            );
        }
        if other.base_url != base_url && (taken.starts_with(&wanted) || wanted.starts_with(&taken))
        {
            bail!(
                "`{directory}` would be mixed with the files of repository {number} in `{}`; give another",
                other.base_directory
            );
        }
    }
    Ok(())
}

/// The path without `.`; what is wrong with `..` is another question.
fn plain_path(path: &Path) -> PathBuf {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts.collect()
}
