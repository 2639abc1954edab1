#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![expect(
    unused_qualifications,
    reason = "the macro of utoipa names the parameters of queries in full"
)]

mod activity;
mod alerts;
mod api;
mod collection;
mod config;
mod console;
mod dashboard;
mod help;
mod imports;
mod pages;
mod parts;
mod people;
mod records;
mod repositories;
mod router;
mod rules;
mod sites;
mod state;
mod system;
mod web;

use self::activity::{history, jobs, runs, schedules};
use self::collection::{documents, feed, lists, parents, retrievals, search};
use self::parts::filters;
use self::web::watch;
use self::web::{
    assets, client, clock, cookies, dress, extract, headers, host, outside, problem, routes, slow,
    stream, who, whole,
};
pub use config::ConsoleConfig;
pub use console::Console;
pub use outside::Outside;
pub use routes::Route;
pub use watch::{Watch, serve_watch};
