//! `garner repository list`: all repositories, a line each.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::repositories::{self, Repository, RepositoryQuery};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::sorting::Sorting;
use crate::output::{to_stdout, write_json};
use crate::table::{Cell, Column, Table};
use crate::text::{ago, grouped, plain};

/// List the repositories
#[derive(Debug, Args)]
pub(super) struct List {
    /// Only repositories with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
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
            tag: self.tag.clone(),
            ..RepositoryQuery::default()
        };
        let repositories = context.wait(repositories::list(&context, &query))?.items;
        if repositories.is_empty() {
            eprintln!("no repository is known; add one with garner repository add BASE_URL");
        }
        let has_tags = repositories.iter().any(|known| !known.tags.is_empty());
        // The last column is that of tags.
        let columns = match has_tags {
            true => &COLUMNS[..],
            false => &COLUMNS[..COLUMNS.len() - 1],
        };
        to_stdout(|out| {
            if !self.json
                && let Some(mut table) = Table::on_terminal(columns)
            {
                for repository in &repositories {
                    let mut cells = cells(repository);
                    cells.truncate(columns.len());
                    table.row(out, cells)?;
                }
                table.finish(out)?;
                return Ok(ExitCode::SUCCESS);
            }
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

const COLUMNS: [Column; 8] = [
    Column::number("no."),
    Column::text("name", 12),
    Column::word("health"),
    Column::number("records").dispensable(1),
    Column::word("last harvest").dispensable(2),
    Column::word("next run").dispensable(3),
    Column::text("base url", 16),
    Column::text("tags", 8).dispensable(4),
];

fn cells(repository: &Repository) -> Vec<Cell> {
    let last = repository.last_harvest.as_ref();
    vec![
        repository.id.into(),
        repository.identity.name.as_deref().unwrap_or("-").into(),
        Cell::state(repository.health),
        grouped(repository.records).into(),
        ago(last.map(|last| last.started.0)).into(),
        ago(repository.next_run.map(|time| time.0)).into(),
        repository.base_url.as_str().into(),
        repository.tags.join(", ").into(),
    ]
}

fn line(repository: &Repository) -> String {
    let (id, records, deleted) = (repository.id, repository.records, repository.deleted);
    let line = format!("{id:>4} {records:>10} {deleted:>9}  ");
    let url = plain(&repository.base_url).to_string();
    let name = repository.identity.name.as_deref().unwrap_or_default();
    let name = plain(name).to_string();
    line + format!("{url}  {name}").trim_end()
}
