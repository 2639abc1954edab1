//! Lists: on a terminal a table with a head and aligned columns, cut to its width; in a pipe lines with tabs between the
//! values, without a head, exact and whole, for programs.

use std::fmt::Display;
use std::io::{self, Write};

use operations::Time;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::colour::{self, Colour};
use crate::text::{ago, columns, duration, grouped, plain};

/// A column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    head: &'static str,
    is_number: bool,
    /// The width below which it is not cut; none if it is never cut.
    least: Option<usize>,
    /// Columns with the highest number go first where the terminal is narrow; 0 stays.
    dispensable: u8,
}

/// A cell: the text for people and the colour that says the same, and the text for programs.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    colour: Option<Colour>,
    /// The text for programs, if it is another.
    exact: Option<String>,
}

/// A table that is written while its rows come; the first ones decide on the widths.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    /// The width of the terminal; none in a pipe.
    width: Option<usize>,
    is_coloured: bool,
    waiting: Vec<Vec<Cell>>,
    /// The widths, once they are decided; none for a column that is left out.
    widths: Option<Vec<Option<usize>>>,
}

impl Column {
    /// A column of words that are never cut.
    pub(crate) const fn word(head: &'static str) -> Self {
        Self {
            head,
            is_number: false,
            least: None,
            dispensable: 0,
        }
    }

    /// A column of numbers.
    pub(crate) const fn number(head: &'static str) -> Self {
        Self {
            is_number: true,
            ..Self::word(head)
        }
    }

    /// A column of texts that may be cut, down to `least` characters.
    pub(crate) const fn text(head: &'static str, least: usize) -> Self {
        Self {
            least: Some(least),
            ..Self::word(head)
        }
    }

    /// The same column, which is left out where there is no room; the highest number goes first.
    pub(crate) const fn dispensable(self, order: u8) -> Self {
        Self {
            dispensable: order,
            ..self
        }
    }

    fn least(&self, width: usize) -> usize {
        self.least.map_or(width, |least| least.min(width))
    }
}

impl Cell {
    /// A state, in its colour.
    pub(crate) fn state(name: &str) -> Self {
        Self {
            colour: colour::of_state(name),
            ..Self::shown(name.replace('_', " "), name)
        }
    }

    /// A number with its thousands apart.
    pub(crate) fn count(number: u64) -> Self {
        Self::shown(grouped(number), number)
    }

    /// A moment by its distance from now; empty for programs if there is none.
    pub(crate) fn time(moment: Option<Time>) -> Self {
        let exact = moment.map_or_else(String::new, |moment| moment.to_string());
        Self::shown(ago(moment.map(|moment| moment.0)), exact)
    }

    /// A span of time, of which programs get the seconds.
    pub(crate) fn duration(seconds: Option<i64>) -> Self {
        let exact = seconds.map_or_else(String::new, |seconds| seconds.to_string());
        Self::shown(seconds.map(duration).unwrap_or_default(), exact)
    }

    fn shown(text: impl Display, exact: impl Display) -> Self {
        let exact = plain(&exact.to_string()).to_string();
        Self {
            exact: Some(exact),
            ..Self::from(text)
        }
    }
}

impl<T: Display> From<T> for Cell {
    fn from(text: T) -> Self {
        Self {
            text: plain(text.to_string().trim()).to_string(),
            colour: None,
            exact: None,
        }
    }
}

impl Table {
    /// A table for stdout.
    pub(crate) fn to_stdout(table_columns: &[Column]) -> Self {
        Self::new(table_columns, columns(), colour::is_on())
    }

    /// A table as wide as the terminal; none where stdout is no terminal and the command writes other lines.
    pub(crate) fn on_terminal(table_columns: &[Column]) -> Option<Self> {
        columns()?;
        Some(Self::to_stdout(table_columns))
    }

    fn new(columns: &[Column], width: Option<usize>, is_coloured: bool) -> Self {
        Self {
            columns: columns.to_vec(),
            width,
            is_coloured,
            waiting: Vec::new(),
            widths: None,
        }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, out: &mut impl Write, cells: Vec<Cell>) -> io::Result<()> {
        let Some(width) = self.width else {
            return exact(out, &cells);
        };
        if let Some(widths) = &self.widths {
            return self.write(out, &cells, widths, width);
        }
        self.waiting.push(cells);
        match self.waiting.len() >= MEASURED {
            true => self.begin(out, width),
            false => Ok(()),
        }
    }

    /// Writes what waits; nothing, not even a head, if there was no row.
    pub(crate) fn finish(mut self, out: &mut impl Write) -> io::Result<()> {
        match self
            .width
            .filter(|_| self.widths.is_none() && !self.waiting.is_empty())
        {
            Some(width) => self.begin(out, width),
            None => Ok(()),
        }
    }

    fn begin(&mut self, out: &mut impl Write, width: usize) -> io::Result<()> {
        let widths = self.measure(width);
        let heads = self.columns.iter().map(|column| column.head.to_uppercase());
        let head: Vec<_> = heads.map(Cell::from).collect();
        self.write(out, &head, &widths, width)?;
        for cells in std::mem::take(&mut self.waiting) {
            self.write(out, &cells, &widths, width)?;
        }
        self.widths = Some(widths);
        Ok(())
    }

    /// The widths of all columns, so that a line fits into the terminal.
    fn measure(&self, width: usize) -> Vec<Option<usize>> {
        let room = width;
        let wanted = |at: usize| {
            let cells = self.waiting.iter().filter_map(|cells| cells.get(at));
            let widest = cells.map(|cell| cell.text.width()).max();
            widest
                .filter(|width| *width > 0)
                .map(|width| width.max(self.columns[at].head.width()))
        };
        // A column in which nothing is said needs no room.
        let mut widths: Vec<_> = (0..self.columns.len()).map(wanted).collect();
        let orders = self.columns.iter().map(|column| column.dispensable);
        for order in (1..=orders.max().unwrap_or(0)).rev() {
            if self.least(&widths) <= room {
                break;
            }
            for (width, column) in widths.iter_mut().zip(&self.columns) {
                if column.dispensable == order {
                    *width = None;
                }
            }
        }
        while line_width(&widths) > room {
            let cut = widths.iter().enumerate().filter_map(|(at, width)| {
                let width = (*width)?;
                (width > self.columns[at].least(width)).then_some((width, at))
            });
            // Never below what tells something; the last resort is to cut the lines.
            let Some((_, at)) = cut.max() else { break };
            widths[at] = widths[at].map(|width| width - 1);
        }
        widths
    }

    fn least(&self, widths: &[Option<usize>]) -> usize {
        let least = widths.iter().zip(&self.columns);
        let least: Vec<_> = least
            .map(|(width, column)| width.map(|width| column.least(width)))
            .collect();
        line_width(&least)
    }

    fn write(
        &self,
        out: &mut impl Write,
        cells: &[Cell],
        widths: &[Option<usize>],
        width: usize,
    ) -> io::Result<()> {
        let shown: Vec<_> = widths
            .iter()
            .enumerate()
            .filter_map(|(at, width)| {
                let width = (*width)?;
                Some((cells.get(at)?, width, self.columns[at].is_number))
            })
            .collect();
        let mut room = width;
        for (at, (cell, width, is_number)) in shown.iter().enumerate() {
            let gap = if at > 0 { GAP } else { 0 };
            let width = (*width).min(room.saturating_sub(gap));
            if width == 0 {
                break;
            }
            room -= width + gap;
            let text = cut(&cell.text, width);
            let padding = " ".repeat(width - text.width());
            let text = match cell.colour.filter(|_| self.is_coloured) {
                Some(colour) => colour.paint(&text),
                None => text,
            };
            write!(out, "{}", " ".repeat(gap))?;
            match (is_number, at + 1 == shown.len()) {
                (true, _) => write!(out, "{padding}{text}")?,
                (false, false) => write!(out, "{text}{padding}")?,
                (false, true) => write!(out, "{text}")?,
            }
        }
        writeln!(out)
    }
}

/// Writes a row for programs.
fn exact(out: &mut impl Write, cells: &[Cell]) -> io::Result<()> {
    for (at, cell) in cells.iter().enumerate() {
        let gap = if at > 0 { "\t" } else { "" };
        write!(out, "{gap}{}", cell.exact.as_ref().unwrap_or(&cell.text))?;
    }
    writeln!(out)
}

/// Says on stderr that there is more than was shown, for people.
pub(crate) fn say_rest(shown: u64, total: Option<u64>, has_more: bool, limit_option: &str) {
    if let Some(rest) = rest(shown, total, has_more, limit_option) {
        eprintln!("{rest}");
    }
}

fn rest(shown: u64, total: Option<u64>, has_more: bool, limit_option: &str) -> Option<String> {
    let grouped_shown = grouped(shown);
    match total {
        Some(total) if total > shown => Some(format!(
            "showing {grouped_shown} of {}; {limit_option} shows more",
            grouped(total)
        )),
        None if has_more => Some(format!(
            "showing the first {grouped_shown}; {limit_option} shows more"
        )),
        _ => None,
    }
}

fn line_width(widths: &[Option<usize>]) -> usize {
    let shown = widths.iter().flatten();
    let gaps = shown.clone().count().saturating_sub(1) * GAP;
    shown.sum::<usize>() + gaps
}

/// The text in at most `width` columns; the middle is left out, as beginnings and ends of URLs tell most.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let head = fitting(text.chars(), kept.div_ceil(2));
    let tail = fitting(text.chars().rev(), kept / 2);
    head.into_iter()
        .chain(['…'])
        .chain(tail.into_iter().rev())
        .collect()
}

/// The characters that fit into `width` columns.
fn fitting(characters: impl Iterator<Item = char>, width: usize) -> Vec<char> {
    let mut used = 0;
    let fits = characters.take_while(|character| {
        used += character.width().unwrap_or(0);
        used <= width
    });
    fits.collect()
}

/// The space between two columns.
const GAP: usize = 2;
/// The rows that decide on the widths.
const MEASURED: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 5] = [
        Column::number("no."),
        Column::word("state"),
        Column::text("name", 8),
        Column::text("url", 12).dispensable(1),
        Column::number("records").dispensable(2),
    ];

    fn shown(width: usize, is_coloured: bool) -> Vec<String> {
        written(Some(width), is_coloured)
    }

    fn written(width: Option<usize>, is_coloured: bool) -> Vec<String> {
        let mut table = Table::new(&COLUMNS, width, is_coloured);
        let mut out = Vec::new();
        for (number, state, name, url, records) in [
            (
                1,
                "ok",
                "Library of the Lighthouse Keepers' Society",
                "http://lighthouse.example/oai",
                106_172,
            ),
            (
                12,
                "failed",
                "\u{56f3}\u{66f8}\u{9928}\u{1b}[2J\u{202e}x",
                "http://a.example/a/very/long/path/to/its/oai",
                7,
            ),
        ] {
            let cells = vec![
                Cell::from(number),
                Cell::state(state),
                Cell::from(name),
                Cell::from(url),
                Cell::count(records),
            ];
            table.row(&mut out, cells).unwrap();
        }
        table.finish(&mut out).unwrap();
        String::from_utf8(out)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn a_wide_terminal_shows_everything() {
        assert_eq!(
            shown(200, false),
            [
                "NO.  STATE   NAME                                        URL                                           RECORDS",
                "  1  ok      Library of the Lighthouse Keepers' Society  http://lighthouse.example/oai                 106,172",
                " 12  failed  \u{56f3}\u{66f8}\u{9928}\u{fffd}[2J\u{fffd}x                                http://a.example/a/very/long/path/to/its/oai        7",
            ]
        );
    }

    #[test]
    fn eighty_columns_cut_texts_in_their_middle() {
        let lines = shown(80, false);
        for line in &lines {
            assert!(line.width() <= 80, "{line}");
        }
        for line in &lines[1..] {
            assert!(line.contains('…'), "{line}");
        }
        assert!(lines[0].ends_with("RECORDS"));
    }

    #[test]
    fn forty_columns_leave_columns_out() {
        let lines = shown(40, false);
        for line in &lines {
            assert!(line.width() <= 40, "{line}");
        }
        assert!(!lines[0].contains("RECORDS"), "{}", lines[0]);
        assert!(lines[2].starts_with(" 12  failed  "), "{}", lines[2]);
        assert!(shown(3, false).iter().all(|line| line.width() <= 3));
    }

    #[test]
    fn programs_get_whole_values_between_tabs_and_no_head() {
        assert_eq!(
            written(None, false),
            [
                "1\tok\tLibrary of the Lighthouse Keepers' Society\thttp://lighthouse.example/oai\t106172",
                "12\tfailed\t\u{56f3}\u{66f8}\u{9928}\u{fffd}[2J\u{fffd}x\thttp://a.example/a/very/long/path/to/its/oai\t7",
            ]
        );
    }

    #[test]
    fn only_states_are_coloured_and_only_if_wanted() {
        assert!(!shown(80, false).concat().contains('\u{1b}'));
        let lines = shown(80, true);
        assert!(lines[1].contains("\u{1b}[32mok\u{1b}[0m"), "{:?}", lines[1]);
        assert!(
            lines[2].contains("\u{1b}[31mfailed\u{1b}[0m"),
            "{:?}",
            lines[2]
        );
    }

    #[test]
    fn the_rest_is_told() {
        let told = |total, more| rest(30, total, more, "--limit N");
        assert_eq!(
            told(Some(106_172), true).unwrap(),
            "showing 30 of 106,172; --limit N shows more"
        );
        assert_eq!(
            told(None, true).unwrap(),
            "showing the first 30; --limit N shows more"
        );
        assert_eq!((told(Some(30), true), told(None, false)), (None, None));
    }
}
