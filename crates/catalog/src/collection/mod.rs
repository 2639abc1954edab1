//! The collection as others see it: documents, their parents and their contents.

mod contents;
mod documents;
mod facets;
mod figures;
pub(crate) mod judgements;
mod lists;
mod numbers;
mod outdated;
mod parents;
mod place;
mod removal;
pub(crate) mod reviews;
mod search;
mod selection;
mod states;
pub(crate) mod texts;
mod trash;

pub use self::contents::{ContentEntry, VersionEntry};
pub use self::documents::{DocumentEntry, DocumentOrder, DocumentQuery};
pub(crate) use self::documents::{document, document_columns};
pub use self::facets::Facets;
pub use self::figures::{DocumentFigures, Figure};
pub use self::lists::{ListContent, ListKind, UrlList};
pub use self::outdated::OutdatedMet;
pub(crate) use self::outdated::outdate;
pub use self::parents::{
    CheckedLink, LinkCheck, LinkOutcome, LinkQuery, ParentEntry, ParentOrder, ParentQuery,
};
pub use self::removal::{FailedDocument, Removal, RemovedDocument};
pub(crate) use self::removal::{keep_trashed, remove_taken_down};
pub use self::reviews::{NewReview, ReviewEntry, ReviewQuery};
pub use self::search::{
    FoundDocument, Passage, QueryError, SearchOrder, SearchQuery, Searched, Segment,
};
pub use self::selection::Selection;
pub use self::states::DocumentState;
pub use self::texts::{IndexedText, NearDocument, UnreadText};
pub use self::trash::{RestoreOutcome, TrashEntry, TrashQuery, TrashedContent, TrashedState};
