//! What the catalog promises, on SQLite and on PostgreSQL.
//!
//! - `repositories`: repositories, sets, formats
//! - `pages`: what a page changes, and what is counted
//! - `runs`: harvests begun, gone on with, taken over, ended
//! - `schedules`: schedules, planned and changed
//! - `queue`: jobs claimed, kept, cancelled, ended
//! - `fences`: workers that are not heard of any more
//! - `clocks`: a clock that jumps
//! - `races`: many workers at once
//! - `migrations`: catalogs of earlier versions
//! - `lists`: records and history, looked up and listed
//! - `processes`: several processes, and ones that are killed
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod clocks;
mod fences;
mod lists;
mod migrations;
mod pages;
mod place;
mod processes;
mod queue;
mod races;
mod repositories;
mod runs;
mod schedules;

/// Makes of each function two tests, one for each database.
macro_rules! on_both_databases {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $name() {
                $crate::place::run(super::$name($crate::place::Place::sqlite()));
            })*
        }
        mod postgres {
            $(#[test]
            fn $name() {
                $crate::place::run(super::$name($crate::place::Place::postgres()));
            })*
        }
    };
}
pub(crate) use on_both_databases;
