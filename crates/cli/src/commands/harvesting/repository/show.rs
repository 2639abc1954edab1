//! `garner repository show`: a repository with its formats, sets and last harvests.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use operations::Context;
use operations::harvests::{self, HarvestFilter};
use operations::repositories::{self, Repository, Set, SetQuery};

use crate::commands::history::{COLUMNS, cells};
use crate::commands::repository::Chosen;
use crate::human::{moment, number};
use crate::output::{field, to_stdout, write_json};
use crate::table::Table;
use crate::text::plain;

/// Show a repository: its own description, its formats and sets, its records and last harvests
///
/// The JSON is the one of the API. Formats, sets and harvests have commands of their own: garner repository formats,
/// garner repository sets and garner history --repository.
#[derive(Debug, Args)]
pub(super) struct Show {
    #[command(flatten)]
    chosen: Chosen,
}

impl Show {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.chosen.holdings.context()?;
        let id = context.holdings().repository(&self.chosen.repository)?.id;
        let repository = context.wait(repositories::show(&context, id))?;
        print(&context, &repository, self.chosen.json)
    }
}

/// Prints a repository.
pub(super) fn print(
    context: &Context,
    repository: &Repository,
    json: bool,
) -> anyhow::Result<ExitCode> {
    to_stdout(|out| {
        match json {
            true => write_json(out, repository)?,
            false => show(out, context, repository)?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Writes a repository for people.
pub(super) fn show(
    out: &mut impl Write,
    context: &Context,
    repository: &Repository,
) -> anyhow::Result<()> {
    let (id, identity) = (repository.id, &repository.identity);
    let formats = context.wait(repositories::formats(context, id))?;
    let query = SetQuery {
        limit: Some(FIRST_SETS as u64),
        ..SetQuery::default()
    };
    let first_sets = context.wait(repositories::sets(context, id, &query))?;
    writeln!(out, "repository {id}: {}", plain(&repository.base_url))?;
    let mut line = |name, value: Option<&str>| field(out, name, value.unwrap_or_default());
    line("name", identity.name.as_deref())?;
    line("protocol", identity.protocol_version.as_deref())?;
    line("e-mail", Some(&identity.admin_emails.join(", ")))?;
    line("earliest", identity.earliest_datestamp.as_deref())?;
    line("deletions", identity.deleted_record.as_deref())?;
    line("granularity", identity.granularity.as_deref())?;
    if !repository.tags.is_empty() {
        line("tags", Some(&repository.tags.join(", ")))?;
    }
    line("files", Some(&repository.directory))?;
    line("added", Some(&moment(Some(repository.added))))?;
    line("identified", Some(&moment(Some(repository.identified))))?;
    let offered = formats.iter().filter(|format| format.offered);
    let offered: Vec<_> = offered
        .map(|format| format.metadata_prefix.as_str())
        .collect();
    line("formats", Some(&offered.join(", ")))?;
    sets(out, &first_sets.items, first_sets.total.unwrap_or_default())?;
    for format in formats.iter().filter(|format| format.is_held()) {
        let (records, prefix, deleted) = (format.records, &format.metadata_prefix, format.deleted);
        let (records, deleted) = (number(records), number(deleted));
        let records = format!("{records} in {prefix}, {deleted} more deleted");
        field(out, "records", &records)?;
    }
    last_harvests(out, context, id)
}

/// Writes the last harvests.
fn last_harvests(out: &mut impl Write, context: &Context, id: i64) -> anyhow::Result<()> {
    let last = HarvestFilter {
        repository: Some(id),
        limit: Some(LAST_HARVESTS),
        ..HarvestFilter::default()
    };
    let harvests = context.wait(harvests::list(context, &last))?.items;
    if harvests.is_empty() {
        return Ok(());
    }
    let all = context
        .wait(context.catalog().repository_counts(id))?
        .harvests;
    match (harvests.len() as u64) < all {
        true => writeln!(out, "\nthe last {} of {all} harvests", harvests.len())?,
        false => writeln!(out, "\nharvests")?,
    }
    let mut table = Table::to_stdout(&COLUMNS);
    for entry in &harvests {
        table.row(out, cells(entry))?;
    }
    Ok(table.finish(out)?)
}

/// Writes the first of `total` sets; some repositories have a set for each author.
fn sets(out: &mut impl Write, first: &[Set], total: u64) -> io::Result<()> {
    if first.is_empty() {
        return field(out, "sets", "none");
    }
    field(out, "sets", &total.to_string())?;
    let lengths = first.iter().map(|set| set.set_spec.chars().count());
    let width = lengths.max().unwrap_or_default().min(MAX_WIDTH);
    for set in first {
        let (spec, name) = (plain(&set.set_spec), set.name.as_deref());
        let line = format!("  {spec:<width$}  {}", plain(name.unwrap_or_default()));
        writeln!(out, "{}", line.trim_end())?;
    }
    match total.saturating_sub(first.len() as u64) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} more; garner repository sets lists all"),
    }
}

const FIRST_SETS: usize = 10;
const MAX_WIDTH: usize = 40;
const LAST_HARVESTS: u64 = 5;
