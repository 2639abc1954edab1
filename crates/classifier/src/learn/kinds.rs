//! The kinds of documents, learnt from features alone: there are too few documents of most kinds to learn words from.

use std::collections::HashSet;

use super::super::{Kind, features};
use super::Sample;
use super::binary::Scaling;
use super::logistic::{self, Row};

/// The weights of each kind, then the biases.
pub(super) fn fit(samples: &[&Sample], scaling: &[Scaling]) -> Vec<f64> {
    let kinds = Kind::ALL.len();
    let mut counts = vec![0.0_f64; kinds];
    for sample in samples {
        counts[place(sample.kind)] += sample.weight;
    }
    let all: f64 = counts.iter().sum();
    let rows = samples.iter().flat_map(|sample| {
        // Rare kinds would never be named otherwise.
        let rarity = (all / (kinds as f64 * counts[place(sample.kind)])).powf(RARITY);
        sample.views().map(|(measured, _, weight)| {
            let values = scaling.iter().zip(&measured.values);
            Row {
                dense: values
                    .map(|(scaling, value)| scaling.plain(*value))
                    .collect(),
                sparse: Vec::new(),
                sparse_value: 0.0,
                class: place(sample.kind),
                weight: weight * rarity,
            }
        })
    });
    let rows: Vec<Row> = rows.collect();
    logistic::run_multinomial(&rows, &prior(samples), kinds, 1.0 / STRENGTH)
}

/// The weights that each kind begins with. Where all documents of a kind come from one source, they tell the source as much as the
/// kind: its own headings and phrases speak for it then. The more sources there are, the less is said beforehand.
fn prior(samples: &[&Sample]) -> Vec<f64> {
    let all = features::all();
    let mut prior = vec![0.0; all.len() * Kind::ALL.len()];
    for (kind, marks) in MARKS {
        let of_kind = samples.iter().filter(|sample| sample.kind == kind);
        let sources: HashSet<&str> = of_kind.map(|sample| sample.source.as_str()).collect();
        // A phrase of two sources says more than a phrase of one.
        let weight = 1.0 / (sources.len().max(1) as f64).powi(2);
        let own = &mut prior[place(kind) * all.len()..][..all.len()];
        for (weight_of_mark, feature) in own.iter_mut().zip(all) {
            if marks.contains(&&*feature.name) {
                *weight_of_mark = weight;
            }
        }
    }
    prior
}

fn place(kind: Kind) -> usize {
    let found = Kind::ALL.iter().position(|known| *known == kind);
    found.unwrap_or(Kind::ALL.len() - 1)
}

/// How freely weights may grow; found by cross-validation.
const STRENGTH: f64 = 0.003;
/// How much more documents of rare kinds count.
const RARITY: f64 = 0.7;
/// Headings and phrases of each kind.
const MARKS: [(Kind, &[&str]); 19] = [
    (Kind::Paper, &["marks.papers", "layout.paper_length"]),
    (
        Kind::ShortPaper,
        &["marks.papers", "layout.up_to_four_pages"],
    ),
    (
        Kind::Thesis,
        &[
            "heading.thesis",
            "phrase.self_thesis",
            "phrase.self_thesis.first",
        ],
    ),
    (
        Kind::Book,
        &[
            "heading.book",
            "phrase.self_book",
            "phrase.self_book.first",
            "tables.chapter",
            "layout.over_60_pages",
        ],
    ),
    (
        Kind::Report,
        &[
            "phrase.self_report",
            "phrase.self_report.first",
            "phrase.government",
        ],
    ),
    (
        Kind::Guideline,
        &["phrase.guideline", "phrase.guideline.first"],
    ),
    (
        Kind::Proposal,
        &["phrase.proposal", "phrase.proposal.first"],
    ),
    (
        Kind::Slides,
        &[
            "heading.slides",
            "phrase.slides",
            "phrase.slides.first",
            "layout.sparse_pages",
        ],
    ),
    (
        Kind::Poster,
        &["phrase.poster", "phrase.poster.first", "layout.one_page"],
    ),
    (Kind::LectureNotes, &["tables.lecture", "phrase.theorem"]),
    (
        Kind::Homework,
        &[
            "heading.exercises",
            "phrase.exercise",
            "phrase.exercise.first",
            "tables.problem",
        ],
    ),
    (
        Kind::Manual,
        &[
            "heading.manual",
            "phrase.self_manual",
            "phrase.self_manual.first",
            "phrase.instruct",
        ],
    ),
    (
        Kind::Datasheet,
        &["phrase.datasheet", "phrase.datasheet.first"],
    ),
    (Kind::Cv, &["heading.cv", "phrase.cv", "phrase.cv.first"]),
    (
        Kind::Form,
        &["heading.form", "phrase.form", "phrase.form.first"],
    ),
    (
        Kind::Minutes,
        &["heading.minutes", "phrase.minutes", "phrase.minutes.first"],
    ),
    (
        Kind::Legal,
        &[
            "heading.law",
            "phrase.legal",
            "phrase.legal.first",
            "phrase.bylaws",
        ],
    ),
    (
        Kind::Periodical,
        &["heading.news", "phrase.news", "phrase.news.first"],
    ),
    (
        Kind::Syllabus,
        &["heading.course", "phrase.course", "phrase.course.first"],
    ),
];

#[cfg(test)]
mod tests {
    use super::super::super::Example;
    use super::*;

    #[test]
    fn every_mark_of_a_kind_is_a_feature() {
        let marks: usize = MARKS.iter().map(|(_, marks)| marks.len()).sum();

        let weights = prior(&[]).into_iter().filter(|weight| *weight > 0.0);

        assert_eq!(weights.count(), marks);
    }

    #[test]
    fn marks_speak_for_less_the_more_sources_a_kind_has() {
        let sample = |number: usize| {
            Sample::new(&Example {
                kind: Some(Kind::Minutes),
                source: format!("source {number}"),
                ..Example::default()
            })
        };
        let samples: Vec<Sample> = (0..20).map(sample).collect();
        let most = |sources: usize| {
            let samples: Vec<&Sample> = samples[..sources].iter().collect();
            let width = features::all().len();
            let prior = prior(&samples);
            let own = &prior[place(Kind::Minutes) * width..][..width];
            own.iter().copied().fold(0.0, f64::max)
        };

        assert_eq!((most(1), most(2)), (1.0, 0.25));
        assert!(most(20) < 0.01);
    }
}
