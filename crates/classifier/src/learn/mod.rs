//! Learns a model from labelled documents: logistic regression with an L2 penalty over features and words, calibrated on
//! documents of sources that were left out. The same documents in the same order give the same model.

mod binary;
mod calibrate;
mod damage;
mod folds;
mod kinds;
mod lbfgs;
mod logistic;
mod sample;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::model::{Calibration, Head, Model, Trained, Weighed};
use super::{Answer, Error, Kind, features, words};
use binary::Binary;

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

/// A score, and whether the document is academic.
type Scored = (f64, bool);

impl Training {
    /// Learns a model. `progress` is told which of how many steps is done.
    pub(crate) fn train(
        &self,
        samples: &[Sample],
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Model, Error> {
        let samples = &sample::weighed(samples);
        check(samples)?;
        let steps = self.folds * self.rounds as usize + 1;
        let mut scored = Vec::new();
        for round in 0..self.rounds {
            let parts = folds::divide(samples, self.folds, self.seed.wrapping_add(round));
            for part in 0..self.folds {
                progress(round as usize * self.folds + part, steps);
                let (held_out, rest) = split(samples, &parts, part);
                scored.extend(score(&fit_binary(&rest)?, &held_out));
            }
        }
        progress(steps - 1, steps);
        let mut model = fit(&samples.iter().collect::<Vec<_>>())?;
        model.head.calibration = calibrate::platt(&scored);
        Model::new(model.head, model.words)
    }

    /// Answers about each document by a model that has seen no document of its source. Calibration too is learnt
    /// without it. With [`Training::folds`] of the number of sources or more, each source is left out alone.
    pub(crate) fn cross_validate(
        &self,
        samples: &[Sample],
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<Answer>, Error> {
        check(samples)?;
        let folds = self.folds.min(sources(samples.iter()));
        let parts = folds::divide(samples, folds, self.seed);
        // Scores of each part by a model of the others; the calibration of a part is learnt from those of the rest.
        let mut judged = Vec::new();
        for part in 0..folds {
            progress(part, folds);
            let (held_out, rest) = split(samples, &parts, part);
            let model = fit(&rest)?;
            let scores = score(&model, &held_out);
            judged.push((model, scores));
        }
        let calibrations = (0..folds).map(|part| {
            let others = judged.iter().enumerate().filter(|(of, _)| *of != part);
            let scored = others.flat_map(|(_, (_, scores))| scores).copied();
            calibrate::platt(&scored.collect::<Vec<Scored>>())
        });
        let calibrations: Vec<Calibration> = calibrations.collect();
        for ((model, _), calibration) in judged.iter_mut().zip(calibrations) {
            model.head.calibration = calibration;
        }
        let answers = samples.iter().zip(&parts).map(|(sample, part)| {
            let model = &judged[*part].0;
            model.answer_measured(&sample.measured, &sample.buckets)
        });
        Ok(answers.collect())
    }

    /// Answers about each document by a model that has seen no document of its group, and none of a source of which the group
    /// has documents: a language, for instance, that nothing was learnt about.
    pub(crate) fn hold_out(
        &self,
        samples: &[Sample],
        groups: &[&str],
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<Answer>, Error> {
        let names: BTreeSet<&str> = groups.iter().copied().collect();
        let mut models = BTreeMap::new();
        for (done, name) in names.iter().enumerate() {
            progress(done, names.len());
            let is_held_out = |(_, group): &(&Sample, &&str)| *group == name;
            let held_out = samples.iter().zip(groups).filter(is_held_out);
            let sources: HashSet<&str> =
                held_out.map(|(sample, _)| sample.source.as_str()).collect();
            let rest = samples.iter().zip(groups).filter(|(sample, group)| {
                *group != name && !sources.contains(sample.source.as_str())
            });
            let rest: Vec<Sample> = rest.map(|(sample, _)| sample.clone()).collect();
            let model = self.train(&rest, &mut |_, _| ());
            let model = model.map_err(|error| match error {
                Error::TooLittle(reason) => {
                    Error::TooLittle(format!("without `{name}` and its sources, {reason}"))
                }
                error => error,
            });
            models.insert(*name, model?);
        }
        let answers = samples.iter().zip(groups).map(|(sample, group)| {
            models[group].answer_measured(&sample.measured, &sample.buckets)
        });
        Ok(answers.collect())
    }
}

/// Enough to learn anything from?
fn check(samples: &[Sample]) -> Result<(), Error> {
    let clear = |academic: bool| {
        let clear = samples.iter().filter(|sample| !sample.borderline);
        clear.filter(|sample| sample.academic == academic).count()
    };
    let (academic, other, sources) = (clear(true), clear(false), sources(samples.iter()));
    if academic >= 5 && other >= 5 && sources >= 4 {
        return Ok(());
    }
    Err(Error::TooLittle(format!(
        "there are {academic} academic and {other} other documents from {sources} sources; at least 5 of each and 4 sources are needed"
    )))
}

fn sources<'a>(samples: impl Iterator<Item = &'a Sample>) -> usize {
    let sources = samples.map(|sample| sample.source.as_str());
    sources.collect::<HashSet<_>>().len()
}

fn split<'a>(
    samples: &'a [Sample],
    parts: &[usize],
    part: usize,
) -> (Vec<&'a Sample>, Vec<&'a Sample>) {
    let (mut held_out, mut rest) = (Vec::new(), Vec::new());
    for (sample, of) in samples.iter().zip(parts) {
        match *of == part {
            true => held_out.push(sample),
            false => rest.push(sample),
        }
    }
    (held_out, rest)
}

/// The answer of a model about documents to calibrate with. Corrections are left out: they are those that a model got wrong,
/// and would make every answer look less sure than it is.
fn score(model: &Model, samples: &[&Sample]) -> Vec<Scored> {
    let usual = samples
        .iter()
        .filter(|sample| !sample.borderline && !sample.corrected);
    usual
        .map(|sample| {
            let score = model.score(&sample.measured, &sample.buckets);
            (score, sample.academic)
        })
        .collect()
}

/// A model that is not calibrated yet.
fn fit(samples: &[&Sample]) -> Result<Model, Error> {
    let binary = Binary::fit(samples);
    let learnt = kinds::fit(samples, &binary.scaling);
    let mut model = model(&binary, samples)?;
    let (weights, biases) = learnt.split_at(learnt.len() - Kind::ALL.len());
    let width = binary.scaling.len();
    for (index, feature) in model.head.features.iter_mut().enumerate() {
        for (kind, weight) in feature.kinds.iter_mut().enumerate() {
            *weight = weights[kind * width + index] as f32;
        }
    }
    for (bias, learnt) in model.head.kind_biases.iter_mut().zip(biases) {
        *bias = *learnt as f32;
    }
    Ok(model)
}

/// A model that knows no kinds either, for its scores alone.
fn fit_binary(samples: &[&Sample]) -> Result<Model, Error> {
    model(&Binary::fit(samples), samples)
}

fn model(binary: &Binary, samples: &[&Sample]) -> Result<Model, Error> {
    let (of_features, of_words) = binary.weights.split_at(binary.scaling.len());
    let features = features::all().iter().zip(&binary.scaling).zip(of_features);
    let features = features.map(|((feature, scaling), weight)| Weighed {
        name: feature.name.clone(),
        mean: scaling.mean,
        spread: scaling.spread,
        weight: (weight * scaling.scale) as f32,
        kinds: [0.0; Kind::ALL.len()],
    });
    let head = Head {
        format: String::new(),
        trained: Trained {
            documents: samples.len(),
            fitted: samples.iter().filter(|sample| sample.clarity > 0.0).count(),
            sources: sources(samples.iter().copied()),
        },
        features: features.collect(),
        bias: binary.bias as f32,
        kind_biases: [0.0; Kind::ALL.len()],
        calibration: Calibration::NONE,
        word_scale: binary::WORD_SCALE as f32,
        word_buckets: 0,
        word_weights: 0,
        vocabulary: String::new(),
    };
    let mut weights = vec![0.0; words::BUCKETS];
    for (bucket, weight) in binary.buckets.iter().zip(of_words) {
        weights[*bucket as usize] = *weight as f32;
    }
    Model::new(head, weights)
}
