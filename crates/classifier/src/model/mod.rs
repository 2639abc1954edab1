//! A model: weights, and how to apply them.

mod file;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::features::{self, Measured};
use super::reading::Reading;
use super::vocabulary::Vocabulary;
use super::{Answer, Kind, words};

const KINDS: usize = Kind::ALL.len();

/// A model, ready to be applied.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) head: Head,
    /// Weights of the buckets of words.
    pub(crate) words: Vec<f32>,
    /// The beginning of the SHA-256 of its file, so two models with the same version answer alike.
    pub(crate) version: String,
    pub(crate) vocabulary: Arc<Vocabulary>,
}

/// The first line of the file. Numbers are `f32`, which come back from JSON as they went.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) format: String,
    /// The training data, for people.
    pub(crate) trained: Trained,
    pub(crate) features: Vec<Weighed>,
    pub(crate) bias: f32,
    pub(crate) kind_biases: [f32; KINDS],
    pub(crate) calibration: Calibration,
    pub(crate) word_scale: f32,
    pub(crate) word_buckets: usize,
    /// How many weights of words follow.
    pub(crate) word_weights: usize,
    /// The lines that were added to the vocabulary.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) vocabulary: String,
}

/// The training data of a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Trained {
    /// Documents in all.
    pub documents: usize,
    /// Those with which "academic or not" was learnt.
    pub fitted: usize,
    /// Different sources.
    pub sources: usize,
}

/// A feature in a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Weighed {
    pub(crate) name: String,
    pub(crate) mean: f32,
    /// The divisor of a value after the mean was taken off.
    pub(crate) spread: f32,
    pub(crate) weight: f32,
    pub(crate) kinds: [f32; KINDS],
}

impl Weighed {
    /// A value as weights take it. Values far off say no more than those that are clearly high or low.
    pub(crate) fn value(&self, measured: f32) -> f64 {
        f64::from(((measured - self.mean) / self.spread).clamp(-LIMIT, LIMIT))
    }
}

/// Turns a score into a probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Calibration {
    pub(crate) slope: f32,
    pub(crate) offset: f32,
}

impl Calibration {
    /// Scores stand as they are.
    pub(crate) const NONE: Self = Self {
        slope: 1.0,
        offset: 0.0,
    };

    pub(crate) fn probability(self, score: f64) -> f64 {
        logistic(f64::from(self.slope) * score + f64::from(self.offset))
    }
}

pub(crate) fn logistic(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

impl Model {
    pub(crate) fn answer(&self, reading: &Reading) -> Answer {
        let answer = self.answer_measured(&features::measure(reading), &words::buckets(reading));
        if reading.words.is_empty() {
            // Nothing is of no kind.
            return Answer::of_kind(answer.probability, Kind::Other);
        }
        answer
    }

    pub(crate) fn answer_measured(&self, measured: &Measured, buckets: &[u32]) -> Answer {
        let score = self.score(measured, buckets);
        Answer::new(
            self.head.calibration.probability(score),
            self.kinds(measured),
        )
    }

    /// The sum of all that speaks for an academic document, less what speaks against.
    pub(crate) fn score(&self, measured: &Measured, buckets: &[u32]) -> f64 {
        let features = self.head.features.iter().zip(&measured.values);
        let features: f64 = features
            .map(|(feature, value)| f64::from(feature.weight) * feature.value(*value))
            .sum();
        let words = buckets
            .iter()
            .map(|bucket| f64::from(self.words[*bucket as usize]));
        f64::from(self.head.bias) + features + words.sum::<f64>() * self.word_value(buckets.len())
    }

    /// The value of each word, so that long and short texts count alike.
    pub(crate) fn word_value(&self, buckets: usize) -> f64 {
        f64::from(self.head.word_scale) / (buckets.max(1) as f64).sqrt()
    }

    fn kinds(&self, measured: &Measured) -> [f64; KINDS] {
        let mut scores = self.head.kind_biases.map(f64::from);
        for (feature, value) in self.head.features.iter().zip(&measured.values) {
            let value = feature.value(*value);
            for (score, weight) in scores.iter_mut().zip(&feature.kinds) {
                *score += f64::from(*weight) * value;
            }
        }
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let scores = scores.map(|score| (score - most).exp());
        let sum: f64 = scores.iter().sum();
        scores.map(|score| score / sum)
    }
}

/// Values are cut off at so many times the usual spread.
const LIMIT: f32 = 3.0;
