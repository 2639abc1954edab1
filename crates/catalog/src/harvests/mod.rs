//! Harvests: begun, kept, ended, and listed in the history; the rules that they apply.

pub(crate) mod begin;
pub(crate) mod history;
pub(crate) mod retention;
pub(crate) mod rules;
pub(crate) mod runs;
