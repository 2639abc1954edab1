//! `garner documents list`: documents, a line each.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use clap::Args;
use operations::Time;
use operations::documents::{self, Document, DocumentFilter, DocumentSort, DocumentState};
use operations::overview;

use super::{kind, since, until};
use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::paging::{each_row, limit};
use crate::output::{Out, to_stdout, write_json};
use crate::table::{Cell, Column, Table};
use crate::text::{ago, plain};

/// List documents in the order of their numbers, or in another
///
/// A line is a document: its number, when it was last crawled, its state, its media type, its URL and its title, separated
/// by tabs.
#[derive(Debug, Args)]
pub(super) struct List {
    /// Only those of this host
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Only those that stand so: not-ingested, ingested, failed or set-aside
    #[arg(long, value_name = "STATE", value_parser = state)]
    state: Option<DocumentState>,
    /// Only those of this media type; image/* stands for all images
    #[arg(long = "type", value_name = "TYPE")]
    media_type: Option<String>,
    /// Only those that were last crawled on this day or at this moment, or later
    #[arg(long, value_name = "DATE", value_parser = since)]
    since: Option<i64>,
    /// Only those that were last crawled on this day or at this moment, or before
    #[arg(long, value_name = "DATE", value_parser = until)]
    until: Option<i64>,
    /// Only those decided on so, by a librarian or else by the content filter: accept, unsure or reject
    #[arg(long, value_name = "DECISION", value_parser = ["accept", "unsure", "reject"], hide_possible_values = true)]
    decision: Option<String>,
    /// Only those of this kind, such as paper or thesis
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<&'static str>,
    /// Only those in this language, by its code, such as en or eng
    #[arg(long, value_name = "CODE")]
    language: Option<String>,
    /// Only those of this group of near-duplicates: the `near` of a document
    #[arg(long, value_name = "NUMBER")]
    near: Option<i64>,
    /// The order: number, newest, updated (the last crawl), host or type; for at most 10,000 documents also title, size,
    /// state or kind
    #[arg(long, value_name = "ORDER", value_parser = sort, default_value = "number")]
    sort: DocumentSort,
    /// Print the largest or latest first
    #[arg(long)]
    descending: bool,
    /// Only those whose content this import brought
    #[arg(long, value_name = "NUMBER")]
    import: Option<i64>,
    /// Only those with this text in their URL
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// Only those behind this number
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    after: i64,
    /// How many at most [default: 30 on a terminal, all in a pipe, with --json and with --files]
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
    /// Print the paths of files only, one a line
    #[arg(long, conflicts_with = "json")]
    files: bool,
    #[command(flatten)]
    holdings: HoldingsOptions,
}

impl List {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        let filter = DocumentFilter {
            host: self.host.clone(),
            state: self.state,
            media_type: self.media_type.clone(),
            since: self.since.map(Time),
            until: self.until.map(Time),
            import: self.import,
            decision: self.decision.clone(),
            kind: self.kind.map(str::to_owned),
            language: self.language.clone(),
            near: self.near,
            sort: Some(self.sort),
            descending: self.descending.then_some(true),
            text: self.text.clone(),
            ..DocumentFilter::default()
        };
        let page = |next: Option<i64>, limit| {
            let filter = DocumentFilter {
                after: next.or(Some(self.after)),
                limit,
                ..filter.clone()
            };
            context.wait(documents::list(&context, &filter))
        };
        let is_table = !self.json && !self.files;
        let limit = limit(self.limit, DEFAULT_ROWS, !is_table);
        to_stdout(|out| {
            let mut table = Table::on_terminal(&COLUMNS).filter(|_| is_table);
            let mut rows = each_row(limit, page, |document| {
                match &mut table {
                    Some(table) => table.row(out, cells(&document))?,
                    None => self.write(&document, out)?,
                }
                Ok(())
            })?;
            if let Some(table) = table {
                table.finish(out)?;
                out.flush()?;
                if rows.has_more && self.is_everything() {
                    let overview = context.wait(overview::show(&context))?;
                    let collection = overview.collection;
                    rows.total = Some(collection.documents).filter(|_| collection.is_exact);
                }
                rows.say_rest("--limit N");
            }
            Ok(ExitCode::SUCCESS)
        })
    }

    /// Whether no document is left out.
    fn is_everything(&self) -> bool {
        let texts = [
            &self.host,
            &self.media_type,
            &self.decision,
            &self.language,
            &self.text,
        ];
        let numbers = [self.since, self.until, self.near, self.import];
        texts.iter().all(|text| text.is_none())
            && numbers.iter().all(Option::is_none)
            && self.state.is_none()
            && self.kind.is_none()
            && self.after == 0
    }

    fn write(&self, document: &Document, out: &mut Out) -> io::Result<()> {
        if self.json {
            return write_json(out, document);
        }
        if self.files {
            out.write_all(document.path.as_path().as_os_str().as_bytes())?;
            return out.write_all(b"\n");
        }
        let (crawled, state) = (document.update_date, document.state.name());
        let (id, media_type) = (document.id, plain(&document.media_type));
        write!(
            out,
            "{id}\t{crawled}\t{state}\t{media_type}\t{}",
            plain(&document.url)
        )?;
        if let Some(member) = &document.member {
            write!(out, "#{}", plain(member))?;
        }
        writeln!(out, "\t{}", plain(&document.title))
    }
}

const COLUMNS: [Column; 6] = [
    Column::number("no."),
    Column::word("crawled").dispensable(1),
    Column::word("state").dispensable(3),
    Column::word("type").dispensable(2),
    Column::text("title", 12),
    Column::text("url", 16),
];

fn cells(document: &Document) -> Vec<Cell> {
    let member = document.member.as_ref();
    let member = member.map_or(String::new(), |member| format!("#{member}"));
    vec![
        document.id.into(),
        ago(Some(document.update_date.0)).into(),
        Cell::state(document.state.name()),
        document.media_type.as_str().into(),
        document.title.as_str().into(),
        format!("{}{member}", document.url).into(),
    ]
}

/// Rows on a terminal without --limit.
const DEFAULT_ROWS: u64 = 30;

/// An order as people write it.
fn sort(name: &str) -> Result<DocumentSort, String> {
    DocumentSort::parse(name).ok_or_else(|| {
        "write number, newest, updated, host, type, title, size, state or kind".to_owned()
    })
}

/// A state as people write it.
fn state(name: &str) -> Result<DocumentState, String> {
    let state = DocumentState::parse(&name.replace('-', "_"));
    state.ok_or_else(|| "write not-ingested, ingested, failed or set-aside".to_owned())
}
