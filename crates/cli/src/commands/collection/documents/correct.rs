//! `garner documents correct`: a correction by a librarian.

use std::process::ExitCode;

use clap::Args;
use operations::Actor;
use operations::documents::{self, Correction, Decision, DocumentState};

use super::kind;
use crate::commands::holdings_options::HoldingsOptions;

/// Accept or reject a document, or set its kind
///
/// A correction overrides the content filter for all documents with the same content, in later imports too. A rejected
/// document is set aside: it stays in the collection, but its state tells search engines not to take it. garner
/// classifier corrections prints all corrections for training.
#[derive(Debug, Args)]
pub(super) struct Correct {
    /// The number of the document
    #[arg(value_name = "NUMBER")]
    document: i64,
    /// Accept it
    #[arg(long, conflicts_with = "reject")]
    accept: bool,
    /// Reject it: it is set aside
    #[arg(long)]
    reject: bool,
    /// Its kind: paper, short_paper, thesis, book, report, guideline, proposal, slides, poster, lecture_notes, homework,
    /// manual, datasheet, cv, form, minutes, legal, periodical, syllabus or other. Without --accept and --reject an earlier
    /// correction keeps its decision; else papers and theses are accepted and other kinds are rejected
    #[arg(
        long,
        value_name = "KIND",
        value_parser = kind,
        required_unless_present_any = ["accept", "reject"]
    )]
    kind: Option<&'static str>,
    #[command(flatten)]
    holdings: HoldingsOptions,
}

impl Correct {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        let decision = match (self.accept, self.reject) {
            (true, _) => Some(Decision::Accept),
            (_, true) => Some(Decision::Reject),
            (false, false) => None,
        };
        let correction = Correction {
            decision,
            kind: self.kind.map(str::to_owned),
        };
        let (actor, id) = (Actor::command_line(), self.document);
        let document = context.wait(documents::correct(&context, &actor, id, &correction))?;
        super::update_metadata(&context);
        let outcome = match document.state {
            DocumentState::SetAside => "rejected, and set aside",
            _ => "accepted",
        };
        eprintln!("document {id} is {outcome}");
        Ok(ExitCode::SUCCESS)
    }
}
