//! `garner repository list`: all repositories, a line each.

use std::io::Write;
use std::process::ExitCode;

use catalog::RepositoryCounts;
use clap::Args;

use super::show::RepositoryJson;
use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{to_stdout, write_json};
use crate::text::{columns, plain, shortened};

/// List the repositories that are known
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.holdings.open()?;
        let catalog = holdings.catalog();
        let repositories = holdings.wait(catalog.repositories())?;
        if repositories.is_empty() {
            eprintln!("no repository is known; add one with garner repository add BASE_URL");
        }
        to_stdout(|out| {
            for (at, repository) in repositories.iter().enumerate() {
                let counts = holdings.wait(catalog.repository_counts(repository.id))?;
                if self.json {
                    write_json(out, &RepositoryJson::new(&holdings, repository, counts))?;
                    continue;
                }
                if at == 0 {
                    writeln!(out, " no.    records   deleted  base URL and name")?;
                }
                writeln!(out, "{}", line(repository, &counts))?;
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn line(repository: &catalog::Repository, counts: &RepositoryCounts) -> String {
    let (id, records, deleted) = (repository.id, counts.records, counts.deleted);
    let line = format!("{id:>4} {records:>10} {deleted:>9}  ");
    let url = plain(&repository.base_url).to_string();
    let name = repository.identity.name.as_deref().unwrap_or_default();
    let name = plain(name).to_string();
    let named = format!("{url}  {name}");
    let Some(columns) = columns() else {
        return line + named.trim_end();
    };
    // The URL is what other commands want to be told, so the name gives way first.
    let room = columns.saturating_sub(line.len());
    match room.checked_sub(url.chars().count() + 2) {
        Some(rest) if rest >= NAME => format!("{line}{url}  {}", shortened(&name, rest)),
        _ => line + &shortened(&url, room),
    }
}

/// In less room than this a name says nothing.
const NAME: usize = 8;
