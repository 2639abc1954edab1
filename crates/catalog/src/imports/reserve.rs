//! Numbers for contents that are new, before their files are written.
//!
//! They are kept with the import, so that one that is killed gives the same content the same number when it goes on, and
//! leaves no file behind.

use std::collections::{HashMap, HashSet};

use super::Import;
use super::documents::{Loaded, numbers};
use super::fold::Folded;
use super::lease::lock_collection;
use crate::{CaptureRow, Catalog, ContentRow, Error, Placement};

impl Catalog {
    /// Tells for each capture of a group, in their order, what is to be done with its bytes. To be called before their
    /// files are placed; [`Catalog::commit_group`] is told what came of it.
    pub async fn reserve(
        &self,
        import: &mut Import,
        rows: &[CaptureRow],
    ) -> Result<Vec<Placement>, Error> {
        let mut transaction = self.database.write().await?;
        lock_collection(&mut transaction).await?;
        import.lease.check(&mut transaction).await?;
        let loaded = Loaded::read(&mut transaction, rows).await?;
        let folded = Folded::new(rows, &loaded, import.keep_versions);
        let needed = folded.needed(import.keep_versions);

        let is_new = |sha1: &&str| {
            !loaded.contents.contains_key(*sha1) && !import.reserved.contains_key(*sha1)
        };
        let bytes = rows.iter().filter_map(CaptureRow::bytes);
        let mut new: Vec<&str> = bytes
            .filter(|sha1| needed.contains(sha1))
            .filter(is_new)
            .collect();
        let mut seen = HashSet::new();
        new.retain(|sha1| seen.insert(*sha1));
        let first = match new.len() {
            0 => 0,
            count => numbers(&mut transaction, count).await?,
        };
        let reserved: Vec<_> = new.into_iter().zip(first..).collect();
        let mut all: HashMap<&str, i64> = import
            .reserved
            .iter()
            .map(|(sha1, number)| (sha1.as_str(), *number))
            .collect();
        all.extend(reserved.iter().copied());
        let (placements, pinned) = place(rows, &loaded, &needed, &all);

        import.lease.keep(&mut transaction).await?;
        let sql = "UPDATE import SET reserved = $2, pinned = $3 WHERE id = $1";
        let values = [
            import.id().into(),
            serde_json::to_string(&all)
                .expect("texts and numbers can be written")
                .into(),
            serde_json::to_string(&pinned)
                .expect("numbers can be written")
                .into(),
        ];
        transaction.execute(sql, values).await?;
        transaction.commit().await?;
        let reserved = reserved
            .into_iter()
            .map(|(sha1, number)| (sha1.to_owned(), number));
        import.reserved.extend(reserved);
        import.loaded = Some(loaded);
        Ok(placements)
    }
}

/// The placement of each capture, and the contents that are there and have to stay.
fn place(
    rows: &[CaptureRow],
    loaded: &Loaded,
    needed: &HashSet<&str>,
    reserved: &HashMap<&str, i64>,
) -> (Vec<Placement>, Vec<i64>) {
    let mut pinned = HashSet::new();
    let mut stored = HashSet::new();
    let mut placements = Vec::with_capacity(rows.len());
    for row in rows {
        let sha1 = row.bytes().filter(|sha1| needed.contains(sha1));
        let Some(sha1) = sha1 else {
            placements.push(Placement::Nothing);
            continue;
        };
        let (number, is_there) = match loaded.contents.get(sha1) {
            Some(content) => {
                pinned.insert(content.id);
                (content.id, content.is_stored)
            }
            None => (reserved.get(sha1).copied().unwrap_or_default(), false),
        };
        placements.push(match is_there || !stored.insert(sha1) {
            true => Placement::Known { number },
            false => Placement::Store { number },
        });
    }
    let mut pinned: Vec<_> = pinned.into_iter().collect();
    pinned.sort_unstable();
    (placements, pinned)
}

impl CaptureRow {
    /// The SHA-1 of its bytes, if it has any.
    fn bytes(&self) -> Option<&str> {
        match &self.content {
            ContentRow::Bytes { sha1, .. } => Some(sha1),
            _ => None,
        }
    }
}
