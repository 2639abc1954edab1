//! The collection as others see it: documents, their parents and their contents.

mod contents;
mod documents;
pub(crate) mod judgements;
mod numbers;
mod outdated;
mod parents;
mod place;
mod selection;
mod states;

pub use self::contents::{ContentEntry, VersionEntry};
pub use self::documents::{DocumentEntry, DocumentQuery};
pub(crate) use self::documents::{document, document_columns};
pub use self::outdated::OutdatedMet;
pub(crate) use self::outdated::outdate;
pub use self::parents::{ParentEntry, ParentQuery};
pub use self::selection::Selection;
pub use self::states::DocumentState;
