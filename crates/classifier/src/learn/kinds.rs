//! The kinds of documents, learnt from features alone: there are too few documents of most kinds to learn words from.

use super::super::Kind;
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
    logistic::run_multinomial(&rows, scaling.len(), kinds, 1.0 / STRENGTH)
}

fn place(kind: Kind) -> usize {
    let found = Kind::ALL.iter().position(|known| *known == kind);
    found.unwrap_or(Kind::ALL.len() - 1)
}

/// How freely weights may grow; found by cross-validation.
const STRENGTH: f64 = 0.003;
/// How much more documents of rare kinds count.
const RARITY: f64 = 0.7;
