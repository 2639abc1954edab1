//! `garner documents show`: one document.

use std::io::Write;
use std::process::ExitCode;

use catalog::VersionEntry;
use clap::Args;
use operations::FilePath;
use operations::documents::{self, Document, Judgement, NearDuplicate};

use crate::commands::holdings_options::HoldingsOptions;
use crate::human::{moment, size};
use crate::output::{Out, field, to_stdout, write_json};
use crate::text::date;

/// Show a document
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
        let context = self.holdings.context()?;
        let id = context.wait(documents::find(&context, &self.document))?;
        let document = context.wait(documents::show(&context, id))?;
        let versions = context.wait(documents::versions(&context, id))?;
        let near = context
            .wait(documents::near_duplicates(&context, id))?
            .items;
        to_stdout(|out| {
            match self.json {
                true => write_json(out, &document)?,
                false => describe(&document, &versions, &near, out)?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn describe(
    document: &Document,
    versions: &[(VersionEntry, FilePath)],
    near: &[NearDuplicate],
    out: &mut Out,
) -> anyhow::Result<()> {
    let number = |number: Option<u32>| number.map_or(String::new(), |number| number.to_string());
    let shared_with = document
        .shared_with
        .map_or(String::new(), |id| id.to_string());
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    writeln!(out, "document {}", document.id)?;
    for (name, value) in [
        ("title", document.title.clone()),
        ("URL", document.url.clone()),
        ("member", text(&document.member)),
        ("file", document.path.to_string()),
        ("shared with", shared_with),
        ("media type", document.media_type.clone()),
        ("declared", text(&document.declared_type)),
        ("sniffed", text(&document.sniffed_type)),
        ("size", size(document.size)),
        ("SHA-1", document.content_sha1.clone()),
        ("SHA-256", document.content_sha256.clone()),
        ("parent", text(&document.parent_url)),
        ("depth", number(document.depth)),
        ("discovered", moment(Some(document.discover_date))),
        ("last seen", moment(Some(document.update_date))),
        ("crawled", moment(Some(document.crawl_date))),
        ("state", document.state.words().to_owned()),
        ("source", text(&document.source)),
        ("digest mismatch", text(&document.digest_mismatch)),
        ("import", document.import.to_string()),
        ("language", text(&document.language)),
    ] {
        field(out, name, &value)?;
    }
    if let Some(judgement) = &document.judgement {
        for (name, value) in judged(judgement) {
            field(out, name, &value)?;
        }
    }
    for (version, path) in versions {
        let before = format!("{} {path}", date(version.crawl_date));
        field(out, "before", &before)?;
    }
    for NearDuplicate {
        document,
        similarity,
    } in near
    {
        let shared = 100.0 * similarity;
        let line = format!("{} {shared:.0} % the same, {}", document.id, document.url);
        field(out, "near", &line)?;
    }
    Ok(())
}

/// The judgement of the text.
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
        let said = format!("{decision}, {probability:.3}, {kind}, by model {model}");
        told.push(("decision", said));
    }
    if let Some(corrected) = &judgement.corrected {
        let kind = corrected.kind.iter().map(|kind| format!(", {kind}"));
        let by = corrected.by.iter().map(|by| format!(", by {by}"));
        let more: String = kind.chain(by).collect();
        let said = format!("{}{more}, {}", corrected.decision, corrected.at);
        told.push(("corrected", said));
    }
    told
}
