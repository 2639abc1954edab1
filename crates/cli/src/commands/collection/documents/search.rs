//! `garner documents search`: documents by their words, the best first.

use std::io::{self, IsTerminal, Write, stdout};
use std::process::ExitCode;

use clap::Args;
use operations::Listed;
use operations::documents::{
    self, DocumentFilter, DocumentSearch, DocumentSearchSort, FoundDocument, Piece,
};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::paging::each_row;
use crate::output::{Out, to_stdout, write_json};
use crate::text::plain;

/// Search the texts and titles of documents
///
/// The query has words, which all have to be there, "a phrase", begin* and -excluded words. Fields narrow it: title:coast,
/// host:example.org (with the hosts below it), url:papers, kind:thesis, language:en, type:application/pdf or type:image/*,
/// state:ingested, decision:unsure and year:2011 (of the last crawl). Case and accents do not count. The best documents come first, up to 1,000 of them, each with its
/// number, its score, its title and URL and the passages that have the words.
///
/// Example: garner documents search '"open access" harvest* title:repositor* language:en'
#[derive(Debug, Args)]
pub(super) struct Search {
    /// The query; write -- before one that begins with -
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// The order: rank, newest, title or host
    #[arg(long, value_name = "ORDER", value_parser = sort, default_value = "rank")]
    sort: DocumentSearchSort,
    /// How many documents at most
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u64,
    /// Print how the documents are spread over hosts, types, kinds, years and so on instead
    #[arg(long)]
    facets: bool,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    holdings: HoldingsOptions,
}

impl Search {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        let query = self.query.join(" ");
        let filter = DocumentFilter::default();
        if self.facets {
            let facets = context.wait(documents::facets(&context, Some(&query), &filter))?;
            return to_stdout(|out| {
                if self.json {
                    write_json(out, &facets)?;
                    return Ok(ExitCode::SUCCESS);
                }
                let more = if facets.is_more { "+" } else { "" };
                writeln!(out, "documents\t{}{more}", facets.total)?;
                for facet in &facets.facets {
                    for value in &facet.values {
                        writeln!(
                            out,
                            "{}\t{}\t{}",
                            facet.name,
                            plain(&value.value),
                            value.count
                        )?;
                    }
                }
                Ok(ExitCode::SUCCESS)
            });
        }
        let mut told = None;
        let page = |next: Option<i64>, limit| {
            let search = DocumentSearch {
                query: query.clone(),
                sort: Some(self.sort),
                offset: next.and_then(|next| next.try_into().ok()),
                limit,
            };
            let found = context.wait(documents::search(&context, &search, &filter))?;
            told.get_or_insert((
                found.total,
                found.is_more,
                found.is_partly_ranked,
                found.unindexed,
            ));
            Ok(Listed {
                items: found.items,
                next: found.next,
                total: None,
                is_more: false,
            })
        };
        let mut shown = 0;
        to_stdout(|out| {
            let is_bold = !self.json && stdout().is_terminal();
            shown = each_row(self.limit, page, |found| {
                match self.json {
                    true => write_json(out, &found)?,
                    false => write(&found, is_bold, out)?,
                }
                Ok(())
            })?
            .shown;
            Ok(ExitCode::SUCCESS)
        })?;
        let (total, is_more, is_partly_ranked, unindexed) = told.unwrap_or_default();
        let more = if is_more { " or more" } else { "" };
        // A script that got everything needs no note.
        if !self.json || is_more || shown < total {
            eprintln!("{shown} of {total}{more} documents");
        }
        if is_partly_ranked {
            eprintln!("only the newest 1000 of them are ranked and printed; add words or fields");
        }
        if unindexed > 0 {
            eprintln!(
                "{unindexed} texts cannot be found yet: they wait to be indexed, by garner up or the next import"
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// An order as people write it.
fn sort(name: &str) -> Result<DocumentSearchSort, String> {
    let known = DocumentSearchSort::parse(name);
    known.ok_or_else(|| "write rank, newest, title or host".to_owned())
}

fn write(found: &FoundDocument, is_bold: bool, out: &mut Out) -> io::Result<()> {
    let document = &found.document;
    let title = marked(&found.marked_title, is_bold);
    writeln!(
        out,
        "{}\t{:.3}\t{title}\t{}",
        document.id,
        found.score,
        plain(&document.url)
    )?;
    for passage in &found.passages {
        writeln!(out, "    … {} …", marked(passage, is_bold).trim())?;
    }
    Ok(())
}

/// A passage with the words of the query in bold, or between asterisks.
fn marked(pieces: &[Piece], is_bold: bool) -> String {
    let marks = if is_bold {
        ["\u{1b}[1m", "\u{1b}[0m"]
    } else {
        ["*", "*"]
    };
    let mut text = String::new();
    for piece in pieces {
        let plain = plain(&piece.text).to_string();
        match piece.is_match {
            true => text.extend([marks[0], &plain, marks[1]]),
            false => text.push_str(&plain),
        }
    }
    text
}
