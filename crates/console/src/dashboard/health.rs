//! Repository health: a bar of parts, each of which leads to its repositories.

use operations::statistics::HealthCounts;

/// A bar of parts.
#[derive(Debug)]
pub(super) struct HealthBar {
    parts: Vec<HealthPart>,
}

/// The repositories with the same state.
#[derive(Debug)]
pub(super) struct HealthPart {
    /// As the list of repositories and the style sheet call it.
    pub(super) name: &'static str,
    pub(super) number: u64,
    /// Where it begins in the bar, and how long it is, in thousandths.
    pub(super) x: u64,
    pub(super) width: u64,
}

impl HealthBar {
    pub(super) fn new(counts: &HealthCounts) -> Self {
        let numbers = [
            ("ok", counts.ok),
            ("running", counts.running),
            ("incomplete", counts.incomplete),
            ("failing", counts.failing),
            ("never", counts.never),
        ];
        let all: u64 = numbers.iter().map(|(_, number)| number).sum();
        let mut before = 0;
        let parts = numbers.into_iter().filter(|(_, number)| *number > 0);
        let parts = parts.map(|(name, number)| {
            let x = before * WIDTH / all;
            before += number;
            HealthPart {
                name,
                number,
                x,
                width: before * WIDTH / all - x,
            }
        });
        Self {
            parts: parts.collect(),
        }
    }

    pub(super) fn parts(&self) -> &[HealthPart] {
        &self.parts
    }
}

const WIDTH: u64 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_fill_the_bar() {
        let bar = HealthBar::new(&HealthCounts {
            failing: 1,
            ok: 2,
            ..HealthCounts::default()
        });
        let places: Vec<_> = bar
            .parts()
            .iter()
            .map(|part| (part.x, part.width))
            .collect();
        assert_eq!(places, [(0, 666), (666, 334)]);
        assert!(HealthBar::new(&HealthCounts::default()).parts().is_empty());
    }
}
