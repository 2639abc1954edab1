//! Addresses of documents: one spelling for each, and those that are not wanted.

mod normal;
mod rules;
mod surt;

pub use normal::{Error, Normal, normalise};
pub use rules::{Refusal, Rules, RulesError, blacklist_entry, entries};
pub use surt::surt;
