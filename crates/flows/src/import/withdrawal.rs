//! Documents leave the collection after their resources were deleted at the source, if that is wanted: a harvest that
//! unpacks knows of deletions, and an import of its mirror meets only what is there.

use catalog::Removal;
use document::url::normalise;

use super::ImportOrder;
use super::keeping::Keeping;
use super::sources::harvested::{Harvested, is_data_directory};
use crate::curation::trash::tidy_trash;

/// Moves documents to the trash whose resources were deleted, according to the harvests of the data directories that an
/// order names. Returns their number. What is deleted comes back with an import after it was harvested again.
pub(super) fn withdraw(keeping: &Keeping<'_>, order: &ImportOrder) -> anyhow::Result<u64> {
    if !order.mirror_deletions {
        return Ok(0);
    }
    let roots = order.limits().roots;
    let mut withdrawn = 0;
    for data in order.paths.iter().filter(|path| is_data_directory(path)) {
        Harvested::each_deleted(data, &roots, &mut |urls| {
            withdrawn += withdraw_some(keeping, urls)?;
            Ok(())
        })?;
    }
    if withdrawn > 0 {
        tidy_trash(keeping.holdings)?;
    }
    Ok(withdrawn)
}

fn withdraw_some(keeping: &Keeping<'_>, urls: &[String]) -> anyhow::Result<u64> {
    let catalog = keeping.holdings.catalog();
    let keys: Vec<_> = urls
        .iter()
        .filter_map(|url| Some(normalise(url).ok()?.md5))
        .collect();
    let documents = keeping.holdings.wait(catalog.documents_at(&keys))?;
    if documents.is_empty() {
        return Ok(0);
    }
    keeping.hold()?;
    let removal = Removal {
        reason: "deleted at the source, as its harvest tells".to_owned(),
        by: None,
        is_takedown: false,
        only_failed: false,
    };
    let removed = keeping
        .holdings
        .wait(catalog.remove_documents(&documents, &removal))?;
    Ok(removed.len() as u64)
}
