//! The table of every list: columns that sort, filters, pages, a choice of rows with something to do to them, the whole
//! result as CSV or JSON, and rows that keep themselves up to date.
//!
//! A page describes its list with [`Filters`] and a [`Table`], and hands over how a page of it is read:
//!
//! ```ignore
//! let filters = Filters::new(asked).with(Filter::search("Search", "a part of the URL"));
//! let table = Table::new("/documents", ["document", "documents"], filters)
//!     .column(Column::new("url", "Document", |row: &Document| Cell::text(&row.url)).row_heading())
//!     .column(Column::new("size", "Size", |row: &Document| Cell::Bytes(row.size)).number().largest_first());
//! table.answer(who, move |view| read(context.clone(), view)).await
//! ```
//!
//! `read` calls one operation of `operations`, which sorts, counts and pages. The looks are in `templates/table.html`;
//! `assets/table.js` adds keys and the choice of all rows, without which everything works.

mod bulk;
mod cell;
mod export;
mod filter;
mod place;
mod shown;
mod sort;

use std::future::Future;

use askama::Template;
use axum::response::{Html, IntoResponse as _};
use operations::{Listed, Paging, Refusal};
use serde::Serialize;

pub(crate) use self::bulk::{Bulk, BulkForm, bulk_done};
pub(crate) use self::cell::{Action, Cell, Spark, with_way_back};
pub(crate) use self::filter::{Filter, FilterKind, Filters, chosen, tell_apart};
pub(crate) use self::place::Pages;
use self::place::{Place, pages};
pub(crate) use self::shown::{Head, Row, Shown, ShownCell};
use self::sort::Sort;
use crate::dress::page;
use crate::problem::{Answer, Problem};
use crate::who::Who;

/// A part of a row, made from its data.
type OfRow<R, T> = Box<dyn Fn(&R) -> T + Send + Sync>;

/// A list, as a page describes it.
pub(crate) struct Table<R> {
    path: String,
    /// One row, and several.
    words: [&'static str; 2],
    filters: Filters,
    columns: Vec<Column<R>>,
    sort: Sort,
    bulk: Vec<Bulk>,
    key: Option<fn(&R) -> i64>,
    fields: &'static [&'static str],
    /// A line below the row, such as why it failed.
    below: Option<OfRow<R, Option<Cell>>>,
    every: u32,
    by_row: bool,
    /// Whether only the usual order goes on behind a row.
    is_sorted_by_number: bool,
    empty: Option<Empty>,
}

/// A column.
pub(crate) struct Column<R> {
    key: &'static str,
    heading: &'static str,
    cell: OfRow<R, Cell>,
    /// Whether the list can be sorted by it; and then whether the largest come first when one asks for it.
    sort: Option<bool>,
    is_number: bool,
    is_heading: bool,
    class: &'static str,
}

/// The message of an empty list without filters, and the next step.
#[derive(Debug, Clone)]
struct Empty {
    message: String,
    step: Option<(&'static str, &'static str)>,
}

/// The part of a list that is asked for, as operations take it.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    pub(crate) sort: Option<String>,
    pub(crate) descending: Option<bool>,
    /// The `next` of the page before, for lists that go on behind a row.
    pub(crate) page: Option<i64>,
    /// The rows before this page, for lists that go by their number.
    pub(crate) offset: Option<u64>,
    pub(crate) limit: Option<u64>,
    /// Whether the rows are counted.
    pub(crate) count: Option<bool>,
}

/// The rows alone, for a page that keeps itself up to date.
#[derive(Template)]
#[template(path = "table_rows.html")]
struct Fragment {
    table: Shown,
}

/// A page that is a list and nothing else.
#[derive(Template)]
#[template(path = "list.html")]
struct ListPage {
    who: Who,
    title: &'static str,
    crumbs: Vec<(String, String)>,
    actions: Vec<(&'static str, &'static str)>,
    tabs: Vec<Tab>,
    table: Shown,
}

/// A list beside others under one heading.
#[derive(Debug, Clone)]
pub(crate) struct Tab {
    pub(crate) label: String,
    pub(crate) link: String,
    pub(crate) is_current: bool,
}

/// The surroundings of a table: the title, the actions, and the lists beside it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Around {
    pub(crate) title: &'static str,
    /// Labels and addresses of the pages above this one.
    pub(crate) crumbs: Vec<(String, String)>,
    /// Labels and addresses of buttons; the first is the main one.
    pub(crate) actions: Vec<(&'static str, &'static str)>,
    pub(crate) tabs: Vec<Tab>,
}

impl View {
    /// The same for lists that go by the numbers of rows.
    pub(crate) fn paging(self) -> Paging {
        Paging {
            sort: self.sort,
            descending: self.descending,
            offset: self.offset,
            limit: self.limit,
        }
    }
}

impl<R> Column<R> {
    pub(crate) fn new(
        key: &'static str,
        heading: &'static str,
        cell: impl Fn(&R) -> Cell + Send + Sync + 'static,
    ) -> Self {
        Self {
            key,
            heading,
            cell: Box::new(cell),
            sort: None,
            is_number: false,
            is_heading: false,
            class: "",
        }
    }

    /// The list can be sorted by it, at first from the smallest on. Its key is the order's name in the operation.
    pub(crate) fn smallest_first(mut self) -> Self {
        self.sort = Some(false);
        self
    }

    /// The list can be sorted by it, at first from the largest on.
    pub(crate) fn largest_first(mut self) -> Self {
        self.sort = Some(true);
        self
    }

    /// Its cells are numbers.
    pub(crate) fn number(mut self) -> Self {
        self.is_number = true;
        self
    }

    /// Its cells name their rows.
    pub(crate) fn row_heading(mut self) -> Self {
        self.is_heading = true;
        self
    }

    /// Its cells may be broken anywhere, because they are addresses or the like.
    pub(crate) fn breaking(mut self) -> Self {
        self.class = "break";
        self
    }
}

impl<R: Serialize + Send + Sync + 'static> Table<R> {
    /// The list at `path` of what `words` name, one and several.
    pub(crate) fn new(path: impl Into<String>, words: [&'static str; 2], filters: Filters) -> Self {
        Self {
            path: path.into(),
            words,
            filters,
            columns: Vec::new(),
            sort: Sort {
                by: "",
                descending: false,
            },
            bulk: Vec::new(),
            key: None,
            fields: &[],
            below: None,
            every: 10,
            by_row: false,
            is_sorted_by_number: false,
            empty: None,
        }
    }

    pub(crate) fn column(mut self, column: Column<R>) -> Self {
        self.columns.push(column);
        self
    }

    /// With a column if `shown`.
    pub(crate) fn column_if(self, shown: bool, column: impl FnOnce() -> Column<R>) -> Self {
        match shown {
            true => self.column(column()),
            false => self,
        }
    }

    /// The order if none is asked for.
    pub(crate) fn sorted_by(mut self, by: &'static str, descending: bool) -> Self {
        self.sort = Sort { by, descending };
        self
    }

    /// Adds actions on selected rows; `key` gives their numbers.
    pub(crate) fn bulk(mut self, key: fn(&R) -> i64, bulk: Vec<Bulk>) -> Self {
        (self.key, self.bulk) = (Some(key), bulk);
        self
    }

    /// The columns of the CSV: fields of a row's JSON, those of an object in it behind a dot.
    pub(crate) fn fields(mut self, fields: &'static [&'static str]) -> Self {
        self.fields = fields;
        self
    }

    /// A line below each row for which there is one.
    pub(crate) fn below(
        mut self,
        below: impl Fn(&R) -> Option<Cell> + Send + Sync + 'static,
    ) -> Self {
        self.below = Some(Box::new(below));
        self
    }

    /// The seconds after which the rows are read anew while the page is open.
    pub(crate) fn every(mut self, seconds: u32) -> Self {
        self.every = seconds;
        self
    }

    /// The `next` of a page names a row, and not a number of rows.
    pub(crate) fn by_row(mut self) -> Self {
        self.by_row = true;
        self
    }

    /// The same in the usual order alone: in others the `next` of a page is a number of rows.
    pub(crate) fn by_row_unless_sorted(mut self) -> Self {
        (self.by_row, self.is_sorted_by_number) = (true, true);
        self
    }

    /// Sets the message of an empty list, with the label and address of the next step.
    pub(crate) fn empty(
        mut self,
        message: impl Into<String>,
        step: Option<(&'static str, &'static str)>,
    ) -> Self {
        self.empty = Some(Empty {
            message: message.into(),
            step,
        });
        self
    }

    /// The answer with a page that is this list. `read` gives the rows of a view.
    pub(crate) async fn answer<F, L>(self, who: Who, around: Around, read: F) -> Answer
    where
        F: Fn(View) -> L + Send + 'static,
        L: Future<Output = Result<Listed<R>, Refusal>> + Send,
    {
        self.answer_in(who, read, |who, table| {
            page(&ListPage {
                who,
                title: around.title,
                crumbs: around.crumbs,
                actions: around.actions,
                tabs: around.tabs,
                table,
            })
        })
        .await
    }

    /// The answer with a page around this list that `page` makes.
    pub(crate) async fn answer_in<F, L>(
        self,
        who: Who,
        read: F,
        page: impl FnOnce(Who, Shown) -> Answer,
    ) -> Answer
    where
        F: Fn(View) -> L + Send + 'static,
        L: Future<Output = Result<Listed<R>, Refusal>> + Send,
    {
        if let Some(form) = export::Form::parse(self.filters.asked.get("format")) {
            if let Some(mistake) = self.mistaken_sort() {
                return Err(Problem::invalid(mistake));
            }
            let sort = self.sort;
            let word = self.filters.asked.get("sort");
            let view = sort.view(&self.columns, word);
            let by_row = self.goes_by_row(sort.asked(&self.columns, word));
            self.filters.errors.into_problem()?;
            return Ok(export::answer(
                form,
                self.path,
                self.fields,
                by_row,
                view,
                read,
            ));
        }
        let shown = self.show(&who, read).await?;
        if who.is_live {
            let fragment = Fragment { table: shown };
            return Ok(Html(fragment.render()?).into_response());
        }
        page(who, shown)
    }

    async fn show<F, L>(self, who: &Who, read: F) -> Result<Shown, Problem>
    where
        F: Fn(View) -> L,
        L: Future<Output = Result<Listed<R>, Refusal>>,
    {
        let asked = &self.filters.asked;
        let sort = self.sort.asked(&self.columns, asked.get("sort"));
        let size = SIZES
            .into_iter()
            .find(|size| asked.get("size") == size.to_string());
        let size = size.unwrap_or(SIZE);
        let place = Place::parse(asked);
        let view = View {
            page: place.page,
            offset: Some(place.at),
            limit: Some(size),
            count: Some(true),
            ..self.sort.view(&self.columns, asked.get("sort"))
        };
        let (mut listed, mut failure) = (Listed::none(), self.mistaken_sort());
        if self.filters.errors.is_empty() && failure.is_none() {
            match read(view).await {
                Ok(read) => listed = read,
                // An address that somebody typed, or a search that cannot be read.
                Err(refusal) if refusal.is_mistake() => failure = Some(refusal.message()),
                Err(refusal) => return Err(refusal.into()),
            }
        }
        let filtered = self.filters.link(&self.path);
        let sized = match size {
            SIZE => filtered.clone(),
            size => filtered.clone().with("size", size),
        };
        let sorted = sized.clone().with("sort", sort.word(self.sort));
        let (by_row, words) = (self.goes_by_row(sort), self.words);
        let pager = pages(&sorted, &place, by_row, size, &listed, words);
        let heads = self
            .columns
            .iter()
            .map(|column| column.head(&sized, sort, self.sort));
        let heads = heads.collect();
        let sorts = self
            .columns
            .iter()
            .flat_map(|column| column.sorts(self.sort));
        let mut sorts: Vec<_> = sorts.collect();
        // Where no column has the usual order, there has to be a way back to it.
        if !sorts.is_empty() && !sorts.iter().any(|(word, _)| word.is_empty()) {
            sorts.insert(0, (String::new(), "Usual order".to_owned()));
        }
        let rows = listed.items.iter().map(|row| self.row(row, &who.here));
        let rows = rows.collect();
        let export = |form: &'static str| {
            let link = filtered.clone().with("sort", sort.word(self.sort));
            link.with("format", form)
        };
        let resize = |size: u64| {
            let link = filtered.clone().with("sort", sort.word(self.sort));
            (size, link.with("size", size))
        };
        Ok(Shown {
            path: self.path,
            words: self.words,
            heads,
            rows,
            pager,
            here: who.here.clone(),
            every: self.every,
            exports: [("CSV", export("csv")), ("JSON", export("json"))],
            sizes: SIZES.into_iter().map(resize).collect(),
            size,
            sorts,
            sorted: sort.word(self.sort),
            empty: self.empty,
            failure,
            bulk: if self.key.is_some() {
                self.bulk
            } else {
                Vec::new()
            },
            filters: self.filters,
        })
    }

    /// Whether the `next` of a page names a row in this order.
    fn goes_by_row(&self, sort: Sort) -> bool {
        self.by_row && !(self.is_sorted_by_number && sort != self.sort)
    }

    /// The mistake in the requested order, if there is no such order.
    fn mistaken_sort(&self) -> Option<String> {
        let word = self.filters.asked.get("sort");
        let by = word.strip_prefix('-').unwrap_or(word);
        let known = self.columns.iter().filter(|column| column.sort.is_some());
        let known: Vec<_> = known.map(|column| column.key).collect();
        // A table without columns is only downloaded, by a page that has orders of its own.
        let is_known = known.contains(&by) || (by == self.sort.by && !by.is_empty());
        if word.is_empty() || self.columns.is_empty() || is_known {
            return None;
        }
        Some(match known.is_empty() {
            true => format!("there is no order `{by}`: this list has one order only"),
            false => format!(
                "there is no order `{by}`; choose one of {}",
                known.join(", ")
            ),
        })
    }

    fn row(&self, row: &R, here: &str) -> Row {
        let cells = self.columns.iter().map(|column| ShownCell {
            heading: column.heading,
            html: (column.cell)(row).html(here),
            is_number: column.is_number,
            is_heading: column.is_heading,
            class: column.class,
        });
        let id = self.key.map_or(0, |key| key(row));
        let below = self.below.as_ref().and_then(|below| below(row));
        Row {
            id,
            cells: cells.collect(),
            below: below.map(|below| below.html(here)),
            name: format!("{} {id}", self.words[0]),
        }
    }
}

const SIZE: u64 = 50;
/// The rows of a page, to choose from.
const SIZES: [u64; 4] = [25, SIZE, 100, 500];
