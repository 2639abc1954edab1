//! The page between a wish to remove something and its removal: it says what would be lost.

use askama::Template;

use crate::who::Who;

/// The page between a wish to remove something and its removal.
#[derive(Debug, Template)]
#[template(path = "confirm.html")]
pub(crate) struct Confirm {
    pub(crate) who: Who,
    /// The question, such as `Remove the account ann?`
    pub(crate) question: String,
    /// The losses, a line each.
    pub(crate) losses: Vec<String>,
    /// The label of the button, such as `Remove the account`.
    pub(crate) verb: String,
    /// Where the form is sent.
    pub(crate) action: String,
    /// Where to go if not.
    pub(crate) back: String,
}
