//! Charts: bars as SVG made here, with the same numbers as a table for those who cannot see them.

use askama::Template;
use askama::filters::HtmlSafe;

use crate::filters::{Plain, grouped, sized};

/// A chart of bars in a row, such as records per day. `{{ chart }}` shows it.
#[derive(Debug, Clone, Template)]
#[template(path = "chart.html")]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) bars: Vec<Bar>,
    /// Whether values are bytes.
    pub(crate) is_size: bool,
}

/// A bar of a chart.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    /// What it stands for, such as a day.
    pub(crate) label: String,
    pub(crate) value: u64,
    /// Whether something went wrong there: it is marked by shape and word.
    pub(crate) failed: u64,
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

    fn highest(&self) -> u64 {
        self.bars.iter().map(|bar| bar.value).max().unwrap_or(0)
    }

    fn total(&self) -> u64 {
        self.bars.iter().map(|bar| bar.value).sum()
    }

    /// Places of the bars, in hundredths of the space of one.
    fn width(&self) -> usize {
        self.bars.len() * STEP
    }

    fn placed(&self) -> Vec<Placed<'_>> {
        let highest = self.highest().max(1) as f64;
        let placed = self.bars.iter().enumerate().map(|(position, bar)| {
            let share = bar.value as f64 / highest * HEIGHT as f64;
            // What is there is seen, however little it is.
            let height = if bar.value > 0 { share.max(1.0) } else { 0.0 };
            Placed {
                x: position * STEP,
                y: HEIGHT as f64 - height,
                height,
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
    bar: &'a Bar,
}

const STEP: usize = 10;
const HEIGHT: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_have_their_numbers_as_text_and_escape_labels() {
        let bar = |label: &str, value, failed| Bar {
            label: label.to_owned(),
            value,
            failed,
        };
        let chart = Chart {
            title: "Records".to_owned(),
            bars: vec![bar("<Mon>", 1500, 0), bar("Tue", 0, 2)],
            is_size: false,
        };

        let shown = chart.to_string();
        assert!(shown.contains("1\u{202f}500"), "{shown}");
        assert!(shown.contains("&#60;Mon&#62;"), "{shown}");
        assert!(!shown.contains("style="), "{shown}");
        assert!(shown.contains(r#"height="80.0""#), "{shown}");
    }
}
