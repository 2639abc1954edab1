//! `garner whitelist`: seeds for the next crawl, best first.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use operations::parents::replace_file;
use operations::whitelist::{self, By, WhitelistOrder};
use operations::{Actor, Refusal};

use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Make a whitelist: parents, or their hosts, ranked by ingested documents and citations
///
/// The list is ready as seeds for Heritrix: one URL a line, best first. With --from it is made of a
/// parenturl.revised.csv (garner parents clean), so that parents which that left out do not come back.
///
/// The score is the share of the greatest number of ingested documents times its weight, plus the share of the greatest
/// citation rate times its weight; the rate is the number of citations per ingested document. Citations are those that
/// garner documents citations keeps in the catalog, or those of --citations.
#[derive(Debug, Args)]
pub(crate) struct Whitelist {
    /// parenturl.revised.csv to select from, in place of the catalog
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// The entries: parents or hosts
    #[arg(
        long,
        value_name = "parent|host",
        default_value = "parent",
        hide_possible_values = true
    )]
    by: ByOption,
    /// CSV with the columns document (number) or url, and citations
    #[arg(long, value_name = "CSV")]
    citations: Option<PathBuf>,
    /// The weight of ingested documents
    #[arg(long, value_name = "W", default_value_t = 1.0)]
    weight_ingested: f64,
    /// The weight of citations per ingested document
    #[arg(long, value_name = "W", default_value_t = 1.0)]
    weight_citations: f64,
    /// Only those with so many ingested documents
    #[arg(long, value_name = "N", default_value_t = 1)]
    minimum: u64,
    /// How many at most, the best [default: all]
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// text, or csv with the columns rank, url, host, documents, ingested, citations, citation_rate and score
    #[arg(
        long,
        value_name = "text|csv",
        default_value = "text",
        hide_possible_values = true
    )]
    format: Format,
    /// File for the list [default: stdout]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Keep the list in the catalog under this name: see garner lists
    #[arg(long, value_name = "NAME")]
    save: Option<String>,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON, one object a line
    #[arg(long, conflicts_with_all = ["format", "output"])]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ByOption {
    Parent,
    Host,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Csv,
}

impl Whitelist {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let order = WhitelistOrder {
            by: match self.by {
                ByOption::Parent => By::Parent,
                ByOption::Host => By::Host,
            },
            weight_ingested: self.weight_ingested,
            weight_citations: self.weight_citations,
            minimum: self.minimum,
            limit: self.limit,
        };
        let context = self.holdings.context()?;
        let mut from = self.from.as_deref().map(open).transpose()?;
        let mut citations = self.citations.as_deref().map(open).transpose()?;
        let made = whitelist::make(
            &context,
            &order,
            from.as_mut().map(|file| file as &mut dyn Read),
            citations.as_mut().map(|file| file as &mut dyn Read),
        );
        let seeds = made.with_context(|| self.named())?;
        if let Some(name) = &self.save {
            let actor = Actor::command_line();
            let saved = whitelist::save(&context, &actor, name, &seeds);
            let list = context.wait(saved)?;
            eprintln!("{} URLs are kept as `{}`", list.entries, plain(&list.name));
        }
        match &self.output {
            Some(path) => {
                replace_file(path, |out| {
                    self.write(&seeds, out).map_err(unwritten)?;
                    Ok((true, ()))
                })?;
                eprintln!("{} URLs", seeds.count());
                Ok(ExitCode::SUCCESS)
            }
            None => to_stdout(|out| {
                self.write(&seeds, out)?;
                Ok(ExitCode::SUCCESS)
            }),
        }
    }

    fn write(&self, seeds: &whitelist::Whitelist, mut out: &mut dyn Write) -> std::io::Result<()> {
        match (self.json, self.format) {
            (true, _) => seeds
                .seeds()
                .try_for_each(|seed| write_json(&mut out, &seed)),
            (false, Format::Text) => whitelist::write_text(seeds, out),
            (false, Format::Csv) => whitelist::write_csv(seeds, out),
        }
    }

    /// The files that a mistake may be in.
    fn named(&self) -> String {
        let files = [&self.from, &self.citations].into_iter().flatten();
        let files: Vec<_> = files.map(|path| format!("`{}`", path.display())).collect();
        match files.is_empty() {
            true => "no whitelist".to_owned(),
            false => format!("in {}", files.join(" or ")),
        }
    }
}

fn open(path: &Path) -> anyhow::Result<File> {
    File::open(path).with_context(|| format!("cannot read `{}`", path.display()))
}

fn unwritten(error: std::io::Error) -> Refusal {
    anyhow::Error::from(error)
        .context("the list cannot be written")
        .into()
}
