#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod activity;
pub mod aggregator;
pub mod alerts;
pub mod audit;
mod collection;
mod context;
pub mod harvests;
pub mod imports;
mod json;
pub mod monitoring;
pub mod overview;
mod parameters;
mod people;
pub mod records;
mod refusal;
pub mod repositories;
pub mod rules;
mod saved_name;
pub mod sites;
pub mod upkeep;

use self::activity::frequency;
pub use self::activity::{jobs, runs, schedules};
pub use self::alerts::{hooks, mail};
use self::collection::curation;
pub use self::collection::{documents, feed, retrieve, reviews, search, statistics};
use self::context::{actor, settings, turn};
pub use self::curation::{lists, parents, whitelist};
use self::imports::rules as import_rules;
use self::json::{csv, file_path, listed, mirrored, schema, sorting, time, time_zone};
pub use self::people::{accounts, password, secret, sessions, tokens};
pub use self::upkeep::{system, verify};
pub use actor::{Actor, Channel};
pub use context::Context;
pub use csv::csv_cell;
pub use curation::clean_order::CleanOrder;
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
pub(crate) use saved_name::saved_name;
pub use settings::Settings;
pub use sorting::{Orders, Paging, SortKey};
pub use time::{Time, first_second, last_second};
pub use time_zone::TimeZone;

/// The version of the JSON, as in `/api/v1`: fields may be added to it, none is removed or changed.
pub const JSON_VERSION: u32 = 1;
