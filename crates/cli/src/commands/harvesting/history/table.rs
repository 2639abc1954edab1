//! Harvests as a table, a line each.

use std::io::{self, Write};

use operations::harvests::Harvest;

use crate::table::{Cell, Column};
use crate::text::{ago, duration, grouped, plain};

/// A table that is written row by row, so that its length does not matter.
pub(crate) struct Table {
    begun: bool,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new() -> Self {
        Self { begun: false }
    }

    /// Writes a row, and the head before the first one.
    pub(crate) fn row(&mut self, out: &mut impl Write, entry: &Harvest) -> io::Result<()> {
        if !self.begun {
            self.begun = true;
            writeln!(
                out,
                " no.  started                  took  state         new   upd.  unch.   del.   left  repository, format and set"
            )?;
        }
        let counts = &entry.counts;
        let took = entry.seconds().map(duration);
        write!(
            out,
            "{:>4}  {}  {:>7}  {:<10} {:>6} {:>6} {:>6} {:>6} {:>6}",
            entry.id,
            entry.started,
            took.as_deref().unwrap_or("-"),
            entry.state.name(),
            counts.new,
            counts.updated,
            counts.unchanged,
            counts.deleted,
            counts.skipped + counts.failed,
        )?;
        writeln!(out, "  {}", plain(&what(entry)))
    }
}

/// The columns of the table that a terminal gets.
pub(super) const COLUMNS: [Column; 10] = [
    Column::number("no."),
    Column::word("started"),
    Column::word("took").dispensable(3),
    Column::word("state"),
    Column::number("new"),
    Column::number("updated").dispensable(1),
    Column::number("unchanged").dispensable(4),
    Column::number("deleted").dispensable(2),
    Column::number("left out").dispensable(5),
    Column::text("repository, format and set", 20),
];

/// A row of that table.
pub(super) fn cells(entry: &Harvest) -> Vec<Cell> {
    let counts = &entry.counts;
    let number = |count: u64| Cell::from(grouped(count));
    vec![
        entry.id.into(),
        ago(Some(entry.started.0)).into(),
        entry.seconds().map(duration).unwrap_or_default().into(),
        Cell::state(entry.state.name()),
        number(counts.new),
        number(counts.updated),
        number(counts.unchanged),
        number(counts.deleted),
        number(counts.skipped + counts.failed),
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
