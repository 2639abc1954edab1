//! The verbs, one file each; the two that list share theirs.

mod get_record;
mod identify;
mod items;
mod list;
mod list_metadata_formats;
mod list_sets;
