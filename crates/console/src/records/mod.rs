//! Records: what pages and API do alike. All that records say is from outside: it is shown as text, never as HTML.

mod dublin_core;
mod file;
mod filter;
mod link;
mod tree;

use catalog::{RecordEntry, Repository};

pub(crate) use self::dublin_core::{Element, dublin_core};
pub(crate) use self::file::{RecordFile, RecordText};
pub(crate) use self::filter::RecordFilter;
pub(crate) use self::tree::{Line, tree};

use crate::problem::Problem;
use crate::state::ConsoleState;

/// The record with this number, and its repository.
pub(crate) async fn record(
    state: &ConsoleState,
    id: i64,
) -> Result<(RecordEntry, Repository), Problem> {
    let catalog = state.catalog();
    let Some(record) = catalog.record(id).await? else {
        return Err(Problem::not_found(format!(
            "there is no record with the number {id}; it may have been removed"
        )));
    };
    let id = record.repository;
    let repository = catalog.repository(id).await?;
    let repository = repository.ok_or(catalog::Error::UnknownRepository { id })?;
    Ok((record, repository))
}
