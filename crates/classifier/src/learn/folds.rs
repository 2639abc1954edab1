//! Divides documents into parts of about the same size so that each source is whole in one part.

use std::collections::BTreeMap;

use super::super::hash;
use super::Sample;

/// The part of each document.
pub(super) fn divide(samples: &[Sample], parts: usize, seed: u64) -> Vec<usize> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for sample in samples {
        *sizes.entry(&sample.source).or_default() += 1;
    }
    let mut sources: Vec<(&str, usize)> = sizes.into_iter().collect();
    // Large sources first, so that the small ones even the parts out; among those of about one size, by chance.
    let chance = |source: &str| hash::then(seed, hash::of_word(source));
    sources.sort_by_key(|(source, size)| (std::cmp::Reverse(size.ilog2()), chance(source)));
    let mut filled = vec![0_usize; parts.max(1)];
    let mut part_of: BTreeMap<&str, usize> = BTreeMap::new();
    for (source, size) in sources {
        let emptiest = (0..filled.len())
            .min_by_key(|part| filled[*part])
            .unwrap_or_default();
        filled[emptiest] += size;
        part_of.insert(source, emptiest);
    }
    samples
        .iter()
        .map(|sample| part_of[sample.source.as_str()])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Example;

    #[test]
    fn no_source_stands_on_both_sides_and_parts_are_about_even() {
        let samples: Vec<Sample> = (0..300)
            .map(|number| {
                let source = format!("source {}", (number * number) % 41);
                Sample::new(&Example {
                    source,
                    ..Example::default()
                })
            })
            .collect();

        let parts = divide(&samples, 5, 1);
        let other = divide(&samples, 5, 2);

        let mut part_of = BTreeMap::new();
        for (sample, part) in samples.iter().zip(&parts) {
            assert_eq!(part_of.entry(&sample.source).or_insert(part), &part);
        }
        let sizes = (0..5).map(|part| parts.iter().filter(|of| **of == part).count());
        assert!(
            sizes.clone().all(|size| (40..=80).contains(&size)),
            "{:?}",
            sizes.collect::<Vec<_>>()
        );
        assert_ne!(parts, other);
    }
}
