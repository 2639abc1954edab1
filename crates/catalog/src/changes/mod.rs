//! Changes, in the order in which they became visible.
//!
//! A transaction that adds, changes or removes records or documents stamps them with its *group*; `Transaction::commit`
//! numbers the group as its last deed, while it holds the only row of `change_state`. So whoever sees a group sees all
//! groups with lower numbers, on both databases: on PostgreSQL the next transaction gets that row, and its own number, only
//! when the one before is visible. The rows themselves are written once: a group's number is known at the beginning, its
//! place in the order at the end.
//!
//! The *horizon* is the time of the last change, or of the last answer that named a time. Changes are never stamped before
//! it, so the seconds before it are complete. An answer that names one of these as its time tells all that changed up to
//! it: what becomes visible later, also a second change of the same row, is stamped later.

mod feed;
mod group;
mod horizon;
mod list;
mod position;
mod prune;
mod stamp;
mod tombstones;

pub use self::feed::DocumentChange;
pub(crate) use self::group::{Kind, OpenGroup, close, open};
pub use self::list::{
    ChangePage, ChangeQuery, Changed, Facet, GoneDocument, GoneRecord, ListPosition, Subject,
};
pub use self::position::ChangePosition;
pub(crate) use self::stamp::{
    open_documents, stamp_contents, stamp_documents, stamp_removed_documents,
    stamp_restored_documents,
};
pub(crate) use self::tombstones::{bury_records, revive_records};

/// The group of rows that are not listed: a tombstone of something that is there again, a document that lies in the trash.
pub(crate) const UNLISTED: i64 = -1;

/// Documents are of no repository and no format.
const OF_DOCUMENTS: (i64, &str) = (0, "");
