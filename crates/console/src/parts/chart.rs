//! Charts: bars with axes as SVG made here, with the same numbers as a table for those who cannot see them.

use askama::Template;
use askama::filters::HtmlSafe;

use super::Link;
use crate::filters::{Plain, grouped, sized};

/// A chart of bars in a row, such as records per day. `{{ chart }}` shows it.
#[derive(Debug, Clone, Template)]
#[template(path = "chart.html")]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) bars: Vec<Bar>,
    /// Whether values are bytes.
    pub(crate) is_size: bool,
    /// How many bars have a label below them.
    pub(crate) parts: usize,
}

/// A bar of a chart.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    /// The label of the bar, such as a day.
    pub(crate) label: String,
    /// The same for the axis.
    pub(crate) short: String,
    pub(crate) value: u64,
    /// How many of its runs failed: they are marked by shape and word.
    pub(crate) failed: u64,
    /// Whether those that failed are a part of the value.
    pub(crate) is_stacked: bool,
    /// Where its runs are listed.
    pub(crate) link: Link,
}

impl HtmlSafe for Chart {}

impl Chart {
    fn shown(&self, value: impl Plain<u64>) -> String {
        let value = value.plain();
        match self.is_size {
            true => sized(value),
            false => grouped(&value.to_string()),
        }
    }

    fn has_failed(&self) -> bool {
        self.bars.iter().any(|bar| bar.failed > 0)
    }

    fn highest(&self) -> u64 {
        self.bars.iter().map(|bar| bar.value).max().unwrap_or(0)
    }

    fn total(&self) -> u64 {
        self.bars.iter().map(|bar| bar.value).sum()
    }

    /// The end of the scale: a round number with a round half.
    fn top(&self) -> u64 {
        let highest = self.highest();
        let mut unit: u64 = 1;
        loop {
            for factor in [2, 4, 10] {
                let top = unit.saturating_mul(factor);
                if top >= highest || top == u64::MAX {
                    return top;
                }
            }
            unit = unit.saturating_mul(10);
        }
    }

    /// The labels of the scale, from its top.
    fn scale(&self) -> [String; 3] {
        let top = self.top();
        [top, top / 2, 0].map(|value| match (self.is_size, value) {
            (true, 0) => "0".to_owned(),
            _ => self.shown(value),
        })
    }

    /// The labels of the axis, at equal distances.
    fn axis(&self) -> impl Iterator<Item = &str> {
        let step = (self.bars.len() / self.parts.max(1)).max(1);
        let labelled = self.bars.iter().step_by(step).take(self.parts);
        labelled.map(|bar| bar.short.as_str())
    }

    /// The width of the picture, of which each bar has so much.
    fn width(&self) -> usize {
        (self.bars.len() * STEP).max(STEP)
    }

    fn placed(&self) -> Vec<Placed<'_>> {
        let top = self.top() as f64;
        let height = |value: u64| match value {
            0 => 0.0,
            // A bar is visible however small its value is.
            value => (value as f64 / top * HEIGHT).max(1.0),
        };
        let placed = self.bars.iter().enumerate().map(|(position, bar)| {
            let failed = match bar.is_stacked {
                true => height(bar.failed.min(bar.value)),
                false => 0.0,
            };
            let whole = height(bar.value).max(failed);
            Placed {
                x: position * STEP,
                y: HEIGHT - whole,
                height: whole - failed,
                failed,
                bar,
            }
        });
        placed.collect()
    }
}

struct Placed<'a> {
    x: usize,
    y: f64,
    height: f64,
    failed: f64,
    bar: &'a Bar,
}

const STEP: usize = 10;
const HEIGHT: f64 = 80.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(bars: &[(&str, u64, u64)], is_stacked: bool) -> Chart {
        let bar = |(label, value, failed): &(&str, u64, u64)| Bar {
            label: (*label).to_owned(),
            short: (*label).to_owned(),
            value: *value,
            failed: *failed,
            is_stacked,
            link: Link::to("/history").with("since", "2026-11-18"),
        };
        Chart {
            title: "Records".to_owned(),
            bars: bars.iter().map(bar).collect(),
            is_size: false,
            parts: 2,
        }
    }

    #[test]
    fn charts_have_axes_and_their_numbers_as_text_and_escape_labels() {
        let shown = chart(&[("<Mon>", 1500, 0), ("Tue", 0, 2)], false).to_string();

        assert!(shown.contains("1\u{202f}500"), "{shown}");
        assert!(shown.contains("&#60;Mon&#62;"), "{shown}");
        assert!(!shown.contains("style="), "{shown}");
        assert!(shown.contains("<li>2\u{202f}000</li>"), "{shown}");
        assert!(shown.contains(r#"height="60.0""#), "{shown}");
        assert!(
            shown.contains(r#"href="/history?since=2026-11-18""#),
            "{shown}"
        );
    }

    #[test]
    fn the_scale_ends_with_a_round_number() {
        for (highest, top) in [
            (0, 2),
            (2, 2),
            (3, 4),
            (5, 10),
            (11, 20),
            (1500, 2000),
            (40_001, 100_000),
        ] {
            assert_eq!(chart(&[("Mon", highest, 0)], false).top(), top, "{highest}");
        }
        assert!(chart(&[("Mon", u64::MAX, 0)], false).top() >= 1 << 62);
    }

    #[test]
    fn failures_are_a_part_of_the_bar_where_runs_are_counted() {
        let chart = chart(&[("Mon", 10, 4)], true);
        let placed = &chart.placed()[0];
        assert_eq!((placed.y, placed.height, placed.failed), (0.0, 48.0, 32.0));
    }
}
