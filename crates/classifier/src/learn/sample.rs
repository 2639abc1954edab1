//! A labelled document, measured.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::super::features::{self, Measured};
use super::super::reading::Reading;
use super::super::vocabulary::Vocabulary;
use super::super::{Example, Kind, words};
use super::damage;

/// A labelled document without its text: what is learnt from.
#[derive(Debug, Clone)]
pub struct Sample {
    pub(crate) measured: Measured,
    pub(crate) buckets: Vec<u32>,
    /// The same document with a damaged text layer.
    pub(crate) damaged: Box<(Measured, Vec<u32>)>,
    pub(crate) academic: bool,
    pub(crate) borderline: bool,
    /// How much it counts for "academic or not" beside others; nothing if it is not learnt from.
    pub(crate) clarity: f64,
    pub(crate) kind: Kind,
    pub(crate) source: String,
    /// Whether it is a document that a model judged wrongly and somebody put right.
    pub(crate) corrected: bool,
    /// How much it counts when a model is learnt.
    pub(crate) weight: f64,
    text: [u8; 32],
}

impl Sample {
    /// Measures a labelled document; its text is not needed any more then.
    pub fn new(example: &Example) -> Self {
        Self::measured(example, Vocabulary::built_in())
    }

    /// Measures it by other words than the built-in ones.
    pub fn measured(example: &Example, vocabulary: &Arc<Vocabulary>) -> Self {
        let reading = Reading::new(&example.text, example.pages, vocabulary);
        let measured = features::measure(&reading);
        let digest: [u8; 32] = Sha256::digest(&example.text).into();
        let text = damage::damaged(&example.text, digest[0]);
        let damaged = Reading::new(&text, example.pages, vocabulary);
        Self {
            damaged: Box::new((features::measure(&damaged), words::buckets(&damaged))),
            clarity: match example.borderline {
                false => 1.0,
                true if example.is_academic() && is_foreign(&measured) => DOUBTFUL,
                true => 0.0,
            },
            measured,
            buckets: words::buckets(&reading),
            academic: example.is_academic(),
            borderline: example.borderline,
            kind: example.kind(),
            source: example.source.clone(),
            corrected: false,
            weight: 1.0,
            text: digest,
        }
    }

    /// Measures a document whose label somebody put right.
    pub fn of_correction(example: &Example, vocabulary: &Arc<Vocabulary>) -> Self {
        let source = match example.source.is_empty() {
            // Corrections of which nothing is known need not come from one place.
            true => format!("correction {}", example.id),
            false => example.source.clone(),
        };
        Self {
            corrected: true,
            source,
            ..Self::measured(example, vocabulary)
        }
    }
}

/// Whether a text is in another language than English. Of these there are so few papers that theses and reports of
/// students, about which people may differ, teach more about the language than they mislead about the kind.
fn is_foreign(measured: &Measured) -> bool {
    let raw = |name: &str| {
        let place = features::all()
            .iter()
            .position(|feature| feature.name == name);
        place.map_or(0.0, |place| measured.raw[place])
    };
    raw("language.other") > 0.5 || raw("language.ideographs") > 0.2
}

impl Sample {
    /// The views of the document that teach: as it is, and as it would be with a damaged text layer; and how much each counts.
    pub(super) fn views(&self) -> [(&Measured, &[u32], f64); 2] {
        let (measured, buckets) = &*self.damaged;
        [
            (&self.measured, &self.buckets, self.weight),
            (measured, buckets, self.weight * DAMAGED),
        ]
    }
}

/// Puts corrections in the place of what they correct, and says how much each document counts.
///
/// A correction counts as several documents, because it speaks of what is met where the model is used. All together
/// count no more than the rest, which knows what they leave out.
pub(super) fn weighed(samples: &[Sample]) -> Vec<Sample> {
    let mut kept: Vec<Sample> = Vec::with_capacity(samples.len());
    for sample in samples {
        if sample.corrected {
            kept.retain(|known| known.text != sample.text);
        }
        kept.push(sample.clone());
    }
    let corrections = kept.iter().filter(|sample| sample.corrected).count();
    let rest = kept.len() - corrections;
    if corrections == 0 {
        return kept;
    }
    let weight = (rest as f64 / corrections as f64).clamp(1.0, CORRECTION);
    for sample in kept.iter_mut().filter(|sample| sample.corrected) {
        sample.weight = weight;
        // Where there is nothing else, they are the usual documents.
        sample.corrected = rest > 0;
    }
    kept
}

/// How much the damaged document counts beside the whole one.
const DAMAGED: f64 = 0.5;
/// How much a borderline document in another language than English counts.
const DOUBTFUL: f64 = 0.5;
/// Number of documents that a correction counts for.
const CORRECTION: f64 = 5.0;

#[cfg(test)]
mod tests {
    use super::super::super::Label;
    use super::*;

    fn example(text: &str, label: Label) -> Example {
        Example {
            text: text.to_owned(),
            label,
            ..Example::default()
        }
    }

    #[test]
    fn a_correction_takes_the_place_of_what_it_corrects_and_counts_more() {
        let mut samples: Vec<Sample> = (0..20)
            .map(|number| Sample::new(&example(&format!("text {number}"), Label::Nonacademic)))
            .collect();
        // The last word counts.
        for label in [Label::Nonacademic, Label::Academic] {
            samples.push(Sample::of_correction(
                &example("text 7", label),
                Vocabulary::built_in(),
            ));
        }

        let kept = weighed(&samples);

        assert_eq!(kept.len(), 20);
        let corrected: Vec<&Sample> = kept.iter().filter(|sample| sample.corrected).collect();
        assert_eq!(corrected.len(), 1);
        assert!(corrected[0].academic);
        assert_eq!(corrected[0].weight, 5.0);
    }

    #[test]
    fn corrections_together_count_no_more_than_the_rest() {
        let mut samples: Vec<Sample> = (0..20)
            .map(|number| Sample::new(&example(&format!("text {number}"), Label::Nonacademic)))
            .collect();
        samples.extend((0..10).map(|number| {
            Sample::of_correction(
                &example(&format!("other {number}"), Label::Academic),
                Vocabulary::built_in(),
            )
        }));

        let kept = weighed(&samples);

        assert_eq!(kept.last().map(|sample| sample.weight), Some(2.0));
        assert_eq!(kept[0].weight, 1.0);
    }
}
