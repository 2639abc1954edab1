//! What is remembered of a document that was read.

use catalog::{JudgementRow, Probability};
use document::classify::{Answer, Classifier, Decision, Policy};
use document::text::Extracted;

/// What was found out about a text.
pub(in crate::import) struct Found<'a> {
    pub(in crate::import) answer: Answer,
    pub(in crate::import) decision: Decision,
    pub(in crate::import) model: &'a str,
}

impl<'a> Found<'a> {
    pub(in crate::import) fn new(
        classifier: &'a Classifier,
        policy: &Policy,
        text: &str,
        pages: Option<u32>,
    ) -> Self {
        let pages = pages.and_then(|pages| usize::try_from(pages).ok());
        let answer = classifier.classify(text, pages.filter(|pages| *pages > 0));
        // As it is remembered, so that it is decided the same whenever it is met again.
        let kept = |probability: f64| Probability::new(probability).value();
        let answer = Answer {
            probability: kept(answer.probability),
            kinds: answer.kinds.map(kept),
            ..answer
        };
        Self {
            decision: policy.decide(&answer),
            answer,
            model: classifier.version(),
        }
    }

    /// For people: the decision, how likely it is academic, and the kind.
    pub(in crate::import) fn said(&self) -> String {
        let Self {
            answer, decision, ..
        } = self;
        format!(
            "{} {:.3}, {}",
            decision.name(),
            answer.probability,
            answer.kind
        )
    }
}

/// The row of a document that was read, and perhaps judged.
pub(in crate::import) fn row(
    sha1: &str,
    url: &str,
    extracted: &Extracted,
    found: Option<&Found<'_>>,
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
    if let Some(found) = found {
        row.decision = Some(found.decision.name().to_owned());
        row.probability = Some(Probability::new(found.answer.probability));
        row.kind = Some(found.answer.kind.name().to_owned());
        row.kinds = found.answer.kinds.map(Probability::new).to_vec();
        row.model = Some(found.model.to_owned());
    }
    row
}
