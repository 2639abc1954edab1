//! The answer to "academic or not" before it is calibrated: a logistic regression over features and words.

use super::super::{features, words};
use super::Sample;
use super::logistic::{Fit, Row};

/// The result of learning.
pub(super) struct Binary {
    pub(super) scaling: Vec<Scaling>,
    /// The buckets that are in use, sorted.
    pub(super) buckets: Vec<u32>,
    /// Of the features, then of the buckets.
    pub(super) weights: Vec<f64>,
    pub(super) bias: f64,
}

/// How values of a feature are brought to one size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scaling {
    pub(super) mean: f32,
    pub(super) spread: f32,
    /// How much more freely than others a feature may speak.
    pub(super) scale: f64,
}

impl Scaling {
    /// As the model will take it.
    pub(super) fn plain(&self, measured: f32) -> f64 {
        f64::from(((measured - self.mean) / self.spread).clamp(-3.0, 3.0))
    }

    fn value(&self, measured: f32) -> f64 {
        self.plain(measured) * self.scale
    }
}

impl Binary {
    /// Learns from the documents about which nobody differs.
    pub(super) fn fit(samples: &[&Sample]) -> Self {
        let fitted = samples.iter().filter(|sample| sample.clarity > 0.0);
        let fitted: Vec<&Sample> = fitted.copied().collect();
        let scaling = scaling(&fitted);
        let buckets = frequent(&fitted);
        let rows = fitted
            .iter()
            .flat_map(|sample| rows(sample, &scaling, &buckets));
        let rows: Vec<Row> = rows.collect();
        let fit = Fit {
            rows: &rows,
            width: scaling.len() + buckets.len(),
            dense: scaling.len(),
            penalty: 1.0 / STRENGTH,
        };
        let mut weights = fit.run();
        let bias = weights.pop().unwrap_or_default();
        Self {
            scaling,
            buckets,
            weights,
            bias,
        }
    }
}

fn rows(sample: &Sample, scaling: &[Scaling], known: &[u32]) -> [Row; 2] {
    sample.views().map(|(measured, buckets, weight)| {
        let dense = scaling.iter().zip(&measured.values);
        let places = buckets.iter();
        let places = places.filter_map(|bucket| known.binary_search(bucket).ok());
        Row {
            dense: dense
                .map(|(scaling, value)| scaling.value(*value))
                .collect(),
            sparse: places.map(|place| (scaling.len() + place) as u32).collect(),
            sparse_value: WORD_SCALE / (buckets.len().max(1) as f64).sqrt(),
            class: usize::from(sample.academic),
            weight: weight * sample.clarity,
        }
    })
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
            // A value that is the same everywhere says nothing, and must not say much about the one where it differs.
            let spread = if spread < 1e-6 { 1e9 } else { spread };
            let group = feature.name.split('.').next().unwrap_or_default();
            let scale = GROUPS.iter().find(|(name, _)| *name == group);
            Scaling {
                mean: mean as f32,
                spread: spread as f32,
                scale: scale.map_or(1.0, |(_, scale)| *scale),
            }
        })
        .collect()
}

/// Buckets that documents of some sources have; the words of one source alone tell the source.
fn frequent(samples: &[&Sample]) -> Vec<u32> {
    let mut by_source = samples.to_vec();
    by_source.sort_by(|a, b| a.source.cmp(&b.source));
    let mut sources = vec![(0_u32, 0_u32); words::BUCKETS];
    let (mut number, mut before) = (0, None);
    for sample in by_source {
        // Documents of which the source is not known come from anywhere.
        let is_same = !sample.source.is_empty() && before == Some(&sample.source);
        number += u32::from(!is_same);
        before = Some(&sample.source);
        for bucket in &sample.buckets {
            let (count, last) = &mut sources[*bucket as usize];
            *count += u32::from(*last != number);
            *last = number;
        }
    }
    let counts = sources.into_iter().zip(0_u32..);
    counts
        .filter(|((count, _), _)| *count >= LEAST_SOURCES)
        .map(|(_, bucket)| bucket)
        .collect()
}

/// How freely weights may grow; found by cross-validation, as are the numbers below.
const STRENGTH: f64 = 0.02;
/// How much words count beside features.
pub(super) const WORD_SCALE: f64 = 10.0;
/// How freely the features of a group may speak. Single headings and references mislead where a paper has none and a
/// manual has some; how many of them come together, and the shape of pages, holds on sites never seen.
const GROUPS: [(&str, f64); 10] = [
    ("marks", 2.0),
    ("layout", 1.4),
    ("tables", 1.2),
    ("heading", 0.7),
    ("identifiers", 0.7),
    ("phrase", 0.7),
    ("words", 0.5),
    ("references", 0.5),
    ("citations", 0.5),
    ("symbols", 0.5),
];
/// Sources that a word must occur in.
const LEAST_SOURCES: u32 = 3;
