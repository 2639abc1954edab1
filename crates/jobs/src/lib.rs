#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod base_directory;
mod frequency;
pub mod friends;
mod harvest;
mod holdings;
pub mod hook;
mod import;
mod index;
mod introduction;
mod manager;
mod message;
mod parameters;
mod pulse;
mod removal;
pub mod rules;
pub mod text;
mod workers;

pub use frequency::Frequency;
pub use harvest::{Deleted, HarvestRepository, Progress, harvest, write_urls};
pub use holdings::{Holdings, document_file};
pub use import::{
    Fate, FateKind, Finding, ImportCrawl, ImportNews, ImportProgress, Imported, Verification,
    VerifyOptions, documents_directory, import, import_separately, try_import, verify,
};
pub use index::index;
pub use introduction::{SelfDescription, introduce, introduce_briefly};
pub use manager::{ATTEMPTS, Manager, ManagerOptions, Retention};
pub use message::message;
pub use parameters::HarvestParameters;
pub use removal::{Removed, check_files, remove_repository};
pub use workers::{Backoff, Bell, WorkerOptions, Workers};
