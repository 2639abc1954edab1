//! Lists of a site's resources in other ways than OAI-PMH: sitemaps (sitemaps.org) and ResourceSync 1.1 (ANSI/NISO
//! Z39.99), with the records that are made of their entries.
//!
//! [`List`] reads one document. [`Lists`] gets documents from a site and walks through indexes. [`ResourceSync`] finds the
//! way from a description to what has changed. [`Fetch`] gets one resource, and makes a record of it in `oai_didl`.

mod document;
mod fetch;
mod page;
mod resource_sync;
mod walk;

pub use self::document::{Entry, List, Metadata};
pub use self::fetch::{Admission, Fetch, Fetched, StoredState};
pub use self::page::{PageLinks, page_links};
pub use self::resource_sync::{Changes, ResourceSync};
pub use self::walk::{Fault, Lists, Walk};

use crate::Error;

/// Why a list cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// It is something else.
    #[error("it is no sitemap and no list of ResourceSync; it begins with {0}")]
    NotAList(String),
    /// It is damaged.
    #[error("it cannot be read: {0}")]
    Broken(String),
    /// It is longer than what is read, or grows longer when it is uncompressed.
    #[error("it is longer than {} MiB uncompressed; a list may have 50 MB", .0 >> 20)]
    TooLong(u64),
    /// It has more entries than are read.
    #[error("it has more than {0} entries; a list may have 50,000")]
    TooManyEntries(usize),
    /// There is none.
    #[error("the server answers {0}")]
    Missing(u16),
    /// It could not be asked for.
    #[error("{0}")]
    Unreached(Error),
}
