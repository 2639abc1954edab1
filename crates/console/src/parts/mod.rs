//! What pages are made of beside text: links with parameters, errors of fields, pages of lists, charts. Their looks are
//! in `templates/parts.html`.

mod chart;
mod confirm;
mod errors;
mod link;
mod pager;

pub(crate) use chart::{Bar, Chart};
pub(crate) use confirm::Confirm;
pub(crate) use errors::Errors;
pub(crate) use link::Link;
pub(crate) use pager::{Pager, Sorting};
