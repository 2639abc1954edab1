//! A model as a file: one line of JSON, then the weights of words in binary.
//!
//! Its version is the beginning of its SHA-256, so two models with the same version answer alike.

use std::io::Write;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::features::{self, Measured};
use super::reading::Reading;
use super::{Answer, Error, Kind, words};

const FORMAT: &str = "garner classifier 1";
const KINDS: usize = Kind::ALL.len();

/// Weights, and how to apply them.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) head: Head,
    /// Weights of the buckets of words.
    pub(crate) words: Vec<f32>,
    pub(crate) version: String,
}

/// What is in the first line. Numbers are `f32`, which come back from JSON as they went.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) format: String,
    /// What it was trained from, for people.
    pub(crate) trained: Trained,
    pub(crate) features: Vec<Weighed>,
    pub(crate) bias: f32,
    pub(crate) kind_biases: [f32; KINDS],
    pub(crate) calibration: Calibration,
    pub(crate) word_scale: f32,
    pub(crate) word_buckets: usize,
    /// How many weights of words follow.
    pub(crate) word_weights: usize,
}

/// What a model was trained from.
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
    /// What a value is divided by after the mean was taken off.
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
    pub(crate) fn probability(self, score: f64) -> f64 {
        logistic(f64::from(self.slope) * score + f64::from(self.offset))
    }
}

pub(crate) fn logistic(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

impl Model {
    /// Puts a model together and gives it its version.
    pub(crate) fn new(mut head: Head, words: Vec<f32>) -> Result<Self, Error> {
        head.format = FORMAT.to_owned();
        head.word_buckets = words.len();
        head.word_weights = words.iter().filter(|weight| **weight != 0.0).count();
        let mut model = Self {
            head,
            words,
            version: String::new(),
        };
        let mut bytes = Vec::new();
        model.write(&mut bytes)?;
        model.version = version(&bytes);
        Ok(model)
    }

    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Error> {
        let end = memchr::memchr(b'\n', bytes);
        let end = end.ok_or_else(|| Error::NoModel("its first line has no end".to_owned()))?;
        let head: Head = serde_json::from_slice(&bytes[..end])
            .map_err(|error| Error::NoModel(error.to_string()))?;
        if head.format != FORMAT {
            return Err(Error::NoModel(format!("its format is `{}`", head.format)));
        }
        let known = features::all();
        for (index, feature) in head.features.iter().enumerate() {
            if known
                .get(index)
                .is_none_or(|known| known.name != feature.name)
            {
                return Err(Error::OtherFeatures(feature.name.clone()));
            }
        }
        if head.features.len() != known.len() {
            return Err(Error::NoModel("it does not know all features".to_owned()));
        }
        let words = read_words(&head, &bytes[end + 1..])?;
        let version = version(bytes);
        Ok(Self {
            head,
            words,
            version,
        })
    }

    pub(crate) fn write(&self, mut to: impl Write) -> Result<(), Error> {
        serde_json::to_writer(&mut to, &self.head).map_err(std::io::Error::from)?;
        to.write_all(b"\n")?;
        for (bucket, weight) in self.words.iter().enumerate() {
            if *weight != 0.0 {
                to.write_all(&(bucket as u32).to_le_bytes())?;
                to.write_all(&weight.to_le_bytes())?;
            }
        }
        Ok(())
    }

    pub(crate) fn answer(&self, reading: &Reading) -> Answer {
        self.answer_measured(&features::measure(reading), &words::buckets(reading))
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
        let weights = buckets
            .iter()
            .map(|bucket| f64::from(self.words[*bucket as usize]));
        f64::from(self.head.bias) + features + weights.sum::<f64>() * self.word_value(buckets.len())
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

fn read_words(head: &Head, bytes: &[u8]) -> Result<Vec<f32>, Error> {
    let wrong = |reason: &str| Error::NoModel(reason.to_owned());
    if head.word_buckets != words::BUCKETS || bytes.len() != head.word_weights.saturating_mul(8) {
        return Err(wrong("its weights of words are not whole"));
    }
    let mut words = vec![0.0; head.word_buckets];
    for entry in bytes.chunks_exact(8) {
        let [a, b, c, d, e, f, g, h] = *entry else {
            continue;
        };
        let bucket = u32::from_le_bytes([a, b, c, d]) as usize;
        let weight = f32::from_le_bytes([e, f, g, h]);
        let place = words
            .get_mut(bucket)
            .ok_or_else(|| wrong("a weight belongs to no word"))?;
        if !weight.is_finite() {
            return Err(wrong("a weight is no number"));
        }
        *place = weight;
    }
    Ok(words)
}

fn version(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Values are cut off at so many times the usual spread.
const LIMIT: f32 = 3.0;
