//! The answer of a classifier, and its consequence.

use serde::{Deserialize, Serialize};

use super::Kind;

/// The answer of a classifier about a document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// How likely the document is academic.
    pub probability: f64,
    /// The kind that it most likely is.
    pub kind: Kind,
    /// How likely it is of each kind, in the order of [`Kind::ALL`]. Papers and theses together are as likely as
    /// `probability` says.
    pub kinds: [f64; Kind::ALL.len()],
}

impl Answer {
    /// Joins how likely the document is academic with how likely each kind would be by itself.
    pub(crate) fn new(probability: f64, mut kinds: [f64; Kind::ALL.len()]) -> Self {
        let is_academic = Kind::ALL.map(Kind::is_academic);
        for (academic, whole) in [(true, probability), (false, 1.0 - probability)] {
            let part = kinds.iter_mut().zip(is_academic);
            let mut part: Vec<&mut f64> = part
                .filter(|(_, of)| *of == academic)
                .map(|(kind, _)| kind)
                .collect();
            let sum = part
                .iter()
                .map(|kind| **kind)
                .sum::<f64>()
                .max(f64::MIN_POSITIVE);
            part.iter_mut().for_each(|kind| **kind *= whole / sum);
        }
        let of_same = Kind::ALL.into_iter().zip(kinds);
        let of_same = of_same.filter(|(kind, _)| kind.is_academic() == (probability >= 0.5));
        let best = of_same.max_by(|a, b| a.1.total_cmp(&b.1));
        let kind = best.map_or(Kind::Other, |(kind, _)| kind);
        Self {
            probability,
            kind,
            kinds,
        }
    }

    /// One of which nothing is known but how likely it is academic: a paper then, and of this kind otherwise.
    pub(crate) fn of_kind(probability: f64, other: Kind) -> Self {
        let is = |kind: Kind| f64::from(u8::from(kind == Kind::Paper || kind == other));
        Self::new(probability, Kind::ALL.map(is))
    }
}

/// The decision about a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It is wanted.
    Accept,
    /// It is near the border; whether such documents are imported is the user's choice.
    Unsure,
    /// It is not wanted.
    Reject,
}

impl Decision {
    /// Its name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Unsure => "unsure",
            Self::Reject => "reject",
        }
    }
}

/// Which documents are wanted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// From this probability on a document is accepted.
    pub accept: f64,
    /// Below this probability a document is rejected.
    pub reject: f64,
    /// The kinds that are wanted.
    pub kinds: Vec<Kind>,
    /// Which share of the documents that are met is academic. Without it probabilities stand as models give them: as
    /// many papers as other documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_rate: Option<f64>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            accept: 0.6,
            reject: 0.4,
            kinds: Kind::ACADEMIC.to_vec(),
            base_rate: None,
        }
    }
}

impl Policy {
    /// Whether a kind is wanted. A short paper is a paper.
    pub fn wants(&self, kind: Kind) -> bool {
        let is_paper = kind == Kind::ShortPaper && self.kinds.contains(&Kind::Paper);
        is_paper || self.kinds.contains(&kind)
    }

    /// Decides by how likely the document is of a wanted kind.
    pub fn decide(&self, answer: &Answer) -> Decision {
        let wanted = Kind::ALL.into_iter().zip(answer.kinds);
        let wanted = wanted.filter(|(kind, _)| self.wants(*kind));
        let probability: f64 = wanted.map(|(_, probability)| probability).sum();
        let probability = self.at_base_rate(probability);
        // Sums of parts may fall short of the whole by a rounding error.
        match probability + 1e-9 {
            p if p >= self.accept => Decision::Accept,
            p if p < self.reject => Decision::Reject,
            _ => Decision::Unsure,
        }
    }

    /// A probability as it is where papers are as rare as the user says.
    pub fn at_base_rate(&self, probability: f64) -> f64 {
        let Some(rate) = self.base_rate else {
            return probability;
        };
        let (academic, other) = (probability * rate, (1.0 - probability) * (1.0 - rate));
        academic / (academic + other).max(f64::MIN_POSITIVE)
    }

    /// Says what is wrong with the thresholds, if anything is.
    pub fn check(&self) -> Result<(), String> {
        if let Some(rate) = self.base_rate.filter(|rate| !(*rate > 0.0 && *rate < 1.0)) {
            return Err(format!(
                "the base rate is the share of academic documents, above 0 and below 1, such as 0.06; got {rate}"
            ));
        }
        let fine = (0.0..=1.0).contains(&self.reject) && (self.reject..=1.0).contains(&self.accept);
        match fine {
            true => Ok(()),
            false => Err(format!(
                "thresholds are from 0 to 1, and that of rejection is not above that of acceptance; got {} and {}",
                self.reject, self.accept
            )),
        }
    }
}
