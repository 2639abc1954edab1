#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod admin;
mod body;
mod client;
mod conditional;
pub mod config;
mod download;
mod files;
mod flow_control;
mod gzip;
mod listing;
mod oai_pmh;
mod origin;
mod repository;
mod resource_sync;
pub mod robots;
mod router;
mod run;
mod served;
mod site_answers;
mod streaming;

pub use admin::counters;
pub use config::Config;
pub use download::{Download, Resource};
pub use origin::HttpOrigin;
pub use repository::{Repository, RepositoryConfig, run_repository};
pub use run::{Addresses, run};
pub use served::ServedSite;
pub use streaming::Question;
