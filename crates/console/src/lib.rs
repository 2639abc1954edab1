#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod api;
mod assets;
mod client;
mod config;
mod console;
mod cookies;
mod document_file;
mod documents;
mod dress;
mod extract;
mod filters;
mod friends;
mod headers;
mod history;
mod host;
mod imports;
mod outside;
mod pages;
mod parts;
pub mod password;
mod people;
mod plain_words;
mod previews;
mod problem;
mod question;
mod queue;
mod records;
mod repositories;
mod repository_choices;
mod router;
mod routes;
mod rules;
mod schedules;
mod secret;
mod session;
mod state;
mod stream;
mod who;
mod whole;

pub use config::ConsoleConfig;
pub use console::Console;
pub use imports::ImportRules;
pub use outside::Outside;
pub use routes::Route;
