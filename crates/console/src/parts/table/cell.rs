//! The content of a table's cell: typed, so that a page says what it shows and the template how it looks.

use std::borrow::Cow;

use askama::Template;

use crate::filters;
use crate::parts::escaped;

/// The content of a cell.
#[derive(Debug, Clone)]
pub(crate) enum Cell {
    /// Nothing to show, in a quiet word such as `never`.
    None(&'static str),
    Text(String),
    /// A host, which breaks behind a dot.
    Host(String),
    /// A name that programs use, such as a media type.
    Code(String),
    Number(u64),
    Bytes(u64),
    /// A moment, in seconds.
    Time(i64),
    /// How long ago, or how soon, a moment is.
    Ago(i64),
    /// Seconds.
    Duration(i64),
    /// A state, with its shape and colour.
    Badge(Cow<'static, str>),
    /// A failure, cut after two lines.
    Failure(String),
    Link(String, Box<Cell>),
    /// Smaller and quieter than the rest.
    Note(Box<Cell>),
    /// One below the other.
    Lines(Vec<Cell>),
    /// Side by side, with a space between.
    Row(Vec<Cell>),
    /// Side by side, without a space.
    Joined(Vec<Cell>),
    /// A word by which rows are grouped.
    Tag(String),
    /// Bars in a row, for a glance at what happened.
    Spark(Vec<Spark>),
    /// Buttons.
    Actions(Vec<Action>),
}

/// A bar of a [`Cell::Spark`].
#[derive(Debug, Clone)]
pub(crate) struct Spark {
    /// Its meaning in words.
    pub(crate) label: String,
    pub(crate) value: u64,
    pub(crate) is_failed: bool,
}

/// A bar as it is drawn.
struct PlacedSpark<'a> {
    x: usize,
    y: u64,
    height: u64,
    spark: &'a Spark,
}

/// A button of a row.
#[derive(Debug, Clone)]
pub(crate) struct Action {
    /// The label.
    pub(crate) label: &'static str,
    /// The row, for those who do not see in which one it stands.
    pub(crate) about: String,
    /// Where it is sent, or leads.
    pub(crate) to: String,
    /// Whether it is a link to a page.
    pub(crate) is_page: bool,
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn code(text: impl Into<String>) -> Self {
        Self::Code(text.into())
    }

    pub(crate) fn badge(state: impl Into<Cow<'static, str>>) -> Self {
        Self::Badge(state.into())
    }

    pub(crate) fn link(to: impl Into<String>, shown: Cell) -> Self {
        Self::Link(to.into(), Box::new(shown))
    }

    pub(crate) fn note(shown: Cell) -> Self {
        Self::Note(Box::new(shown))
    }

    /// The cell of a value, or a quiet word if there is none.
    pub(crate) fn of<T>(
        value: Option<T>,
        cell: impl FnOnce(T) -> Self,
        none: &'static str,
    ) -> Self {
        value.map_or(Self::None(none), cell)
    }

    /// This one with another below it, if there is one.
    pub(crate) fn above(self, below: Option<Self>) -> Self {
        match below {
            Some(below) => Self::Lines(vec![self, below]),
            None => self,
        }
    }

    /// The cell as HTML. The actions in it return to the page `here`.
    pub(crate) fn html(&self, here: &str) -> String {
        let cell = Html { cell: self, here };
        cell.render().unwrap_or_default()
    }
}

impl Action {
    /// A button that is sent to `to`, and returns to the list.
    pub(crate) fn post(label: &'static str, to: String, about: &str) -> Self {
        Self {
            label,
            about: about.to_owned(),
            to,
            is_page: false,
        }
    }

    /// A button that leads to the page `to`, from which one returns to the list.
    pub(crate) fn page(label: &'static str, to: String, about: &str) -> Self {
        Self {
            is_page: true,
            ..Self::post(label, to, about)
        }
    }
}

#[derive(Template)]
#[template(path = "table_cell.html")]
struct Html<'a> {
    cell: &'a Cell,
    here: &'a str,
}

impl Html<'_> {
    fn inner(&self, cell: &Cell) -> String {
        cell.html(self.here)
    }

    /// The bars of a small picture, the highest as high as it is.
    fn placed<'a>(&self, sparks: &'a [Spark]) -> Vec<PlacedSpark<'a>> {
        let highest = sparks.iter().map(|spark| spark.value).max().unwrap_or(0);
        let place = |(at, spark): (usize, &'a Spark)| {
            // Every event is visible, even one that changed nothing.
            let height = (spark.value.saturating_mul(SPARK_HEIGHT) / highest.max(1)).max(1);
            PlacedSpark {
                x: at * SPARK_STEP,
                y: SPARK_HEIGHT - height,
                height,
                spark,
            }
        };
        sparks.iter().enumerate().map(place).collect()
    }

    /// An address that leads back to the list afterwards.
    fn with_way_back(&self, to: &str) -> String {
        with_way_back(to, self.here)
    }
}

const SPARK_STEP: usize = 5;
const SPARK_HEIGHT: u64 = 16;

/// The address `to`, from which an action returns to `here`.
pub(crate) fn with_way_back(to: &str, here: &str) -> String {
    let separator = if to.contains('?') { '&' } else { '?' };
    format!("{to}{separator}back={}", escaped(here))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_is_escaped_however_deep_it_stands() {
        let hostile = Cell::text("<script>\"");
        let cell = Cell::link("/x?a=\"<b>", Cell::Lines(vec![hostile, Cell::None("none")]));

        let html = cell.html("/list");

        assert!(
            !html.contains("<script>") && !html.contains("<b>"),
            "{html}"
        );
    }

    #[test]
    fn an_action_knows_the_way_back_to_the_list_with_its_filters() {
        let action = Action::post("Pause", "/schedules/7/pause".to_owned(), "Every night");

        let html = Cell::Actions(vec![action]).html("/schedules?state=once&text=a b");

        let expected = "/schedules/7/pause?back=/schedules%3Fstate%3Donce%26text%3Da%20b";
        assert!(html.contains(expected), "{html}");
    }
}
