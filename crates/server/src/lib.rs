#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod admin;
mod body;
mod client;
mod conditional;
pub mod config;
mod files;
mod flow_control;
mod gzip;
mod listing;
mod oai_pmh;
mod origin;
mod repository;
pub mod robots;
mod router;
mod run;

pub use config::Config;
pub use origin::HttpOrigin;
pub use repository::{Repository, RepositoryConfig, run_repository};
pub use run::{Addresses, run};
