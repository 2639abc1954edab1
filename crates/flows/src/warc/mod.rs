//! Archives by themselves: an index of one, whether it is whole, one record out of it.

mod cdxj;
mod check;
mod extract;
mod heads;
mod index;

pub use self::cdxj::CdxjLine;
pub use self::check::{WarcCheck, WarcProblem, check_archive};
pub use self::extract::{RecordPart, RecordWanted, extract_record};
pub use self::index::{IndexedWarc, index_archive, index_beside};

use std::path::Path;

use anyhow::{Context, bail};
use crawl::{Limits, Source};

use crate::Failure;

/// The archives at a path: one, or those in a WACZ or below a directory.
fn open(path: &Path) -> anyhow::Result<Vec<Source>> {
    std::fs::metadata(path).with_context(|| format!("`{}` cannot be read", path.display()))?;
    let sources = crawl::open(path, &Limits::default())
        .map_err(|error| Failure::new(Failure::NOT_AN_ARCHIVE, error.to_string()))?;
    if sources.is_empty() {
        let message = format!("there are no archives in `{}`", path.display());
        bail!(Failure::new(Failure::NOT_AN_ARCHIVE, message));
    }
    Ok(sources)
}
