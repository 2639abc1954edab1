//! `garner documents correct`: what a librarian says of a document.

use std::process::ExitCode;

use anyhow::Context;
use catalog::Correction;
use clap::Args;
use document::classify::Kind;

use crate::commands::holdings_options::HoldingsOptions;

/// Say that a document is wanted or not, or of which kind it is
///
/// That outweighs the content filter, for all documents with the same content and whenever an import meets it again. What is
/// rejected is set aside: it stays in the collection, but its state tells search engines not to take it. garner
/// classifier corrections prints all corrections for training.
#[derive(Debug, Args)]
pub(super) struct Correct {
    /// The number of the document
    #[arg(value_name = "NUMBER")]
    document: i64,
    /// It is wanted
    #[arg(long, conflicts_with = "reject")]
    accept: bool,
    /// It is not wanted
    #[arg(long)]
    reject: bool,
    /// Its kind: paper, thesis, book, report, slides, lecture_notes, manual, cv, form or other. Papers and theses are wanted
    /// unless --reject says otherwise; others are not, unless --accept does
    #[arg(
        long,
        value_name = "KIND",
        hide_possible_values = true,
        required_unless_present_any = ["accept", "reject"]
    )]
    kind: Option<Kind>,
    #[command(flatten)]
    holdings: HoldingsOptions,
}

impl Correct {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.holdings.open()?;
        let of_kind = |kind: Kind| Kind::ACADEMIC.contains(&kind);
        let correction = Correction {
            is_wanted: self.accept || (!self.reject && self.kind.is_some_and(of_kind)),
            kind: self.kind.map(|kind| kind.name().to_owned()),
            by: std::env::var("USER").ok().filter(|name| !name.is_empty()),
        };
        let catalog = holdings.catalog();
        let corrected = holdings.wait(catalog.correct(self.document, &correction))?;
        corrected.with_context(|| {
            let id = self.document;
            format!("the document `{id}` is not known; garner documents list shows those that are")
        })?;
        super::update_metadata(&holdings);
        let said = match correction.is_wanted {
            true => "wanted",
            false => "not wanted, and set aside",
        };
        eprintln!("document {} is {said}", self.document);
        Ok(ExitCode::SUCCESS)
    }
}
