//! Imports that leave the catalog alone: trials, and imports into a folder of their own.

pub(super) mod seen;
pub(super) mod separate;
pub(super) mod trial;
