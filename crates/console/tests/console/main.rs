//! The console from the outside, by requests as browsers and programs send them.
//!
//! - `access`: who gets where, every route by every role
//! - `accounts`: accounts and tokens, and never without an admin
//! - `api`: tokens, errors, and the description
//! - `connections`: real connections, and the end of them
//! - `dashboard`: what one sees first, and the figures
//! - `jobs`: seen, stopped, tried again
//! - `login`: in and out, and passwords that are tried
//! - `protection`: what other sites cannot do
//! - `quiet`: no harvest while somebody reads
//! - `repositories`: found, added, corrected, removed
//! - `setup`: the first account
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod access;
mod accounts;
mod api;
mod browser;
mod connections;
mod dashboard;
mod jobs;
mod login;
mod protection;
mod queue;
mod quiet;
mod repositories;
mod setup;
