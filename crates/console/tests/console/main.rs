//! The console from the outside, by requests as browsers and programs send them.
//!
//! - `access`: who gets where, every route by every role
//! - `accounts`: accounts and tokens, and never without an admin
//! - `api`: tokens, errors, and the description
//! - `connections`: real connections, and the end of them
//! - `dashboard`: what one sees first, and the figures
//! - `documents`: the collection looked through, and what became of it; imports
//! - `history`: harvests looked through, compared, taken away, removed
//! - `imports`: imports started and scheduled, and who may
//! - `jobs`: seen, stopped, tried again
//! - `login`: in and out, and passwords that are tried
//! - `protection`: what other sites cannot do
//! - `quiet`: no harvest while somebody reads
//! - `records`: records found, read, taken away
//! - `repositories`: found, added, corrected, removed
//! - `rules`: filters and mappings tried, saved, removed
//! - `runs`: lists that are sorted, causes that are acknowledged, runs that are deleted
//! - `schedules`: schedules added, changed, steered
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
mod documents;
mod history;
mod holdings;
mod imports;
mod jobs;
mod login;
mod protection;
mod queue;
mod quiet;
mod records;
mod repositories;
mod rules;
mod runs;
mod schedules;
mod setup;
