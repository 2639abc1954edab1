//! Reads answers as a stream: one record in memory, whatever the length of the page.

mod attributes;
mod decompress;
mod draft;
mod entities;
mod names;
mod namespaces;
mod page;
mod plain;
mod record;
mod references;
mod rules;
mod sniff;
mod text;
mod values;

pub(crate) use page::{Found, PageReader, Report};
pub use rules::{Leniency, ReadRules};
pub(crate) use sniff::is_answer;
