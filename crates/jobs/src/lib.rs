#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod access;
mod base_directory;
mod document_files;
mod explain;
mod failure;
mod frequency;
pub mod friends;
mod harvest;
mod holdings;
pub mod hook;
mod identity;
mod import;
mod index;
mod introduction;
mod manager;
mod message;
mod model;
mod parameters;
mod pulse;
mod removal;
pub mod rules;
pub mod text;
mod workers;

pub use access::{Access, forget_access};
pub use document_files::{DocumentFiles, DocumentPart};
pub use explain::{Explanation, explain};
pub use failure::{Failure, failure_code};
pub use frequency::Frequency;
pub use harvest::{
    Deleted, HarvestRepository, HarvestVerification, Progress, Rejected, count_rejected, harvest,
    is_away, verify_harvested, write_urls,
};
pub use holdings::{Holdings, document_file};
pub use import::{
    Classified, ClassifyCollection, DigestRule, Fate, FateKind, FetchProgress, FetchedSource,
    Finding, ImportCrawl, ImportNews, ImportProgress, Imported, Listing, TextOrder, Unsure,
    Verification, VerifyOptions, address, classify_collection, containers, documents_directory,
    fetch_sources, forget_report, import, import_report, import_separately, try_import,
    update_metadata, verify,
};
pub use index::index;
pub use introduction::{SelfDescription, introduce, introduce_briefly};
pub use manager::{ATTEMPTS, Manager, ManagerOptions, Retention};
pub use message::message;
pub use model::load_model;
pub use parameters::HarvestParameters;
pub use removal::{Removed, check_files, remove_repository};
pub use workers::{Backoff, Bell, WorkerOptions, Workers};
