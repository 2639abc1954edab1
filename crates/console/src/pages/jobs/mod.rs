//! `/jobs`: what waits and runs, what is over, one job with its log, and the ways to stop and to try again.

pub(crate) mod actions;
pub(crate) mod current;
pub(crate) mod ended;
mod line;
pub(crate) mod show;

pub(crate) use line::JobLine;
