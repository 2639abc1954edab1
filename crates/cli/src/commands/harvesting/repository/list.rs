//! `garner repository list`: all repositories, a line each.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::repositories::{self, Repository, RepositoryQuery};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::sorting::Sorting;
use crate::output::{to_stdout, write_json};
use crate::text::{columns, plain, shortened};

/// List the repositories
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    sorting: Sorting,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        let query = RepositoryQuery {
            sort: self.sorting.sort.clone(),
            descending: Some(self.sorting.descending),
            ..RepositoryQuery::default()
        };
        let repositories = context.wait(repositories::list(&context, &query))?.items;
        if repositories.is_empty() {
            eprintln!("no repository is known; add one with garner repository add BASE_URL");
        }
        to_stdout(|out| {
            for (at, repository) in repositories.iter().enumerate() {
                if self.json {
                    write_json(out, repository)?;
                    continue;
                }
                if at == 0 {
                    writeln!(out, " no.    records   deleted  base URL and name")?;
                }
                writeln!(out, "{}", line(repository))?;
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn line(repository: &Repository) -> String {
    let (id, records, deleted) = (repository.id, repository.records, repository.deleted);
    let line = format!("{id:>4} {records:>10} {deleted:>9}  ");
    let url = plain(&repository.base_url).to_string();
    let name = repository.identity.name.as_deref().unwrap_or_default();
    let name = plain(name).to_string();
    let named = format!("{url}  {name}");
    let Some(columns) = columns() else {
        return line + named.trim_end();
    };
    // Other commands take the URL, so the name gives way first.
    let room = columns.saturating_sub(line.len());
    match room.checked_sub(url.chars().count() + 2) {
        Some(rest) if rest >= MIN_NAME => format!("{line}{url}  {}", shortened(&name, rest)),
        _ => line + &shortened(&url, room),
    }
}

/// Fewer characters of a name tell nothing.
const MIN_NAME: usize = 8;
