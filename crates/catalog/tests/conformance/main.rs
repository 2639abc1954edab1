//! The promises of the catalog, on SQLite and on PostgreSQL.
//!
//! - `repositories`: repositories, sets, formats
//! - `pages`: what a page changes, and what is counted
//! - `runs`: harvests begun, gone on with, taken over, ended
//! - `run_list`: runs numbered, listed and found, and what holds them
//! - `schedules`: schedules, planned and changed
//! - `queue`: jobs claimed, kept, cancelled, ended
//! - `fences`: workers that are not heard of any more
//! - `clocks`: a clock that jumps
//! - `changes`: what changed, in the order in which it became visible
//! - `away`: a database that cannot be reached
//! - `races`: many workers at once
//! - `migrations`: catalogs of earlier versions
//! - `lists`: records and history, looked up and listed
//! - `many`: lists of many records
//! - `holding`: how many records are held, whatever pages bring
//! - `search`: records found by their words
//! - `figures`: what there is in all, over time and by repository
//! - `retention`: what is forgotten of the history
//! - `people`: accounts, sessions, tokens and the audit trail
//! - `rules`: filters and mappings
//! - `import_schedules`: schedules of imports
//! - `imports`: imports begun, gone on with, taken over, ended, as jobs and as commands
//! - `collection`: what captures make of documents, parents and contents, and how these are listed
//! - `document_search`: documents found by their words, near-duplicates, facets
//! - `judgements`: what is known of texts, decided on them, and corrected
//! - `removal`: documents removed, restored, purged and taken down
//! - `repairs`: repairs of the collection
//! - `arrivals`: captures in any order and from several imports at once
//! - `processes`: several processes, and ones that are killed
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod arrivals;
mod away;
mod changes;
mod clocks;
mod collection;
mod crawl;
mod document_search;
mod extractions;
mod fences;
mod figures;
mod holding;
mod import_schedules;
mod imports;
mod judgements;
mod lists;
mod many;
mod migrations;
mod pages;
mod people;
mod place;
mod processes;
mod queue;
mod races;
mod removal;
mod repairs;
mod repositories;
mod retention;
mod rules;
mod run_list;
mod runs;
mod schedules;
mod search;

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
