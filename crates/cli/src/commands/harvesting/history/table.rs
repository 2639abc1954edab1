//! Harvests as a table: a line each where there is room for it, else two.

use std::io::{self, Write};

use operations::harvests::Harvest;

use crate::text::{columns, duration, plain, shortened};

/// A table that is written row by row, so that its length does not matter.
pub(crate) struct Table {
    columns: Option<usize>,
    begun: bool,
}

impl Table {
    /// A table as wide as the terminal, or as wide as need be where there is none.
    pub(crate) fn new() -> Self {
        Self {
            columns: columns(),
            begun: false,
        }
    }

    /// Writes a row, and the head before the first one.
    pub(crate) fn row(&mut self, out: &mut impl Write, entry: &Harvest) -> io::Result<()> {
        if !self.begun {
            self.begun = true;
            self.head(out)?;
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
        let what = plain(&what(entry)).to_string();
        match self.room() {
            None => writeln!(out, "  {what}"),
            Some(Room::Beside(room)) => writeln!(out, "  {}", shortened(&what, room)),
            Some(Room::Below(room)) => writeln!(out, "\n      {}", shortened(&what, room)),
        }
    }

    fn head(&self, out: &mut impl Write) -> io::Result<()> {
        let head =
            " no.  started                  took  state         new   upd.  unch.   del.   left";
        match self.room() {
            Some(Room::Below(_)) => writeln!(out, "{head}"),
            _ => writeln!(out, "{head}  repository, format and set"),
        }
    }

    fn room(&self) -> Option<Room> {
        let columns = self.columns?;
        match columns.checked_sub(FIXED) {
            Some(room) if room >= ENOUGH => Some(Room::Beside(room)),
            _ => Some(Room::Below(columns.saturating_sub(6))),
        }
    }
}

/// Where the name of the repository goes, and in how many columns.
enum Room {
    Beside(usize),
    Below(usize),
}

fn what(entry: &Harvest) -> String {
    let (url, prefix) = (&entry.base_url, &entry.metadata_prefix);
    match &entry.set {
        Some(set) => format!("{url} {prefix} {set}"),
        None => format!("{url} {prefix}"),
    }
}

/// The width of all columns but the last, and the space before that.
const FIXED: usize = 4 + 2 + 20 + 2 + 7 + 2 + 10 + 5 * 7 + 2;
/// With less room for the last column, it gets a line of its own.
const ENOUGH: usize = 30;
