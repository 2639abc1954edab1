//! `garner repository list`: all repositories, a line each.

use std::process::ExitCode;

use clap::Args;
use operations::repositories::{self, Repository, RepositoryQuery};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::sorting::Sorting;
use crate::output::{to_stdout, write_json};
use crate::table::{Cell, Column, Table};

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
        to_stdout(|out| {
            let mut table = Table::to_stdout(&COLUMNS);
            for repository in &repositories {
                match self.json {
                    true => write_json(out, repository)?,
                    false => table.row(out, cells(repository))?,
                }
            }
            table.finish(out)?;
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
        Cell::count(repository.records),
        Cell::time(last.map(|last| last.started)),
        Cell::time(repository.next_run),
        repository.base_url.as_str().into(),
        repository.tags.join(", ").into(),
    ]
}
