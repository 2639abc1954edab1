#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(fuzzing)]
use bolero as _;

mod collection;
mod directory;
mod error;
#[cfg(test)]
mod fuzz;
mod mirror;
mod new_file;
mod objects;
mod packs;
mod place;
mod reader;
mod record_files;
mod removal;
mod temporary;
mod url_list;

pub use collection::{Collection, CollectionFile, CollectionFiles, FileKind};
pub use directory::Durability;
pub use error::Error;
pub use mirror::Mirror;
pub use new_file::NewFile;
pub use objects::Objects;
pub use packs::{Blocks, PackEntry, PackWriter, Packs, Unwritten};
pub use reader::Reader;
pub use record_files::{Layout, RecordFiles};
pub use url_list::UrlList;
