//! A labelled document, measured.

use super::super::features::{self, Measured};
use super::super::reading::Reading;
use super::super::{Example, Kind, words};

/// A labelled document without its text: what is learnt from.
#[derive(Debug, Clone)]
pub struct Sample {
    pub(crate) measured: Measured,
    pub(crate) buckets: Vec<u32>,
    pub(crate) academic: bool,
    pub(crate) borderline: bool,
    pub(crate) kind: Kind,
    pub(crate) source: String,
}

impl Sample {
    /// Measures a labelled document; its text is not needed any more then.
    pub fn new(example: &Example) -> Self {
        let reading = Reading::new(&example.text, example.pages);
        Self {
            measured: features::measure(&reading),
            buckets: words::buckets(&reading),
            academic: example.is_academic(),
            borderline: example.borderline,
            kind: example.kind(),
            source: example.source.clone(),
        }
    }
}
