//! ResourceSync 1.1 and sitemaps: the lists by which crawlers that do not speak OAI-PMH learn which resources there are
//! and which have changed. They are written from the same [`View`](crate::View) as the answers to the verbs.

mod cut;
mod document;
mod entry;
mod lists;
mod record_url;
#[cfg(test)]
mod tests;

pub use cut::{Filling, Most};
pub use document::{Part, SyncDocument, SyncKind};
pub use record_url::record_url;
