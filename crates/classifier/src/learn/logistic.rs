//! Logistic regression with an L2 penalty: of two classes over features and words, and of many over features.

use super::super::model::logistic;
use super::lbfgs;

/// A document as numbers.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) dense: Vec<f64>,
    /// Places of words in the weights; all have one value.
    pub(super) sparse: Vec<u32>,
    pub(super) sparse_value: f64,
    pub(super) class: usize,
    pub(super) weight: f64,
}

impl Row {
    /// The score without a bias.
    pub(super) fn score(&self, weights: &[f64], dense: usize) -> f64 {
        let features: f64 = self
            .dense
            .iter()
            .zip(&weights[..dense])
            .map(|(x, w)| x * w)
            .sum();
        let words: f64 = self
            .sparse
            .iter()
            .map(|place| weights[*place as usize])
            .sum();
        features + words * self.sparse_value
    }
}

/// Two classes.
#[derive(Debug)]
pub(super) struct Fit<'a> {
    pub(super) rows: &'a [Row],
    pub(super) width: usize,
    pub(super) dense: usize,
    pub(super) penalty: f64,
}

impl Fit<'_> {
    /// The weights, and last the bias. It bears a penalty as well: how many of the documents are academic says how they
    /// were gathered, not how many will be met.
    pub(super) fn run(&self) -> Vec<f64> {
        let function = |x: &[f64], gradient: &mut [f64]| self.loss(x, gradient);
        lbfgs::minimise(vec![0.0; self.width + 1], function, MOST_STEPS)
    }

    fn loss(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let mut loss = 0.0;
        for (gradient, x) in gradient.iter_mut().zip(x) {
            *gradient = self.penalty * x;
            loss += 0.5 * self.penalty * x * x;
        }
        for row in self.rows {
            let score = row.score(x, self.dense) + x[self.width];
            let is_one = row.class == 1;
            let signed = if is_one { score } else { -score };
            loss += row.weight * softplus(-signed);
            let slope = row.weight * (logistic(score) - f64::from(u8::from(is_one)));
            for (gradient, x) in gradient.iter_mut().zip(&row.dense) {
                *gradient += slope * x;
            }
            for place in &row.sparse {
                gradient[*place as usize] += slope * row.sparse_value;
            }
            gradient[self.width] += slope;
        }
        loss
    }
}

/// Many classes over dense features: the weights of each class, then the biases. `prior` has the weights from which those that
/// are learnt depart, at a penalty.
pub(super) fn run_multinomial(
    rows: &[Row],
    prior: &[f64],
    classes: usize,
    penalty: f64,
) -> Vec<f64> {
    let (weights, width) = (prior.len(), prior.len() / classes);
    let mut scores = vec![0.0; classes];
    let loss = |x: &[f64], gradient: &mut [f64]| {
        let mut loss = 0.0;
        gradient[weights..].fill(0.0);
        for ((gradient, x), prior) in gradient.iter_mut().zip(x).zip(prior) {
            *gradient = penalty * (x - prior);
            loss += 0.5 * penalty * (x - prior).powi(2);
        }
        for row in rows {
            for (class, score) in scores.iter_mut().enumerate() {
                let own = &x[class * width..(class + 1) * width];
                *score =
                    x[weights + class] + row.dense.iter().zip(own).map(|(x, w)| x * w).sum::<f64>();
            }
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = scores.iter().map(|score| (score - most).exp()).sum();
            loss += row.weight * (sum.ln() + most - scores[row.class]);
            for (class, score) in scores.iter().enumerate() {
                let slope = row.weight
                    * ((score - most).exp() / sum - f64::from(u8::from(class == row.class)));
                let own = &mut gradient[class * width..(class + 1) * width];
                own.iter_mut()
                    .zip(&row.dense)
                    .for_each(|(gradient, x)| *gradient += slope * x);
                gradient[weights + class] += slope;
            }
        }
        loss
    };
    let mut start = prior.to_vec();
    start.resize(weights + classes, 0.0);
    lbfgs::minimise(start, loss, MOST_STEPS)
}

fn softplus(x: f64) -> f64 {
    if x > 30.0 { x } else { x.exp().ln_1p() }
}

const MOST_STEPS: usize = 200;
