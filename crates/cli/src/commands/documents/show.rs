//! `garner documents show`: all that is known of one document.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use catalog::{DocumentEntry, Judgement, VersionEntry};
use clap::Args;
use jobs::Holdings;

use super::entry::{DocumentJson, file};
use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{Out, field, to_stdout, write_json};
use crate::text::date;

/// Tell all that is known of a document
#[derive(Debug, Args)]
pub(super) struct Show {
    /// Its number or its URL
    #[arg(value_name = "NUMBER|URL")]
    document: String,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.holdings.open()?;
        let document = find(&holdings, &self.document)?;
        let versions = holdings.wait(holdings.catalog().versions(document.id))?;
        let collection = jobs::documents_directory(&holdings)?;
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &DocumentJson::new(&collection, &document))?,
                false => describe(&collection, &document, &versions, out)?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

/// The document that somebody names by its number or its URL, in whatever spelling.
fn find(holdings: &Holdings, name: &str) -> anyhow::Result<DocumentEntry> {
    let catalog = holdings.catalog();
    let found = match (name.parse(), document::url::normalise(name)) {
        (Ok(id), _) => holdings.wait(catalog.document(id))?,
        (_, Ok(url)) => holdings.wait(catalog.document_at(&url.md5))?,
        (Err(_), Err(_)) => None,
    };
    found.with_context(|| {
        format!("the document `{name}` is not known; garner documents list shows those that are")
    })
}

fn describe(
    collection: &Path,
    document: &DocumentEntry,
    versions: &[VersionEntry],
    out: &mut Out,
) -> anyhow::Result<()> {
    let number = |number: Option<u32>| number.map_or(String::new(), |number| number.to_string());
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    writeln!(out, "document {}", document.id)?;
    for (name, value) in [
        ("URL", document.url.clone()),
        ("member", text(&document.member)),
        ("file", file(collection, document).display().to_string()),
        ("media type", document.media_type.clone()),
        ("declared", text(&document.declared_type)),
        ("sniffed", text(&document.sniffed_type)),
        ("size", document.size.to_string()),
        ("SHA-1", document.content_sha1.clone()),
        ("SHA-256", document.content_sha256.clone()),
        ("parent", text(&document.parent_url)),
        ("depth", number(document.depth)),
        ("discovered", date(document.discover_date)),
        ("last seen", date(document.update_date)),
        ("crawled", date(document.crawl_date)),
        ("state", document.state.name().replace('_', " ")),
        ("source", text(&document.source)),
        ("digest mismatch", text(&document.digest_mismatch)),
        ("import", document.import.to_string()),
    ] {
        field(out, name, &value)?;
    }
    if let Some(judgement) = &document.judgement {
        for (name, value) in judged(judgement) {
            field(out, name, &value)?;
        }
    }
    for version in versions {
        let content = &version.content;
        let path = store::Collection::relative_path(content.number, &content.extension);
        let path = collection.join(path);
        let before = format!("{} {}", date(version.crawl_date), path.display());
        field(out, "before", &before)?;
    }
    Ok(())
}

/// What is known of the text, and what was decided.
fn judged(judgement: &Judgement) -> Vec<(&'static str, String)> {
    let mut text = judgement.outcome.clone();
    for more in [&judgement.engine, &judgement.note].into_iter().flatten() {
        text = format!("{text}, {more}");
    }
    let mut told = vec![("text", text)];
    let pages = judgement.pages.filter(|pages| *pages > 0);
    told.extend(pages.map(|pages| ("pages", pages.to_string())));
    if let (Some(decision), Some(probability)) = (&judgement.decision, judgement.probability) {
        let kind = judgement.kind.as_deref().unwrap_or_default();
        let model = judgement.model.as_deref().unwrap_or_default();
        let said = format!(
            "{decision}, {:.3}, {kind}, by model {model}",
            probability.value()
        );
        told.push(("decision", said));
    }
    if let Some(corrected) = &judgement.corrected {
        let kind = corrected.kind.iter().map(|kind| format!(", {kind}"));
        let by = corrected.by.iter().map(|by| format!(", by {by}"));
        let more: String = kind.chain(by).collect();
        let said = format!("{}{more}, {}", corrected.decision, date(corrected.at));
        told.push(("corrected", said));
    }
    told
}
