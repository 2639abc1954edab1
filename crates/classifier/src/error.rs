//! Errors of models and training data.

use std::io;

/// An error of the classifier. Texts are never the reason for one.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file is no model, or one of another format.
    #[error("it is not a model of this classifier: {0}; make one with `garner classifier train`")]
    NoModel(String),
    /// The model is one of another version of this program.
    #[error(
        "the model is of another version, `{0}`, whose kinds and features are not those of this one; train it again with `garner classifier train`"
    )]
    OtherVersion(String),
    /// The model was trained with other features than this program measures.
    #[error(
        "the model wants the feature `{0}`, which this version does not measure; train it again"
    )]
    OtherFeatures(String),
    /// A line of training data cannot be used.
    #[error("line {line} is not a labelled document: {reason}")]
    Line {
        /// Which line.
        line: usize,
        /// Why not.
        reason: String,
    },
    /// A line of added words cannot be used.
    #[error("line {line} has no words of a vocabulary: {reason}")]
    Vocabulary {
        /// Which line.
        line: usize,
        /// Why not.
        reason: String,
    },
    /// There is not enough to learn from.
    #[error("{0}")]
    TooLittle(String),
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}
