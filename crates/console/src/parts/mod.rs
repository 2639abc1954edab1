//! Building blocks of pages: links with parameters, errors of fields, pages of lists, charts. Their looks are
//! in `templates/parts.html`.

mod chart;
mod confirm;
mod errors;
pub(crate) mod filter;
pub(super) mod filters;
mod link;
mod moment;
mod pager;
#[allow(
    dead_code,
    reason = "the lists that use the rest of it come one by one"
)]
pub(crate) mod table;
mod typed;

pub(crate) use chart::{Bar, Chart};
pub(crate) use confirm::Confirm;
pub(crate) use errors::Errors;
pub(crate) use link::{Link, escaped};
pub(crate) use moment::{moment, shown};
pub(crate) use pager::Pager;
pub(crate) use typed::{SECRETS, Typed};

use crate::filters::Plain;

/// Whether an option is the one that is chosen.
pub(crate) fn is_chosen(value: &str, chosen: &str) -> bool {
    value == chosen
}

/// Whether a total is more than nothing: how far something is cannot be told without it.
pub(crate) fn is_known(total: impl Plain<u64>) -> bool {
    total.plain() > 0
}
