//! `garner repository show`: all that is known of a repository.

use std::io::{self, Write};
use std::process::ExitCode;

use catalog::{
    FormatCounts, HistoryEntry, HistoryQuery, MetadataFormat, Repository, RepositoryCounts, Set,
};
use clap::Args;
use jobs::Holdings;
use serde::Serialize;

use crate::commands::history::{EntryJson, Table};
use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{to_stdout, write_json};
use crate::text::{date, plain};

/// Show what is known of a repository: what it says of itself, its formats and sets, what is held of it
#[derive(Debug, Args)]
pub(super) struct Show {
    /// Its base URL, or its number in garner repository list
    #[arg(value_name = "URL|NUMBER")]
    repository: String,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON, with all sets
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.holdings.open()?;
        let repository = holdings.repository(&self.repository)?;
        let introduction = Introduction::of(&holdings, repository)?;
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &introduction.json())?,
                false => show(out, &introduction)?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

/// All that is known of a repository.
pub(super) struct Introduction<'a> {
    holdings: &'a Holdings,
    repository: Repository,
    counts: RepositoryCounts,
    held: Vec<FormatCounts>,
    formats: Vec<MetadataFormat>,
    sets: Vec<Set>,
    harvests: Vec<HistoryEntry>,
}

impl<'a> Introduction<'a> {
    /// Looks it up.
    pub(super) fn of(holdings: &'a Holdings, repository: Repository) -> anyhow::Result<Self> {
        let (catalog, id) = (holdings.catalog(), repository.id);
        let last = HistoryQuery {
            repository: Some(id),
            limit: LAST_HARVESTS,
            ..HistoryQuery::default()
        };
        Ok(Self {
            counts: holdings.wait(catalog.repository_counts(id))?,
            held: holdings.wait(catalog.format_counts(id))?,
            formats: holdings.wait(catalog.formats(id))?,
            sets: holdings.wait(catalog.sets(id))?,
            harvests: holdings.wait(catalog.history(&last))?,
            repository,
            holdings,
        })
    }

    pub(super) fn json(&self) -> IntroductionJson<'_> {
        let harvests = self.harvests.iter();
        IntroductionJson {
            repository: RepositoryJson::new(self.holdings, &self.repository, self.counts),
            held: &self.held,
            formats: &self.formats,
            sets: &self.sets,
            last_harvests: harvests.map(|entry| EntryJson::new(entry, None)).collect(),
        }
    }
}

/// Writes all that is known of a repository for people.
pub(super) fn show(out: &mut impl Write, introduction: &Introduction) -> io::Result<()> {
    let Introduction {
        holdings,
        repository,
        ..
    } = introduction;
    let identity = &repository.identity;
    writeln!(
        out,
        "repository {}: {}",
        repository.id,
        plain(&repository.base_url)
    )?;
    line(out, "name", identity.name.as_deref())?;
    line(out, "protocol", identity.protocol_version.as_deref())?;
    line(
        out,
        "e-mail",
        Some(identity.admin_emails.join(", ").as_str()),
    )?;
    line(out, "earliest", identity.earliest_datestamp.as_deref())?;
    line(out, "deletions", identity.deleted_record.as_deref())?;
    line(out, "granularity", identity.granularity.as_deref())?;
    let files = holdings.base_directory(repository);
    line(out, "files", Some(&files.to_string_lossy()))?;
    line(out, "added", Some(&date(repository.added)))?;
    line(out, "identified", Some(&date(repository.identified)))?;
    let formats = introduction.formats.iter();
    let formats: Vec<_> = formats
        .map(|format| format.metadata_prefix.as_str())
        .collect();
    line(out, "formats", Some(&formats.join(", ")))?;
    sets(out, &introduction.sets)?;
    for held in &introduction.held {
        let said = format!(
            "{} in {}, {} more deleted",
            held.records, held.metadata_prefix, held.deleted
        );
        line(out, "records", Some(&said))?;
    }
    if introduction.harvests.is_empty() {
        return Ok(());
    }
    let (shown, all) = (
        introduction.harvests.len() as u64,
        introduction.counts.harvests,
    );
    match shown < all {
        true => writeln!(out, "\nthe last {shown} of {all} harvests")?,
        false => writeln!(out, "\nharvests")?,
    }
    let mut table = Table::new();
    introduction
        .harvests
        .iter()
        .try_for_each(|entry| table.row(out, entry))
}

/// How many there are and the first ones; some repositories have a set for each author.
fn sets(out: &mut impl Write, sets: &[Set]) -> io::Result<()> {
    if sets.is_empty() {
        return line(out, "sets", Some("none"));
    }
    line(out, "sets", Some(&sets.len().to_string()))?;
    let first = || sets.iter().take(FIRST_SETS);
    let lengths = first().map(|set| set.set_spec.chars().count());
    let width = lengths.max().unwrap_or_default().min(WIDEST_SET);
    for set in first() {
        let (spec, name) = (plain(&set.set_spec), set.name.as_deref());
        let said = format!("  {spec:<width$}  {}", plain(name.unwrap_or_default()));
        writeln!(out, "{}", said.trim_end())?;
    }
    match sets.len().checked_sub(FIRST_SETS) {
        None | Some(0) => Ok(()),
        Some(more) => writeln!(out, "  and {more} more; all are in --json"),
    }
}

fn line(out: &mut impl Write, name: &str, value: Option<&str>) -> io::Result<()> {
    match value.filter(|value| !value.is_empty()) {
        Some(value) => writeln!(out, "{name:<12}  {}", plain(value)),
        None => Ok(()),
    }
}

/// A repository with how much is known of it.
#[derive(Serialize)]
pub(super) struct RepositoryJson<'a> {
    id: i64,
    base_url: &'a str,
    #[serde(flatten)]
    identity: &'a catalog::Identity,
    directory: String,
    added: String,
    identified: String,
    counts: RepositoryCounts,
}

impl<'a> RepositoryJson<'a> {
    pub(super) fn new(
        holdings: &Holdings,
        repository: &'a Repository,
        counts: RepositoryCounts,
    ) -> Self {
        let directory = holdings.base_directory(repository);
        Self {
            id: repository.id,
            base_url: &repository.base_url,
            identity: &repository.identity,
            directory: directory.to_string_lossy().into_owned(),
            added: date(repository.added),
            identified: date(repository.identified),
            counts,
        }
    }
}

/// All that is known of a repository.
#[derive(Serialize)]
pub(super) struct IntroductionJson<'a> {
    #[serde(flatten)]
    repository: RepositoryJson<'a>,
    held: &'a [FormatCounts],
    formats: &'a [MetadataFormat],
    sets: &'a [Set],
    last_harvests: Vec<EntryJson<'a>>,
}

const FIRST_SETS: usize = 10;
const WIDEST_SET: usize = 40;
const LAST_HARVESTS: u64 = 5;
