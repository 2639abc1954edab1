//! The header of a record: what every list carries about an item.

use crate::{Datestamp, SetSpec};

/// Identifier, datestamp, sets and status of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordHeader {
    /// A URI that names the item for ever.
    pub identifier: String,
    /// When the record last changed, or was found deleted.
    pub datestamp: Datestamp,
    /// The sets the item is in; membership of the sets above is implied.
    pub set_specs: Vec<SetSpec>,
    /// Whether the record is deleted: it then has neither metadata nor about.
    pub deleted: bool,
}
