//! Operations against a fresh catalog: schedules and jobs, what is refused, and what the audit trail gets.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod jobs;
mod schedules;
mod world;
