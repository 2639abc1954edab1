//! Commands that run jobs until they are stopped.

mod notify;
pub(crate) mod up;
mod watching;
pub(crate) mod worker;

pub(crate) use self::notify::{notify, watchdog};
pub(crate) use self::watching::{serve_watch, watch};
