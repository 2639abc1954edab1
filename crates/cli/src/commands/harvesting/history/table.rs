//! Harvests as a table, a line each.

use operations::harvests::Harvest;

use crate::table::{Cell, Column};

/// The columns of a list of harvests.
pub(crate) const COLUMNS: [Column; 10] = [
    Column::number("no."),
    Column::word("started"),
    Column::word("took").dispensable(3),
    Column::word("state"),
    Column::number("new"),
    Column::number("updated").dispensable(1),
    Column::number("unchanged").dispensable(4),
    Column::number("deleted").dispensable(2),
    Column::number("skipped").dispensable(5),
    Column::text("repository, format and set", 20),
];

/// A row of that list.
pub(crate) fn cells(entry: &Harvest) -> Vec<Cell> {
    let counts = &entry.counts;
    vec![
        entry.id.into(),
        Cell::time(Some(entry.started)),
        Cell::duration(entry.seconds()),
        Cell::state(entry.state.name()),
        Cell::count(counts.new),
        Cell::count(counts.updated),
        Cell::count(counts.unchanged),
        Cell::count(counts.deleted),
        Cell::count(counts.skipped + counts.failed),
        what(entry).into(),
    ]
}

fn what(entry: &Harvest) -> String {
    let (url, prefix) = (&entry.base_url, &entry.metadata_prefix);
    match &entry.set {
        Some(set) => format!("{url} {prefix} {set}"),
        None => format!("{url} {prefix}"),
    }
}
