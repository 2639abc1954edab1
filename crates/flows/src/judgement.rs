//! The one judgement of a document's text: imports, reclassification and `garner classify` all call [`assess`].
//!
//! They extract with the same options, so a document gets the same answer and the same decision from each of them.

use catalog::{Judgement, Probability};
use classifier::{Answer, Classifier, Decision, Policy, Reason};
use process::Confiner;
use text::{ExtractOptions, Extracted, OcrOptions, Outcome};

/// The classifier's answer about one text, and the decision that follows from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// The answer, rounded as the catalog keeps it.
    pub answer: Answer,
    /// The decision by the rounded answer.
    pub decision: Decision,
    /// The version of the model.
    pub model: String,
}

/// Judges a text; `None` if there is too little of it.
///
/// The decision is made on probabilities as the catalog keeps them, so that it is the same when the document is met again.
pub fn assess(
    classifier: &Classifier,
    policy: &Policy,
    extracted: &Extracted,
) -> Option<Assessment> {
    if !has_text(extracted) {
        return None;
    }
    let answer = classifier.classify(&extracted.text, judged_pages(extracted));
    let kept = |probability: f64| Probability::new(probability).value();
    let answer = Answer {
        probability: kept(answer.probability),
        kinds: answer.kinds.map(kept),
        ..answer
    };
    Some(Assessment {
        decision: policy.decide(&answer),
        answer,
        model: classifier.version().to_owned(),
    })
}

/// The reasons for the answer of [`assess`], the weightiest first.
pub fn reasons(classifier: &Classifier, extracted: &Extracted) -> Vec<Reason> {
    classifier.explain(&extracted.text, judged_pages(extracted))
}

/// The options with which documents are read before they are judged. No `languages` means those of the script of the page.
pub fn extract_options(
    confiner: Confiner,
    parallel: usize,
    languages: &[String],
) -> ExtractOptions {
    let mut ocr = OcrOptions {
        parallel,
        ..OcrOptions::default()
    };
    if !languages.is_empty() {
        ocr.languages = languages.to_vec();
    }
    ExtractOptions {
        parallel,
        office: true,
        ocr,
        ..ExtractOptions::new(confiner)
    }
}

impl Assessment {
    /// For people: the decision, the probability that the document is academic, and its kind.
    pub fn summary(&self) -> String {
        summary(self.decision, &self.answer)
    }
}

/// For people: the decision, the probability that the document is academic, and its kind.
pub(crate) fn summary(decision: Decision, answer: &Answer) -> String {
    let Answer {
        probability, kind, ..
    } = answer;
    format!("{} {probability:.3}, {kind}", decision.name())
}

/// A text that the collection stores, as it was extracted.
pub(crate) fn stored(text: String, known: Option<&Judgement>) -> Extracted {
    let outcome = known.and_then(|known| Outcome::parse(&known.outcome));
    Extracted {
        outcome: outcome.unwrap_or(Outcome::Text),
        text,
        pages: known.and_then(|known| known.pages),
        engine: known.and_then(|known| known.engine.clone()),
        truncated: false,
        note: known.and_then(|known| known.note.clone()),
        title: None,
    }
}

/// Whether the text came from tesseract.
pub(crate) fn is_recognised(engine: Option<&str>) -> bool {
    engine.is_some_and(|engine| engine.contains("tesseract"))
}

/// Whether there is text to judge by. A page of text before a limit is enough.
pub(crate) fn has_text(extracted: &Extracted) -> bool {
    match extracted.outcome {
        Outcome::Text => true,
        Outcome::Limit(_) => extracted.text.len() >= ENOUGH,
        _ => false,
    }
}

/// The number of pages that the classifier is told. OCR reads only the first pages, so they are not all of them.
fn judged_pages(extracted: &Extracted) -> Option<usize> {
    let pages = extracted
        .pages
        .filter(|_| !is_recognised(extracted.engine.as_deref()));
    let pages = pages.and_then(|pages| usize::try_from(pages).ok());
    pages.filter(|pages| *pages > 0)
}

/// OCR reads this many pages for a judgement: the first pages tell what a document is.
pub const RECOGNISED_PAGES: u32 = 3;
/// Bytes of text before a limit that are enough for a judgement: about a page.
const ENOUGH: usize = 2000;

#[cfg(test)]
mod tests {
    use classifier::Kind;
    use text::Limit;

    use super::*;

    fn extracted(outcome: Outcome, text: &str) -> Extracted {
        Extracted {
            outcome,
            text: text.to_owned(),
            pages: None,
            engine: None,
            truncated: false,
            note: None,
            title: None,
        }
    }

    #[test]
    fn a_page_of_text_before_a_limit_is_judged_and_less_is_not() {
        let judge = |text: &str| {
            let cut = extracted(Outcome::Limit(Limit::Time), text);
            assess(Classifier::built_in(), &Policy::default(), &cut)
        };

        assert_eq!(judge(&"word ".repeat(10)), None);
        assert!(judge(&"word ".repeat(1000)).is_some());
    }

    #[test]
    fn the_little_text_of_a_scan_is_not_judged() {
        let scan = extracted(Outcome::ImageOnly, &"word ".repeat(1000));

        assert_eq!(
            assess(Classifier::built_in(), &Policy::default(), &scan),
            None
        );
    }

    #[test]
    fn the_decision_is_made_on_the_probability_that_the_catalog_keeps() {
        let classifier = Classifier::built_in();
        let mut compared = 0;
        for words in 1..60 {
            let text = "We prove a theorem about lists [1]. ".repeat(words);
            let extracted = extracted(Outcome::Text, &text);
            // The probability of the kinds that are wanted: a paper or a thesis.
            let kinds = classifier.classify(&text, None).kinds;
            let wanted = Kind::ALL.into_iter().zip(kinds);
            let wanted = wanted.filter(|(kind, _)| Kind::ACADEMIC.contains(kind));
            let (mut raw, mut kept) = (0.0, 0.0);
            for (_, probability) in wanted {
                raw += probability;
                kept += Probability::new(probability).value();
            }
            if (raw - kept).abs() < 1e-7 {
                continue;
            }
            let policy = Policy {
                accept: f64::midpoint(raw, kept),
                reject: 0.0,
                ..Policy::default()
            };

            let decision = assess(classifier, &policy, &extracted).map(|judged| judged.decision);

            let expected = match kept >= policy.accept {
                true => Decision::Accept,
                false => Decision::Unsure,
            };
            assert_eq!(decision, Some(expected), "{raw} is kept as {kept}");
            compared += 1;
        }
        assert!(compared > 10, "{compared} texts had a probability to round");
    }

    #[test]
    fn pages_of_a_recognised_text_are_not_those_of_the_document() {
        let mut text = extracted(Outcome::Text, "a");
        text.pages = Some(3);
        assert_eq!(judged_pages(&text), Some(3));

        text.engine = Some("tesseract 5.3.0".to_owned());
        assert_eq!(judged_pages(&text), None);
    }
}
