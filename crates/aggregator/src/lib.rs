#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod aggregator;
mod documents;
mod exposure;
mod identifier;
mod known;
mod parts;
mod provenance;
mod resources;
mod secret;
mod sets;
mod settings;
mod view;

pub use self::aggregator::Aggregator;
pub use self::secret::token_secret;
pub use self::settings::{AggregatorSettings, QuerySet, RemovedRepositories};
