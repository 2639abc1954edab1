//! `garner classifier corrections`: what librarians said, in the form that models are trained with.

use std::process::ExitCode;

use catalog::{JudgedContent, JudgementQuery, Probability};
use clap::Args;
use classifier::{Corrected, Example, Kind, Label};
use flows::DocumentFiles;
use text::Outcome;

use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{Out, to_stdout, write_json};

/// Print the corrections of librarians, for garner classifier train --corrections
///
/// A line of JSON for each document that was corrected and whose text is stored: whether it is academic, its kind, its text,
/// and what the model had said. Those without a stored text are named on stderr.
#[derive(Debug, Args)]
pub(super) struct Corrections {
    #[command(flatten)]
    holdings: HoldingsOptions,
}

impl Corrections {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.holdings.open()?;
        let files = DocumentFiles::open(&holdings, None)?;
        to_stdout(|out| {
            let mut query = JudgementQuery {
                only_corrected: true,
                ..JudgementQuery::default()
            };
            loop {
                let contents = holdings.wait(holdings.catalog().judged_contents(&query))?;
                let Some(last) = contents.last() else { break };
                query.after = last.number;
                for content in &contents {
                    write(&files, content, out)?;
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn write(files: &DocumentFiles, content: &JudgedContent, out: &mut Out) -> anyhow::Result<()> {
    let judgement = content.judgement.as_ref();
    let corrected = judgement.and_then(|judgement| judgement.corrected.as_ref());
    let (Some(judgement), Some(corrected)) = (judgement, corrected) else {
        return Ok(());
    };
    let Some(text) = files.text(content.number)? else {
        let number = content.number;
        match Outcome::parse(&judgement.outcome) {
            // A correction of the decision does not change the kind.
            Some(
                outcome @ (Outcome::Encrypted
                | Outcome::Damaged
                | Outcome::Empty
                | Outcome::ImageOnly),
            ) => eprintln!("document {number} is skipped because it has no text: {outcome}"),
            _ => eprintln!(
                "document {number} has no stored text; garner classify --collection reads it"
            ),
        }
        return Ok(());
    };
    let parse = |kind: Option<&String>| kind.map(|kind| operations::documents::nearest(kind));
    let kind = parse(corrected.kind.as_ref()).or_else(|| parse(judgement.kind.as_ref()));
    // Whether it is academic is what its kind says, and without one what was said of it.
    let is_academic = match parse(corrected.kind.as_ref()) {
        Some(kind) => Kind::ACADEMIC.contains(&kind),
        None => corrected.decision == "accept",
    };
    let example = Example {
        id: content.sha1.clone(),
        label: match is_academic {
            true => Label::Academic,
            false => Label::Nonacademic,
        },
        kind: kind.filter(|kind| Kind::ACADEMIC.contains(kind) == is_academic),
        source: host(&content.url),
        pages: judgement.pages.and_then(|pages| pages.try_into().ok()),
        text,
        corrects: Some(Corrected {
            model: judgement.model.clone().unwrap_or_default(),
            probability: judgement.probability.map_or(0.0, Probability::value),
            kind: parse(judgement.kind.as_ref()),
            at: Some(corrected.at),
            by: corrected.by.clone(),
        }),
        ..Example::default()
    };
    Ok(write_json(out, &example)?)
}

/// Documents of one host never stand on both sides of a cross-validation.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().to_owned()
}
