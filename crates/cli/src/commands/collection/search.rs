//! `garner search`: one search over repositories, records and documents.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::search::{self, HitList, Hits, SearchQuery};

use crate::commands::LEFT_OUT;
use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{Out, to_stdout, write_json};
use crate::text::plain;

/// Search repositories, records and documents
///
/// Repositories are found by name or URL, records by their words (all of them; "a phrase"; begin*), documents by their URL.
/// A line has the number and the name of a hit. Exits with 3 if one kind could not be searched; stderr says why.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// Text to search for
    text: String,
    /// Hits of each kind at most
    #[arg(long, value_name = "N", default_value_t = 5)]
    limit: u64,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Search {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        let query = SearchQuery {
            text: self.text,
            limit: Some(self.limit),
        };
        let hits = context.wait(search::everywhere(&context, &query))?;
        to_stdout(|out| {
            if self.json {
                write_json(out, &hits)?;
            } else {
                print(out, &hits)?;
            }
            Ok(match is_complete(&hits) {
                true => ExitCode::SUCCESS,
                false => ExitCode::from(LEFT_OUT),
            })
        })
    }
}

fn print(out: &mut Out, hits: &Hits) -> std::io::Result<()> {
    list(out, "repositories", &hits.repositories, |row| {
        (row.id, row.title())
    })?;
    list(out, "records", &hits.records, |row| {
        (row.id, row.title.as_deref().unwrap_or(&row.identifier))
    })?;
    list(out, "documents", &hits.documents, |row| (row.id, &row.url))?;
    if hits.is_empty() {
        eprintln!("nothing matches `{}`", plain(&hits.text));
    }
    Ok(())
}

fn list<'a, T>(
    out: &mut Out,
    kind: &str,
    hits: &'a HitList<T>,
    line: impl Fn(&'a T) -> (i64, &'a str),
) -> std::io::Result<()> {
    if let Some(failure) = &hits.failure {
        eprintln!("garner: {kind} could not be searched: {}", plain(failure));
    }
    if hits.items.is_empty() {
        return Ok(());
    }
    let more = match hits.is_more {
        true => format!(" (the first {})", hits.items.len()),
        false => String::new(),
    };
    writeln!(out, "{kind}{more}")?;
    for item in &hits.items {
        let (id, name) = line(item);
        writeln!(out, "{id:>8}  {}", plain(name))?;
    }
    Ok(())
}

fn is_complete(hits: &Hits) -> bool {
    let failures = [
        &hits.repositories.failure,
        &hits.records.failure,
        &hits.documents.failure,
    ];
    failures.iter().all(|failure| failure.is_none())
}
