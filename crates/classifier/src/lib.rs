#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod answer;
mod cdi;
mod classifier;
mod error;
mod evaluate;
mod example;
mod examples;
mod explain;
mod features;
mod hash;
mod kind;
mod learn;
mod model;
mod reading;
mod vocabulary;
mod words;

pub use answer::{Answer, Decision, Policy};
pub use classifier::{CDI_2012, Classifier, cross_validate, hold_out};
pub use error::Error;
pub use evaluate::{
    AtBaseRate, AtThreshold, BORDER, Bin, Borderline, Confusion, Decisions, Evaluation, Figures,
    Judged, Sure, evaluate,
};
pub use example::{Corrected, Example, Label};
pub use examples::read_examples;
pub use explain::Reason;
pub use kind::{Kind, UnknownKind};
pub use learn::{Sample, Training};
pub use model::Trained;
pub use vocabulary::Vocabulary;
