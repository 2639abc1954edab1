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

use std::future::Future;

use askama::Template;
use axum::response::{Html, IntoResponse as _};
use operations::{Listed, Paging, Refusal};
use serde::Serialize;

pub(crate) use self::bulk::{Bulk, BulkForm, bulk_done};
pub(crate) use self::cell::{Action, Cell, Spark, with_way_back};
pub(crate) use self::filter::{Filter, FilterKind, Filters, chosen, tell_apart};
use super::{Errors, Link, Typed};
use crate::dress::page;
use crate::filters;
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

/// By which column a list is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sort {
    by: &'static str,
    descending: bool,
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

/// A table as its template shows it.
pub(crate) struct Shown {
    pub(crate) path: String,
    words: [&'static str; 2],
    pub(crate) filters: Filters,
    pub(crate) heads: Vec<Head>,
    pub(crate) rows: Vec<Row>,
    pub(crate) bulk: Vec<Bulk>,
    pub(crate) pager: Pages,
    /// This page, to which actions return.
    pub(crate) here: String,
    pub(crate) every: u32,
    /// The whole result, in each form.
    pub(crate) exports: [(&'static str, Link); 2],
    pub(crate) sizes: Vec<(u64, Link)>,
    pub(crate) size: u64,
    pub(crate) sorts: Vec<(String, String)>,
    pub(crate) sorted: String,
    empty: Option<Empty>,
    /// Why there are no rows.
    pub(crate) failure: Option<String>,
}

/// The head of a column.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) heading: &'static str,
    /// Where the list is sorted by it.
    pub(crate) link: Option<Link>,
    /// The value of `aria-sort`.
    pub(crate) direction: &'static str,
    pub(crate) is_number: bool,
}

/// A row.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) id: i64,
    pub(crate) cells: Vec<ShownCell>,
    pub(crate) below: Option<String>,
    /// Its name, for those who do not see it beside the box that chooses it.
    pub(crate) name: String,
}

/// A cell; its HTML is escaped already.
#[derive(Debug)]
pub(crate) struct ShownCell {
    pub(crate) heading: &'static str,
    pub(crate) html: String,
    pub(crate) is_number: bool,
    pub(crate) is_heading: bool,
    pub(crate) class: &'static str,
}

/// The pages before and behind, and what is shown.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    pub(crate) first: Option<Link>,
    pub(crate) previous: Option<Link>,
    pub(crate) next: Option<Link>,
    /// For example `51–100 of 10 000+ documents`.
    pub(crate) shown: String,
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

impl<R> Column<R> {
    fn head(&self, link: &Link, sort: Sort, default: Sort) -> Head {
        let is_current = sort.by == self.key;
        let link = self.sort.map(|first| {
            let descending = if is_current { !sort.descending } else { first };
            let by = Sort {
                by: self.key,
                descending,
            };
            link.clone().with("sort", by.word(default))
        });
        Head {
            heading: self.heading,
            direction: match (link.is_some() && is_current, sort.descending) {
                (false, _) => "none",
                (true, false) => "ascending",
                (true, true) => "descending",
            },
            link,
            is_number: self.is_number,
        }
    }

    /// Both orders by it, to choose from where there is no room for heads.
    fn sorts(&self, default: Sort) -> Vec<(String, String)> {
        let Some(first) = self.sort else {
            return Vec::new();
        };
        let order = |descending| {
            let by = Sort {
                by: self.key,
                descending,
            };
            let arrow = if descending { "▼" } else { "▲" };
            (by.word(default), format!("{} {arrow}", self.heading))
        };
        vec![order(first), order(!first)]
    }
}

impl Sort {
    /// The order that `word` asks for; an unknown one is none.
    fn asked<R>(self, columns: &[Column<R>], word: &str) -> Self {
        let (by, descending) = match word.strip_prefix('-') {
            Some(by) => (by, true),
            None => (word, false),
        };
        let mut sorted = columns.iter().filter(|column| column.sort.is_some());
        match sorted.find(|column| column.key == by) {
            Some(column) => Self {
                by: column.key,
                descending,
            },
            None => self,
        }
    }

    /// The order as addresses have it: a minus before the key sorts the largest first. The `default` has no word.
    fn word(self, default: Self) -> String {
        match (self == default, self.descending) {
            (true, _) => String::new(),
            (false, true) => format!("-{}", self.by),
            (false, false) => self.by.to_owned(),
        }
    }

    fn view<R>(self, columns: &[Column<R>], word: &str) -> View {
        let sort = self.asked(columns, word);
        View {
            sort: Some(sort.by.to_owned()).filter(|by| !by.is_empty()),
            descending: Some(sort.descending),
            ..View::default()
        }
    }
}

/// Where a page begins, as its address says.
#[derive(Debug, Clone, Default)]
struct Place {
    /// The rows before it.
    at: u64,
    /// The `next` of the page before, in lists that go on behind a row.
    page: Option<i64>,
    /// The places of the pages before it, the first one left out.
    trail: Vec<i64>,
}

impl Place {
    fn parse(asked: &Typed) -> Self {
        let trail = asked.get("trail").split('.');
        Self {
            at: asked.get("at").parse().unwrap_or(0),
            page: asked.get("page").parse().ok(),
            trail: trail.filter_map(|place| place.parse().ok()).collect(),
        }
    }

    /// The link to this place in a list.
    fn link(&self, list: &Link) -> Link {
        let trail: Vec<_> = self.trail.iter().map(ToString::to_string).collect();
        list.clone()
            .with_some("page", self.page)
            .with_some("at", (self.at > 0).then_some(self.at))
            .with("trail", trail.join("."))
    }

    /// The place of the page behind, which begins `at` this row and is told by `next`.
    fn next(&self, at: u64, next: Option<i64>) -> Self {
        let mut trail = self.trail.clone();
        trail.extend(self.page);
        let skipped = trail.len().saturating_sub(LONGEST_TRAIL);
        Self {
            at,
            page: next,
            trail: trail.split_off(skipped),
        }
    }

    fn previous(&self, size: u64) -> Self {
        let mut trail = self.trail.clone();
        Self {
            at: self.at.saturating_sub(size),
            page: trail.pop(),
            trail,
        }
    }
}

/// The pages around a place. In a list `by_row`, the `next` of a page names a row, elsewhere the number of rows.
fn pages<R>(
    link: &Link,
    place: &Place,
    by_row: bool,
    size: u64,
    listed: &Listed<R>,
    [one, many]: [&str; 2],
) -> Pages {
    let at = place.at;
    let end = at + listed.items.len() as u64;
    let next = listed
        .next
        .map(|next| place.next(end, by_row.then_some(next)));
    let is_first = at == 0 && place.page.is_none();
    let previous = (!is_first).then(|| place.previous(size));
    let number = |number: u64| filters::grouped(&number.to_string());
    let more = if listed.is_more { "+" } else { "" };
    let range = format!("{}–{}", number(at + 1), number(end));
    let shown = match listed.total {
        _ if listed.items.is_empty() => String::new(),
        Some(1) => format!("1 {one}"),
        Some(total) if is_first && end == total && more.is_empty() => {
            format!("{} {many}", number(total))
        }
        // Rows come and go while one turns pages.
        Some(total) => format!("{range} of {}{more} {many}", number(total.max(end))),
        None if is_first && next.is_none() => format!("{} {many}", number(end)),
        None => range,
    };
    Pages {
        first: previous.is_some().then(|| link.clone()),
        previous: previous.map(|previous| previous.link(link)),
        next: next.map(|next| next.link(link)),
        shown,
    }
}

impl Shown {
    pub(crate) fn is_filtered(&self) -> bool {
        let link = self.filters.link("");
        !link.parameters().is_empty() || !self.errors().is_empty()
    }

    pub(crate) fn errors(&self) -> &Errors {
        &self.filters.errors
    }

    /// Describes the filters that links set.
    pub(crate) fn notes(&self) -> impl Iterator<Item = &str> {
        self.filters
            .all
            .iter()
            .filter_map(|filter| match &filter.kind {
                FilterKind::Kept(note) if !note.is_empty() => Some(note.as_str()),
                _ => None,
            })
    }

    /// Whether the form has a filter that one can fill in.
    pub(crate) fn has_filters(&self) -> bool {
        let mut all = self.filters.all.iter();
        all.any(|filter| !matches!(filter.kind, FilterKind::Kept(_)))
    }

    pub(crate) fn has_folded(&self) -> bool {
        self.filters.all.iter().any(Filter::is_folded)
    }

    /// An address that leads back to this page afterwards.
    pub(crate) fn with_way_back(&self, to: &str) -> String {
        with_way_back(to, &self.here)
    }

    pub(crate) fn many(&self) -> &'static str {
        self.words[1]
    }

    pub(crate) fn empty_message(&self) -> String {
        match &self.empty {
            Some(empty) => empty.message.clone(),
            None => format!("No {} yet.", self.words[1]),
        }
    }

    pub(crate) fn empty_step(&self) -> Option<(&'static str, &'static str)> {
        self.empty.as_ref().and_then(|empty| empty.step)
    }
}

/// The pages before are remembered up to so many.
const LONGEST_TRAIL: usize = 100;
const SIZE: u64 = 50;
/// The rows of a page, to choose from.
const SIZES: [u64; 4] = [25, SIZE, 100, 500];

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(rows: usize, total: Option<u64>, next: Option<i64>) -> Listed<i64> {
        Listed {
            items: vec![0; rows],
            total,
            next,
            ..Listed::none()
        }
    }

    #[test]
    fn pages_by_numbers_end_where_the_list_does() {
        let link = Link::to("/repositories").with("text", "x");
        let words = ["repository", "repositories"];
        let at = |at| Place {
            at,
            ..Place::default()
        };

        let pager = pages(
            &link,
            &at(50),
            false,
            50,
            &listed(50, Some(120), Some(100)),
            words,
        );

        assert_eq!(pager.previous.unwrap().to_string(), "/repositories?text=x");
        let next = pager.next.unwrap().to_string();
        assert_eq!(next, "/repositories?text=x&at=100");
        assert_eq!(pager.shown, "51–100 of 120 repositories");
        let last = pages(
            &link,
            &at(100),
            false,
            50,
            &listed(20, Some(120), None),
            words,
        );
        assert!(last.next.is_none() && last.first.is_some());
        let one = pages(&link, &at(0), false, 50, &listed(1, Some(1), None), words);
        assert_eq!(one.shown, "1 repository");
    }

    #[test]
    fn pages_behind_a_row_know_the_way_back_and_that_more_rows_were_not_counted() {
        let link = Link::to("/documents");
        let listed = Listed {
            is_more: true,
            ..listed(50, Some(10_000), Some(170))
        };
        let mut asked = Typed::default();
        asked.set("at", "100");
        asked.set("page", "120");
        asked.set("trail", "60");

        let place = Place::parse(&asked);
        let pager = pages(&link, &place, true, 50, &listed, ["document", "documents"]);

        assert_eq!(pager.shown, "101–150 of 10\u{202f}000+ documents");
        let previous = pager.previous.unwrap().to_string();
        assert_eq!(previous, "/documents?page=60&at=50");
        let next = pager.next.unwrap().to_string();
        assert_eq!(next, "/documents?page=170&at=150&trail=60.120");
    }

    #[test]
    fn a_column_is_sorted_the_other_way_when_asked_again() {
        let default = Sort {
            by: "name",
            descending: false,
        };
        let name = Column::new("name", "Name", |_: &i64| Cell::None("")).smallest_first();
        let size = Column::new("size", "Size", |_: &i64| Cell::None("")).largest_first();
        let link = Link::to("/x");
        let columns = [name, size];

        let sort = default.asked(&columns, "-size");

        let heads = columns
            .each_ref()
            .map(|column| column.head(&link, sort, default));
        let links = heads
            .each_ref()
            .map(|head| head.link.as_ref().unwrap().to_string());
        assert_eq!(links, ["/x", "/x?sort=size"]);
        assert_eq!(heads.map(|head| head.direction), ["none", "descending"]);
        assert_eq!(default.asked(&columns, "elsewhere"), default);
        let filters = Filters::new(Typed::default());
        assert!(filters.link("/x").parameters().is_empty());
    }
}
