//! Reads answers as a stream: one record in memory, whatever the length of the page.
//!
//! Records are read in two ways. `plain` scans a record that lies whole in memory and needs no repair; `record` takes the
//! events of quick-xml and reads all others, with repairs as rules on top. Both give the same bytes, which a fuzz target
//! checks. The scanner is bought: 50,000 `oai_dc` records (41 MB) take 0.041 s of processor time, and 0.141 s with
//! quick-xml alone, 3.4 times as much (`docs/benchmarks/budget.md`).

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

pub(crate) use decompress::{decoded, plain_bytes};
pub(crate) use page::{PageItem, PageReader, Report, StaticPart};
pub use rules::{Leniency, ReadRules};
pub(crate) use sniff::is_answer;
