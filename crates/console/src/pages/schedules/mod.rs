//! Schedules: the list, one of them, the form, and what is done to one.

pub(crate) mod add;
pub(crate) mod edit;
pub(crate) mod form;
pub(crate) mod import;
pub(crate) mod list;
pub(crate) mod preview;
pub(crate) mod show;
pub(crate) mod steer;
