//! Old backups are removed, and the objects that no backup needs any more.

use std::collections::HashSet;

use super::place::{LISTS, Place, object_name};

/// Keeps the newest `keep` backups; how many were removed.
pub(super) fn prune(place: &Place, keep: usize) -> anyhow::Result<u64> {
    let mut lists = place.lists()?;
    let kept = lists.split_off(lists.len().saturating_sub(keep.max(1)));
    if lists.is_empty() {
        return Ok(0);
    }
    // A list that cannot be read may need any object: then nothing is removed.
    let mut needed = HashSet::new();
    for name in &kept {
        let mut list = place.open_list(name)?;
        needed.insert(list.header.catalog.sha256.clone());
        while let Some(entry) = list.next_entry()? {
            needed.insert(entry.sha256);
        }
    }
    for name in &lists {
        place.remove(&format!("{LISTS}/{name}.jsonl.gz"))?;
    }
    place.each_object(&mut |sha256| match needed.contains(sha256) {
        true => Ok(()),
        false => place.remove(&object_name(sha256)),
    })?;
    Ok(lists.len() as u64)
}
