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
    let fixed = format!(
        "{:>4} {:>10} {:>9}  ",
        repository.id, counts.records, counts.deleted
    );
    let name = repository.identity.name.as_deref().unwrap_or_default();
    let (url, name) = (plain(&repository.base_url), plain(name));
    let named = format!("{url}  {name}");
    match columns() {
        Some(columns) => {
            let room = columns.saturating_sub(fixed.len());
            fixed + &shortened(named.trim_end(), room)
        }
        None => fixed + named.trim_end(),
    }
}
