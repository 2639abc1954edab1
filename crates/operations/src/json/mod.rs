//! Types that the JSON of several entities shares, pages of lists and their order.

pub(super) mod csv;
pub(super) mod file_path;
pub(super) mod listed;
pub(super) mod mirrored;
pub(super) mod schema;
pub(super) mod sorting;
pub(super) mod time;
pub(super) mod time_zone;
