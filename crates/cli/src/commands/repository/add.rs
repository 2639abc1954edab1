//! `garner repository add`: a repository introduces itself.

use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
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
    /// Where its files go, if it is new [default: DIR/records/ and a name made of the URL]
    #[arg(long, value_name = "DIR")]
    base_directory: Option<PathBuf>,
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
        let directory = match &self.base_directory {
            Some(directory) => Some(free(&holdings, &repository.base_url(), directory)?),
            None => None,
        };
        let known = jobs::introduce(&holdings, &repository, directory.as_deref())?;
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

/// The directory, as seen from everywhere. It belongs to one repository, and stays the same.
fn free(holdings: &Holdings, base_url: &str, directory: &Path) -> anyhow::Result<String> {
    let shown = directory.display();
    let wanted = place(directory).with_context(|| format!("the base directory `{shown}`"))?;
    for other in holdings.wait(holdings.catalog().repositories())? {
        let number = other.id;
        let taken = holdings.base_directory(&other);
        let theirs = taken.display();
        let taken = place(&taken).with_context(|| format!("the base directory `{theirs}`"))?;
        if other.base_url == base_url && taken != wanted {
            bail!(
                "the files of repository {number} lie in {theirs} already; remove it first, or leave out --base-directory"
            );
        }
        if other.base_url != base_url && (taken.starts_with(&wanted) || wanted.starts_with(&taken))
        {
            bail!(
                "{shown} would be mixed with the files of repository {number} in {theirs}; give another"
            );
        }
    }
    Ok(wanted.to_string_lossy().into_owned())
}

/// The absolute path, without links and `..`: what is there tells where they lead, and in what is not there yet no links
/// can be.
fn place(path: &Path) -> std::io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let mut place = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                place.pop();
            }
            part => place.push(part),
        }
        place = place.canonicalize().unwrap_or(place);
    }
    Ok(place)
}
