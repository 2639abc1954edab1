//! Probabilities from scores: Platt's logistic curve, fitted to documents that the scores were not learnt from.

use super::super::model::{Calibration, logistic};

/// Fits the curve by Newton's method. Where there is nothing to fit, scores stand as they are.
pub(super) fn platt(scored: &[(f64, bool)]) -> Calibration {
    let academic = scored.iter().filter(|(_, academic)| *academic).count() as f64;
    let other = scored.len() as f64 - academic;
    if academic < 5.0 || other < 5.0 {
        return Calibration::NONE;
    }
    // Platt's targets: never quite 0 and 1, since the next document may be another.
    let (high, low) = ((academic + 1.0) / (academic + 2.0), 1.0 / (other + 2.0));
    let (mut slope, mut offset) = (1.0_f64, 0.0_f64);
    for _ in 0..100 {
        let (mut g0, mut g1, mut h00, mut h01, mut h11) = (0.0, 0.0, 1e-9, 0.0, 1e-9);
        for (score, academic) in scored {
            let p = logistic(slope * score + offset);
            let weight = if *academic { ACADEMIC_WEIGHT } else { 1.0 };
            let difference = weight * (p - if *academic { high } else { low });
            let h = weight * (p * (1.0 - p)).max(1e-12);
            g0 += difference * score;
            g1 += difference;
            h00 += h * score * score;
            h01 += h * score;
            h11 += h;
        }
        let determinant = h00 * h11 - h01 * h01;
        let (d0, d1) = (
            (h11 * g0 - h01 * g1) / determinant,
            (h00 * g1 - h01 * g0) / determinant,
        );
        slope -= d0.clamp(-0.5, 0.5);
        offset -= d1.clamp(-0.5, 0.5);
        if d0.abs() + d1.abs() < 1e-10 {
            break;
        }
    }
    let fine = slope.is_finite() && offset.is_finite() && slope > 0.0;
    match fine {
        true => Calibration {
            slope: slope as f32,
            offset: offset as f32,
        },
        false => Calibration::NONE,
    }
}

/// To miss a paper is worse than to keep something else, which a later look can still sort out.
const ACADEMIC_WEIGHT: f64 = 1.6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_that_say_too_much_are_tempered() {
        // Nine in ten are right on either side, whatever the score of ±5 claims.
        let scored: Vec<(f64, bool)> = (0..1000)
            .map(|number| {
                let score = if number % 2 == 0 { 5.0 } else { -5.0 };
                (score, (score > 0.0) == (number % 20 >= 2))
            })
            .collect();

        let calibration = platt(&scored);

        // Nine to one, academic documents counting more.
        let share = |academic: f64| {
            academic * ACADEMIC_WEIGHT / (academic * ACADEMIC_WEIGHT + 1.0 - academic)
        };
        let (high, low) = (calibration.probability(5.0), calibration.probability(-5.0));
        assert!((high - share(0.9)).abs() < 0.01, "{high}");
        assert!((low - share(0.1)).abs() < 0.01, "{low}");
    }

    #[test]
    fn nothing_to_learn_from_changes_nothing() {
        assert_eq!(platt(&[(1.0, true)]), Calibration::NONE);
    }
}
