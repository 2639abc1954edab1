//! The site's part of the configuration: one struct per concern, each with its defaults.

mod by_value;
mod byte_size;
mod fixity;
mod index;
mod media_types;
mod offer;
mod own_sets;
mod rights;

pub use self::by_value::ByValueConfig;
pub use self::byte_size::ByteSize;
pub use self::fixity::FixityConfig;
pub use self::index::IndexConfig;
pub use self::media_types::MediaTypesConfig;
pub use self::offer::{DynamicPolicy, OfferConfig, SourceConfig, Symlinks};
pub use self::own_sets::OwnSetConfig;
pub(crate) use self::own_sets::OwnSets;
pub use self::rights::RightsConfig;
