//! `garner catalog`: the catalog as a whole.

use std::path::Path;
use std::process::ExitCode;

use ::catalog::{Catalog, CopiedTable};
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::commands::holdings_options::warn_of_password;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Copy the catalog from one database to another
#[derive(Debug, Args)]
pub(crate) struct CatalogCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Copy(Copy),
}

/// Copy a catalog into an empty database: SQLite to PostgreSQL, back, or the same
///
/// The copy has all that FROM has at the moment it begins, or nothing: the rows of every table are counted at the end.
/// FROM stays as it is; stop garner up and its workers first if nothing that they write meanwhile is to be left behind.
/// Afterwards name TO with --catalog or in the configuration. The words of records and documents are read from their
/// files anew by garner up, so searches find all of them a while later.
#[derive(Debug, Args)]
struct Copy {
    /// The catalog: postgres://USER@HOST/DATABASE, or a SQLite file
    from: String,
    /// An empty database of the same forms; a file is made
    to: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Say nothing unless something is wrong
    #[arg(long, short)]
    quiet: bool,
}

/// The copied tables.
#[derive(Serialize)]
struct Report {
    from: String,
    to: String,
    rows: u64,
    tables: Vec<Counted>,
}

/// The rows of a table.
#[derive(Serialize)]
struct Counted {
    name: String,
    rows: u64,
}

impl CatalogCommand {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Copy(command) => command.run(),
        }
    }
}

impl Copy {
    fn run(self) -> anyhow::Result<ExitCode> {
        warn_of_password(Some(&self.from));
        warn_of_password(Some(&self.to));
        let file = self.from.strip_prefix("sqlite:").unwrap_or(&self.from);
        let file = file.strip_prefix("//").unwrap_or(file);
        if !self.from.contains("://") && !Path::new(file).exists() {
            bail!("there is no catalog `{}`", self.from);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .context("the runtime cannot be started")?;
        let report = runtime.block_on(self.copy())?;
        if self.json {
            to_stdout(|out| {
                write_json(out, &report)?;
                Ok(ExitCode::SUCCESS)
            })?;
        } else if !self.quiet {
            let (from, to) = (plain(&report.from), plain(&report.to));
            eprintln!("copied {} rows of {from} to {to}", report.rows);
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn copy(&self) -> anyhow::Result<Report> {
        let from = Catalog::open(&self.from).await?;
        let to = Catalog::open(&self.to).await?;
        let mut tell = |table: &CopiedTable| {
            if !self.quiet && !self.json && table.rows > 0 {
                eprintln!("  {}: {} rows", table.name, table.rows);
            }
        };
        let copied = from.copy_to(&to, &mut tell).await?;
        let report = Report {
            from: from.location().to_owned(),
            to: to.location().to_owned(),
            rows: copied.iter().map(|table| table.rows).sum(),
            tables: copied
                .into_iter()
                .map(|CopiedTable { name, rows }| Counted { name, rows })
                .collect(),
        };
        from.close().await;
        to.close().await;
        Ok(report)
    }
}
