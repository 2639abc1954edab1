#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![expect(
    unused_qualifications,
    reason = "the macro of utoipa names the parameters of queries in full"
)]

mod api;
mod assets;
mod client;
mod config;
mod console;
mod cookies;
mod dashboard;
mod documents;
mod dress;
mod extract;
mod filters;
mod headers;
mod history;
mod host;
mod imports;
mod jobs;
mod outside;
mod pages;
mod parts;
mod people;
mod problem;
mod records;
mod repositories;
mod router;
mod routes;
mod rules;
mod schedules;
mod state;
mod stream;
mod who;
mod whole;

pub use config::ConsoleConfig;
pub use console::Console;
pub use outside::Outside;
pub use routes::Route;
