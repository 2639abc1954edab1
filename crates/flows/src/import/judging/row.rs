//! The row that the catalog keeps of a document that was read.

use catalog::{JudgementRow, Probability};
use text::{Extracted, Facts};

use crate::judgement::{Assessment, has_text};

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
    if has_text(extracted) {
        let facts = Facts::of(&extracted.text, extracted.title.as_deref());
        row.title = facts.title;
        row.language = facts.language.map(str::to_owned);
        row.sketch = facts.sketch.map(|sketch| sketch.to_hex());
    }
    if let Some(assessment) = assessment {
        row.decision = Some(assessment.decision.name().to_owned());
        row.probability = Some(Probability::new(assessment.answer.probability));
        row.kind = Some(assessment.answer.kind.name().to_owned());
        row.kinds = assessment.answer.kinds.map(Probability::new).to_vec();
        row.model = Some(assessment.model.clone());
    }
    row
}
