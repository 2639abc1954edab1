//! How good answers are: figures over labelled documents.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Answer, Decision, Example, Policy};

/// From this probability on a document counts as taken for academic.
pub const BORDER: f64 = 0.5;
const BINS: usize = 10;

/// A labelled document and what was answered about it. The text is not kept.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The document, without its text.
    pub example: Example,
    /// The answer.
    pub answer: Answer,
}

impl Judged {
    /// Takes the text away; figures need the labels alone.
    pub fn new(mut example: Example, answer: Answer) -> Self {
        example.text = String::new();
        Self { example, answer }
    }
}

/// Figures over some documents.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Figures {
    /// How many documents.
    pub documents: usize,
    /// How many of them are academic.
    pub academic: usize,
    /// How they were taken.
    pub confusion: Confusion,
    /// The share of right answers.
    pub accuracy: Option<f64>,
    /// The share of academic ones among those taken for academic.
    pub precision: Option<f64>,
    /// The share of academic ones that were taken for academic.
    pub recall: Option<f64>,
    /// The harmonic mean of both.
    pub f1: Option<f64>,
    /// The share of other documents that were taken for academic.
    pub false_positive_rate: Option<f64>,
    /// How far probabilities are from what is the case, on average over ten bins.
    pub expected_calibration_error: Option<f64>,
}

/// How often documents were taken for what they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Confusion {
    /// Academic, and taken for it.
    pub true_positive: usize,
    /// Not academic, but taken for it.
    pub false_positive: usize,
    /// Not academic, and not taken for it.
    pub true_negative: usize,
    /// Academic, but not taken for it.
    pub false_negative: usize,
}

/// All figures of an evaluation. `borderline` documents stand apart.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// Over all documents that are not borderline.
    #[serde(flatten)]
    pub all: Figures,
    /// Over those of them marked as hard.
    pub hard: Figures,
    /// By group of fields of research; `none` for those that are not academic.
    pub bucket: BTreeMap<String, Figures>,
    /// By field of research; `general` for most that are not academic.
    pub field: BTreeMap<String, Figures>,
    /// By subtype.
    pub subtype: BTreeMap<String, Figures>,
    /// By language.
    pub language: BTreeMap<String, Figures>,
    /// Over documents in other languages than English.
    pub other_languages: Figures,
    /// Answers above 0.95 and below 0.05.
    pub sure: Sure,
    /// The decisions where papers are as rare as the user says; none without a base rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_rate: Option<AtBaseRate>,
    /// Over borderline documents.
    pub borderline: Borderline,
    /// Share of documents with the right kind, borderline ones among them.
    pub kind_accuracy: Option<f64>,
    /// How often a document of one kind was taken for another: `kinds[is][answered]`.
    pub kinds: BTreeMap<&'static str, BTreeMap<&'static str, usize>>,
    /// The decisions, by label.
    pub decisions: Decisions,
    /// The bins of the calibration.
    pub calibration: Vec<Bin>,
    /// Precision and recall for each threshold.
    pub thresholds: Vec<AtThreshold>,
}

/// Precision and recall of the documents from a probability on.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AtThreshold {
    /// The least probability.
    pub threshold: f64,
    /// The share of academic documents among those from it on; at the base rate if there is one.
    pub precision: Option<f64>,
    /// The share of academic documents that reach it.
    pub recall: Option<f64>,
    /// The share of other documents that reach it.
    pub false_positive_rate: Option<f64>,
}

/// Answers that are sure.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Sure {
    /// How many documents.
    pub documents: usize,
    /// How many of the answers are wrong.
    pub wrong: usize,
    /// The share of wrong answers.
    pub wrong_share: Option<f64>,
}

/// Precision and recall at a base rate of academic documents.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AtBaseRate {
    /// The share of academic documents.
    pub base_rate: f64,
    /// The probability at even odds from which on a document is accepted.
    pub threshold: f64,
    /// The share of academic documents among those that are accepted.
    pub precision: Option<f64>,
    /// The share of academic documents that are accepted.
    pub recall: Option<f64>,
    /// The share of other documents that are accepted.
    pub false_positive_rate: Option<f64>,
}

/// Figures over documents about whose label reasonable people would differ.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Borderline {
    /// Over all of them.
    #[serde(flatten)]
    pub all: Figures,
    /// By subtype.
    pub subtype: BTreeMap<String, Figures>,
}

/// How many documents were accepted, left open and rejected.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Decisions {
    /// Of academic ones.
    pub academic: BTreeMap<&'static str, usize>,
    /// Of others.
    pub nonacademic: BTreeMap<&'static str, usize>,
}

/// Documents with probabilities near each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Bin {
    /// The lowest probability.
    pub from: f64,
    /// How many documents.
    pub documents: usize,
    /// The mean of their probabilities.
    pub probability: f64,
    /// The share of academic ones.
    pub academic: f64,
}

/// Sums up.
pub fn evaluate(judged: &[Judged], policy: &Policy) -> Evaluation {
    let (borderline, core): (Vec<&Judged>, Vec<&Judged>) =
        judged.iter().partition(|judged| judged.example.borderline);
    let mut evaluation = Evaluation {
        all: figures(&core),
        hard: figures(
            &core
                .iter()
                .filter(|judged| judged.example.hard)
                .copied()
                .collect::<Vec<_>>(),
        ),
        bucket: grouped(&core, |example| &example.bucket),
        field: grouped(&core, |example| &example.field),
        subtype: grouped(&core, |example| &example.subtype),
        language: grouped(&core, |example| &example.lang),
        other_languages: figures(&foreign(&core)),
        sure: sure(&core),
        base_rate: policy
            .base_rate
            .map(|rate| at_base_rate(&core, policy, rate)),
        borderline: Borderline {
            all: figures(&borderline),
            subtype: grouped(&borderline, |example| &example.subtype),
        },
        calibration: bins(&core),
        thresholds: thresholds(&core, policy.base_rate),
        ..Evaluation::default()
    };
    for judged in &core {
        let decision = policy.decide(&judged.answer);
        let decisions = match judged.example.is_academic() {
            true => &mut evaluation.decisions.academic,
            false => &mut evaluation.decisions.nonacademic,
        };
        for known in [Decision::Accept, Decision::Unsure, Decision::Reject] {
            *decisions.entry(known.name()).or_default() += usize::from(known == decision);
        }
    }
    let mut right = 0;
    for judged in judged {
        let (is, answered) = (judged.example.kind(), judged.answer.kind);
        right += usize::from(is == answered);
        let row = evaluation.kinds.entry(is.name()).or_default();
        *row.entry(answered.name()).or_default() += 1;
    }
    evaluation.kind_accuracy = ratio(right, judged.len());
    evaluation
}

/// Those whose language is known and not English.
fn foreign<'a>(judged: &[&'a Judged]) -> Vec<&'a Judged> {
    let is_foreign = |lang: &str| !lang.is_empty() && lang != "en";
    let foreign = judged
        .iter()
        .filter(|judged| is_foreign(&judged.example.lang));
    foreign.copied().collect()
}

fn sure(judged: &[&Judged]) -> Sure {
    let is_sure = |probability: f64| !(0.05..=0.95).contains(&probability);
    let sure = judged
        .iter()
        .filter(|judged| is_sure(judged.answer.probability));
    let (mut documents, mut wrong) = (0, 0);
    for judged in sure {
        documents += 1;
        wrong += usize::from(judged.example.is_academic() != (judged.answer.probability > 0.5));
    }
    Sure {
        documents,
        wrong,
        wrong_share: ratio(wrong, documents),
    }
}

fn at_base_rate(judged: &[&Judged], policy: &Policy, rate: f64) -> AtBaseRate {
    let accepted = |academic: bool| {
        let of_label = judged
            .iter()
            .filter(|judged| judged.example.is_academic() == academic);
        let (mut all, mut accepted) = (0, 0);
        for judged in of_label {
            all += 1;
            accepted += usize::from(policy.decide(&judged.answer) == Decision::Accept);
        }
        ratio(accepted, all)
    };
    let (recall, others) = (accepted(true), accepted(false));
    let precision = precision_at(rate, recall, others);
    // The threshold undone: what becomes `accept` at this rate.
    let (high, low) = (policy.accept * (1.0 - rate), (1.0 - policy.accept) * rate);
    AtBaseRate {
        base_rate: rate,
        threshold: high / (high + low).max(f64::MIN_POSITIVE),
        precision,
        recall,
        false_positive_rate: others,
    }
}

/// The share of academic documents among those that are taken, where `rate` of all are.
fn precision_at(rate: f64, recall: Option<f64>, others: Option<f64>) -> Option<f64> {
    let (recall, others) = recall.zip(others)?;
    let (right, wrong) = (rate * recall, (1.0 - rate) * others);
    (right + wrong > 0.0).then(|| right / (right + wrong))
}

fn thresholds(judged: &[&Judged], base_rate: Option<f64>) -> Vec<AtThreshold> {
    let academic = judged.iter().filter(|judged| judged.example.is_academic());
    let (academic, all) = (academic.count(), judged.len());
    let rate = base_rate.or(ratio(academic, all)).unwrap_or_default();
    let at = |threshold: f64| {
        let taken = judged
            .iter()
            .filter(|judged| judged.answer.probability >= threshold);
        let [mut right, mut wrong] = [0, 0];
        for judged in taken {
            match judged.example.is_academic() {
                true => right += 1,
                false => wrong += 1,
            }
        }
        let (recall, others) = (ratio(right, academic), ratio(wrong, all - academic));
        AtThreshold {
            threshold,
            precision: precision_at(rate, recall, others),
            recall,
            false_positive_rate: others,
        }
    };
    THRESHOLDS.map(at).to_vec()
}

/// Finer at both ends, where most answers are.
const THRESHOLDS: [f64; 17] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.96, 0.98, 0.99, 0.995,
];

fn grouped<'a>(
    judged: &[&'a Judged],
    name: impl Fn(&'a Example) -> &'a str,
) -> BTreeMap<String, Figures> {
    let mut groups: BTreeMap<&str, Vec<&Judged>> = BTreeMap::new();
    for judged in judged {
        groups
            .entry(name(&judged.example))
            .or_default()
            .push(judged);
    }
    let groups = groups.into_iter().filter(|(name, _)| !name.is_empty());
    groups
        .map(|(name, judged)| (name.to_owned(), figures(&judged)))
        .collect()
}

fn figures(judged: &[&Judged]) -> Figures {
    let mut counts = [[0_usize; 2]; 2];
    for judged in judged {
        let taken = judged.answer.probability >= BORDER;
        counts[usize::from(judged.example.is_academic())][usize::from(taken)] += 1;
    }
    let [[rejected, taken_wrongly], [missed, taken]] = counts;
    let (precision, recall) = (
        ratio(taken, taken + taken_wrongly),
        ratio(taken, taken + missed),
    );
    let f1 = match taken + missed {
        0 => None,
        _ => ratio(2 * taken, 2 * taken + taken_wrongly + missed),
    };
    let bins = bins(judged);
    let error = bins
        .iter()
        .map(|bin| bin.documents as f64 * (bin.probability - bin.academic).abs());
    Figures {
        documents: judged.len(),
        academic: taken + missed,
        confusion: Confusion {
            true_positive: taken,
            false_positive: taken_wrongly,
            true_negative: rejected,
            false_negative: missed,
        },
        accuracy: ratio(taken + rejected, judged.len()),
        precision,
        recall,
        f1,
        false_positive_rate: ratio(taken_wrongly, taken_wrongly + rejected),
        expected_calibration_error: (!judged.is_empty())
            .then(|| error.sum::<f64>() / judged.len() as f64),
    }
}

fn bins(judged: &[&Judged]) -> Vec<Bin> {
    let mut bins = vec![(0_usize, 0.0, 0_usize); BINS];
    for judged in judged {
        let probability = judged.answer.probability;
        let bin = &mut bins[((probability * BINS as f64) as usize).min(BINS - 1)];
        *bin = (
            bin.0 + 1,
            bin.1 + probability,
            bin.2 + usize::from(judged.example.is_academic()),
        );
    }
    let bins = bins.into_iter().enumerate().filter(|(_, bin)| bin.0 > 0);
    let bins = bins.map(|(index, (documents, sum, academic))| Bin {
        from: index as f64 / BINS as f64,
        documents,
        probability: sum / documents as f64,
        academic: academic as f64 / documents as f64,
    });
    bins.collect()
}

fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
