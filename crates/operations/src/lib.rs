#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod accounts;
mod actor;
pub mod audit;
mod context;
mod csv;
pub mod documents;
mod file_path;
mod frequency;
pub mod harvests;
mod import_rules;
pub mod imports;
pub mod jobs;
mod listed;
mod mirrored;
mod parameters;
pub mod password;
pub mod records;
mod refusal;
pub mod repositories;
pub mod rules;
pub mod schedules;
mod schema;
pub mod secret;
pub mod sessions;
mod settings;
mod sorting;
pub mod statistics;
mod time;
pub mod tokens;
mod turn;
pub mod verify;

pub use actor::{Actor, Channel};
pub use context::Context;
pub use csv::csv_cell;
pub use file_path::FilePath;
pub use flows::Mistake;
pub use frequency::Frequency;
pub use import_rules::ImportRules;
pub use listed::{DEFAULT_LIMIT, Listed, MAX_LIMIT, page_limit};
pub use parameters::{
    Certificates, FieldValue, HarvestPatch, ImportPatch, Parameter, Secret, Setting, Versions,
    fields_of, read_fields,
};
pub use refusal::{Code, Refusal, error_code};
pub use settings::Settings;
pub use sorting::{Orders, Paging, SortKey};
pub use time::Time;

/// The version of the JSON, as in `/api/v1`: fields may be added to it, none is removed or changed.
pub const JSON_VERSION: u32 = 1;
