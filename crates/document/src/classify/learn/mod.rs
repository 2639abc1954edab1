//! Learns a model from labelled documents: logistic regression with an L2 penalty over features and words, calibrated on
//! documents of sources that were left out. The same documents in the same order give the same model.

mod calibrate;
mod folds;
mod lbfgs;
mod logistic;
mod sample;

use std::collections::HashSet;

use super::model::{Calibration, Head, Model, Trained, Weighed};
use super::{Answer, Error, Kind, features, words};
use logistic::{Fit, Row};

pub use sample::Sample;

/// How a model is learnt. What is not said keeps what proved itself in cross-validation by source.
#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    /// Into how many parts the sources are divided for calibration and cross-validation.
    pub folds: usize,
    /// How many times they are divided anew for calibration.
    pub rounds: u64,
    /// Where the dividing begins; another number divides otherwise.
    pub seed: u64,
}

impl Default for Training {
    fn default() -> Self {
        Self {
            folds: 10,
            rounds: 3,
            seed: 1,
        }
    }
}

impl Training {
    /// Learns a model. `progress` is told which of how many steps is done.
    pub(crate) fn train(
        &self,
        samples: &[Sample],
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Model, Error> {
        check(samples)?;
        let all: Vec<&Sample> = samples.iter().collect();
        let steps = self.folds * self.rounds as usize + 1;
        let mut scored = Vec::new();
        for round in 0..self.rounds {
            let parts = folds::divide(samples, self.folds, self.seed + round);
            for part in 0..self.folds {
                progress(round as usize * self.folds + part, steps);
                scored.extend(self.score_part(samples, &parts, part)?);
            }
        }
        let calibration = calibrate::platt(&scored);
        progress(steps - 1, steps);
        fit(&all, calibration)
    }

    fn score_part(
        &self,
        samples: &[Sample],
        parts: &[usize],
        part: usize,
    ) -> Result<Vec<(f64, bool)>, Error> {
        let (held_out, rest) = split(samples, parts, part);
        if held_out.iter().all(|sample| sample.borderline) {
            return Ok(Vec::new());
        }
        let binary = Binary::fit(&rest)?;
        let scores = held_out.iter().filter(|sample| !sample.borderline);
        Ok(scores
            .map(|sample| (binary.score(sample), sample.academic))
            .collect())
    }

    /// Answers about each document by a model that has seen no document of its source. Calibration too is learnt
    /// without it.
    pub(crate) fn cross_validate(
        &self,
        samples: &[Sample],
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<Answer>, Error> {
        check(samples)?;
        let parts = folds::divide(samples, self.folds, self.seed);
        let mut answers: Vec<Option<Answer>> = vec![None; samples.len()];
        // Scores of each part by a model of the others; the calibration of a part is learnt from those of the rest.
        let mut models = Vec::new();
        for part in 0..self.folds {
            progress(part, self.folds);
            let (held_out, rest) = split(samples, &parts, part);
            let model = fit(
                &rest,
                Calibration {
                    slope: 1.0,
                    offset: 0.0,
                },
            )?;
            let scores = held_out.iter().filter(|sample| !sample.borderline);
            let scores: Vec<(f64, bool)> = scores
                .map(|sample| {
                    (
                        model.score(&sample.measured, &sample.buckets),
                        sample.academic,
                    )
                })
                .collect();
            models.push((model, scores));
        }
        for part in 0..self.folds {
            let others = models
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != part);
            let scored: Vec<(f64, bool)> = others
                .flat_map(|(_, (_, scores))| scores)
                .copied()
                .collect();
            models[part].0.head.calibration = calibrate::platt(&scored);
            let held_out = parts.iter().enumerate().filter(|(_, of)| **of == part);
            for (index, _) in held_out {
                answers[index] = Some(
                    models[part]
                        .0
                        .answer_measured(&samples[index].measured, &samples[index].buckets),
                );
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }
}

fn check(samples: &[Sample]) -> Result<(), Error> {
    let sources: HashSet<&str> = samples
        .iter()
        .map(|sample| sample.source.as_str())
        .collect();
    let academic = samples
        .iter()
        .filter(|sample| sample.academic && !sample.borderline)
        .count();
    let other = samples
        .iter()
        .filter(|sample| !sample.academic && !sample.borderline)
        .count();
    let enough = academic >= 5 && other >= 5 && sources.len() >= 4;
    match enough {
        true => Ok(()),
        false => Err(Error::TooLittle(format!(
            "there are {academic} academic and {other} other documents from {} sources; at least 5 of each and 4 sources are needed",
            sources.len()
        ))),
    }
}

fn split<'a>(
    samples: &'a [Sample],
    parts: &[usize],
    part: usize,
) -> (Vec<&'a Sample>, Vec<&'a Sample>) {
    let marked = samples.iter().zip(parts);
    let (held_out, rest): (Vec<_>, Vec<_>) = marked.partition(|(_, of)| **of == part);
    let plain =
        |pairs: Vec<(&'a Sample, &usize)>| pairs.into_iter().map(|(sample, _)| sample).collect();
    (plain(held_out), plain(rest))
}

fn fit(samples: &[&Sample], calibration: Calibration) -> Result<Model, Error> {
    let binary = Binary::fit(samples)?;
    let mut head = binary.head(samples, calibration);
    let kinds = fit_kinds(samples, &binary.scaling);
    let biases = kinds.len() - Kind::ALL.len();
    for (index, feature) in head.features.iter_mut().enumerate() {
        for (kind, weight) in feature.kinds.iter_mut().enumerate() {
            *weight = kinds[kind * binary.scaling.len() + index] as f32;
        }
    }
    for (bias, learnt) in head.kind_biases.iter_mut().zip(&kinds[biases..]) {
        *bias = *learnt as f32;
    }
    let mut weights = vec![0.0; words::BUCKETS];
    for (bucket, weight) in binary
        .buckets
        .iter()
        .zip(&binary.weights[binary.scaling.len()..])
    {
        weights[*bucket as usize] = *weight as f32;
    }
    Model::new(head, weights)
}

/// The answer to "academic or not" before it is calibrated.
struct Binary {
    scaling: Vec<Scaling>,
    /// The buckets that are in use, sorted.
    buckets: Vec<u32>,
    /// Of the features, then of the buckets.
    weights: Vec<f64>,
    bias: f64,
}

#[derive(Debug, Clone, Copy)]
struct Scaling {
    mean: f32,
    spread: f32,
    /// How much more freely than others a feature may speak.
    scale: f64,
}

impl Scaling {
    fn value(&self, measured: f32) -> f64 {
        f64::from(((measured - self.mean) / self.spread).clamp(-3.0, 3.0)) * self.scale
    }
}

impl Binary {
    fn fit(samples: &[&Sample]) -> Result<Self, Error> {
        let fitted: Vec<&Sample> = samples
            .iter()
            .filter(|sample| !sample.borderline)
            .copied()
            .collect();
        let scaling = scaling(&fitted);
        let buckets = frequent(&fitted);
        let rows: Vec<Row> = fitted
            .iter()
            .map(|sample| row(sample, &scaling, &buckets))
            .collect();
        let fit = Fit {
            rows: &rows,
            width: scaling.len() + buckets.len(),
            dense: scaling.len(),
            penalty: 1.0 / STRENGTH,
        };
        let mut weights = fit.run();
        let bias = weights.pop().unwrap_or_default();
        Ok(Self {
            scaling,
            buckets,
            weights,
            bias,
        })
    }

    fn score(&self, sample: &Sample) -> f64 {
        let row = row(sample, &self.scaling, &self.buckets);
        row.score(&self.weights, self.scaling.len()) + self.bias
    }

    fn head(&self, samples: &[&Sample], calibration: Calibration) -> Head {
        let sources: HashSet<&str> = samples
            .iter()
            .map(|sample| sample.source.as_str())
            .collect();
        let features = features::all().iter().zip(&self.scaling).zip(&self.weights);
        let features = features.map(|((feature, scaling), weight)| Weighed {
            name: feature.name.clone(),
            mean: scaling.mean,
            spread: scaling.spread,
            weight: (weight * scaling.scale) as f32,
            kinds: [0.0; Kind::ALL.len()],
        });
        Head {
            format: String::new(),
            trained: Trained {
                documents: samples.len(),
                fitted: samples.iter().filter(|sample| !sample.borderline).count(),
                sources: sources.len(),
            },
            features: features.collect(),
            bias: self.bias as f32,
            kind_biases: [0.0; Kind::ALL.len()],
            calibration,
            word_scale: WORD_SCALE as f32,
            word_buckets: 0,
            word_weights: 0,
        }
    }
}

fn row(sample: &Sample, scaling: &[Scaling], buckets: &[u32]) -> Row {
    let dense = scaling.iter().zip(&sample.measured.values);
    let known = sample
        .buckets
        .iter()
        .filter_map(|bucket| buckets.binary_search(bucket).ok());
    Row {
        dense: dense
            .map(|(scaling, value)| scaling.value(*value))
            .collect(),
        sparse: known.map(|place| (scaling.len() + place) as u32).collect(),
        sparse_value: WORD_SCALE / (sample.buckets.len().max(1) as f64).sqrt(),
        class: usize::from(sample.academic),
        weight: 1.0,
    }
}

fn scaling(samples: &[&Sample]) -> Vec<Scaling> {
    let count = samples.len().max(1) as f64;
    let features = features::all().iter().enumerate();
    features
        .map(|(index, feature)| {
            let values = || {
                samples
                    .iter()
                    .map(|sample| f64::from(sample.measured.values[index]))
            };
            let mean = values().sum::<f64>() / count;
            let spread = (values().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
            // What is the same everywhere says nothing, and must not say much about the one where it differs.
            let spread = if spread < 1e-6 { 1e9 } else { spread };
            let scale = if feature.name.starts_with("marks.") {
                MARKS_SCALE
            } else {
                1.0
            };
            Scaling {
                mean: mean as f32,
                spread: spread as f32,
                scale,
            }
        })
        .collect()
}

/// Buckets that some documents have; what one document alone says is chance.
fn frequent(samples: &[&Sample]) -> Vec<u32> {
    let mut counts = vec![0_u32; words::BUCKETS];
    for bucket in samples.iter().flat_map(|sample| &sample.buckets) {
        counts[*bucket as usize] += 1;
    }
    let counts = counts.into_iter().zip(0_u32..);
    counts
        .filter(|(count, _)| *count >= LEAST_DOCUMENTS)
        .map(|(_, bucket)| bucket)
        .collect()
}

/// The kinds, by features alone: the weights of each kind, then the biases.
fn fit_kinds(samples: &[&Sample], scaling: &[Scaling]) -> Vec<f64> {
    let kinds = Kind::ALL.len();
    let mut counts = vec![0.0_f64; kinds];
    for sample in samples {
        counts[place(sample.kind)] += 1.0;
    }
    let rows = samples.iter().map(|sample| {
        let dense = scaling.iter().zip(&sample.measured.values);
        Row {
            dense: dense
                .map(|(scaling, value)| scaling.value(*value) / scaling.scale)
                .collect(),
            sparse: Vec::new(),
            sparse_value: 0.0,
            class: place(sample.kind),
            // Rare kinds would never be named otherwise.
            weight: (samples.len() as f64 / (kinds as f64 * counts[place(sample.kind)])).sqrt(),
        }
    });
    let rows: Vec<Row> = rows.collect();
    logistic::run_multinomial(&rows, scaling.len(), kinds, 1.0 / KIND_STRENGTH)
}

fn place(kind: Kind) -> usize {
    let found = Kind::ALL.iter().position(|known| *known == kind);
    found.unwrap_or(Kind::ALL.len() - 1)
}

/// How freely weights may grow; found by cross-validation, as are the numbers below.
const STRENGTH: f64 = 0.02;
const KIND_STRENGTH: f64 = 0.03;
/// How much words count beside features.
const WORD_SCALE: f64 = 20.0;
const MARKS_SCALE: f64 = 2.0;
const LEAST_DOCUMENTS: u32 = 3;
