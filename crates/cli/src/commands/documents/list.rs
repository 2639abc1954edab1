//! `garner documents list`: documents, a line each.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use catalog::{DocumentEntry, DocumentQuery, DocumentState};
use clap::Args;
use document::classify::Kind;
use jobs::Holdings;

use super::entry::{DocumentJson, file};
use super::{since, until};
use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{Out, to_stdout, write_json};
use crate::text::{date, plain};

/// List documents in the order of their numbers
///
/// A line is a document: its number, when it was last crawled, its state, its media type and its URL, separated by tabs.
#[derive(Debug, Args)]
pub(super) struct List {
    /// Only those of this host
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Only those that stand so: not-ingested, ingested, failed or set-aside
    #[arg(long, value_name = "STATE", value_parser = state)]
    state: Option<DocumentState>,
    /// Only those of this media type
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
    #[arg(long, value_name = "KIND", hide_possible_values = true)]
    kind: Option<Kind>,
    /// Only those whose content this import brought
    #[arg(long, value_name = "NUMBER")]
    import: Option<i64>,
    /// Only those with this text in their URL
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// Only those behind this number
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    after: i64,
    /// How many at most [default: all]
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
        let holdings = self.holdings.open()?;
        to_stdout(|out| {
            self.list(&holdings, out)?;
            Ok(ExitCode::SUCCESS)
        })
    }

    fn list(&self, holdings: &Holdings, out: &mut Out) -> anyhow::Result<()> {
        let mut query = DocumentQuery {
            host: self.host.as_deref().map(str::to_lowercase),
            state: self.state,
            media_type: self.media_type.as_deref().map(str::to_lowercase),
            since: self.since,
            until: self.until,
            import: self.import,
            decision: self.decision.clone(),
            kind: self.kind.map(|kind| kind.name().to_owned()),
            text: self.text.clone(),
            after: self.after,
            ..DocumentQuery::default()
        };
        let collection = jobs::documents_directory(holdings)?;
        let mut left = self.limit.unwrap_or(u64::MAX);
        while left > 0 {
            query.limit = left.min(PAGE);
            let documents = holdings.wait(holdings.catalog().documents(&query))?;
            let Some(last) = documents.last() else { break };
            query.after = last.id;
            left -= documents.len() as u64;
            for document in &documents {
                self.write(&collection, document, out)?;
            }
        }
        Ok(())
    }

    fn write(
        &self,
        collection: &Path,
        document: &DocumentEntry,
        out: &mut Out,
    ) -> anyhow::Result<()> {
        if self.json {
            return Ok(write_json(out, &DocumentJson::new(collection, document))?);
        }
        if self.files {
            out.write_all(file(collection, document).as_os_str().as_bytes())?;
            return Ok(out.write_all(b"\n")?);
        }
        let (crawled, state) = (date(document.update_date), document.state.name());
        let (id, media_type) = (document.id, plain(&document.media_type));
        write!(
            out,
            "{id}\t{crawled}\t{state}\t{media_type}\t{}",
            plain(&document.url)
        )?;
        if let Some(member) = &document.member {
            write!(out, "#{}", plain(member))?;
        }
        Ok(writeln!(out)?)
    }
}

/// A state as people write it.
fn state(name: &str) -> Result<DocumentState, String> {
    let state = DocumentState::parse(&name.replace('-', "_"));
    state.ok_or_else(|| "write not-ingested, ingested, failed or set-aside".to_owned())
}

const PAGE: u64 = 1000;
