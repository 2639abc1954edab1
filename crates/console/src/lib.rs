#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![expect(
    unused_qualifications,
    reason = "the macro of utoipa names the parameters of queries in full"
)]

mod alerts;
mod api;
mod config;
mod console;
mod dashboard;
mod documents;
mod feed;
mod help;
mod history;
mod imports;
mod jobs;
mod lists;
mod pages;
mod parents;
mod parts;
mod people;
mod records;
mod repositories;
mod retrievals;
mod router;
mod rules;
mod runs;
mod schedules;
mod search;
mod sites;
mod state;
mod watch;
mod web;

use self::parts::filters;
use self::web::{
    assets, client, clock, cookies, dress, extract, headers, host, outside, problem, routes,
    stream, who, whole,
};

pub use config::ConsoleConfig;
pub use console::Console;
pub use outside::Outside;
pub use routes::Route;
pub use watch::{Watch, serve_watch};
