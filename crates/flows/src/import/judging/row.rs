//! The row that the catalog keeps of a document that was read.

use catalog::{JudgementRow, Probability};
use text::Extracted;

use crate::judgement::Assessment;

/// The row of a document that was read, and perhaps judged.
pub(in crate::import) fn row(
    sha1: &str,
    url: &str,
    extracted: &Extracted,
    assessment: Option<&Assessment>,
) -> JudgementRow {
    let mut row = JudgementRow {
        sha1: sha1.to_owned(),
        url: url.to_owned(),
        outcome: extracted.outcome.name().to_owned(),
        engine: extracted.engine.clone(),
        pages: extracted.pages,
        note: extracted.note.clone(),
        ..JudgementRow::default()
    };
    if let Some(assessment) = assessment {
        row.decision = Some(assessment.decision.name().to_owned());
        row.probability = Some(Probability::new(assessment.answer.probability));
        row.kind = Some(assessment.answer.kind.name().to_owned());
        row.kinds = assessment.answer.kinds.map(Probability::new).to_vec();
        row.model = Some(assessment.model.clone());
    }
    row
}
