//! The content filter: whether a document of an accepted type is one of those that are collected.
//!
//! Here is the seam, with the one filter that takes everything. A filter sees each document once, on the thread that
//! read it, after its media type was accepted and before anything of it is kept.

use document::media_type::MediaType;

use super::spool::Held;

/// What a content filter says of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(dead_code, reason = "the filter that takes everything never refuses")]
pub(super) enum Verdict {
    /// It is collected.
    Accepted,
    /// It is not what is collected; the rule that says so.
    Refused(String),
    /// It has no text that could be judged, and why.
    NoText(String),
}

/// Decides on documents by what they say. Runs on several threads at once.
pub(super) trait ContentFilter: Sync {
    /// Judges one document.
    fn judge(&self, url: &str, media_type: &MediaType, bytes: &Held) -> Verdict;
}

/// Takes everything.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Off;

impl ContentFilter for Off {
    fn judge(&self, _: &str, _: &MediaType, _: &Held) -> Verdict {
        Verdict::Accepted
    }
}
