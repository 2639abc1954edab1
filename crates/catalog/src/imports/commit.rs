//! A group of captures: its documents, its counters and how far its source was read, committed together.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::documents::{self, Loaded};
use super::extractions::note_loaded;
use super::finish::written;
use super::fold::{Document, Folded};
use super::lease::lock_collection;
use super::{Import, contents, outdated, parents, revisits};
use crate::collection::{judgements, remove_taken_down};
use crate::database::Transaction;
use crate::database::bounded::clean;
use crate::database::rows::{BATCH, batch};
use crate::{
    CaptureOutcome, CaptureRow, Catalog, Error, ImportCounters, ImportWarning, JudgementRow,
    Placement,
};

/// A group to be committed.
#[derive(Debug, Clone, Copy)]
pub struct GroupCommit<'a> {
    /// Its captures, all of which [`Catalog::reserve`] was asked about at once; those whose bytes could not be stored
    /// are left out.
    pub rows: &'a [CaptureRow],
    /// The placement of the bytes of each.
    pub placements: &'a [Placement],
    /// Which of the import's sources they are from.
    pub source: usize,
    /// How far the source was read.
    pub position: u64,
    /// Whether that is its end.
    pub source_done: bool,
    /// Counters that the rows do not give; those of the rows are added.
    pub counters: ImportCounters,
    /// The skipped captures.
    pub warnings: &'a [ImportWarning],
    /// Judgements of texts, also of contents that are not kept.
    pub judgements: &'a [JudgementRow],
}

/// The outcome of a group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupOutcome {
    /// The outcome of each capture, in their order.
    pub outcomes: Vec<CaptureOutcome>,
    /// The number of each capture's document, in their order; `None` where the URL is only heard of.
    pub documents: Vec<Option<i64>>,
    /// Contents whose files are to be removed now, if there are any: nothing in the catalog speaks of them any more.
    pub superfluous: Vec<Superfluous>,
}

/// A content that is not needed any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Superfluous {
    /// Its number.
    pub number: i64,
    /// How the name of its file ends, without a dot.
    pub extension: String,
}

impl Catalog {
    /// Commits a group: all of it or nothing.
    ///
    /// If the connection broke at that moment, whoever tries again is told that the import is lost, and goes on with it
    /// from where it is.
    pub async fn commit_group(
        &self,
        import: &mut Import,
        group: GroupCommit<'_>,
    ) -> Result<GroupOutcome, Error> {
        let mut transaction = self.database.write().await?;
        lock_collection(&mut transaction).await?;
        import.lease.check(&mut transaction).await?;
        let loaded = match import.loaded.take() {
            Some(loaded) if loaded.holds(&mut transaction, group.rows).await? => loaded,
            _ => Loaded::read(&mut transaction, group.rows).await?,
        };
        let mut outcome = GroupOutcome::default();
        let mut counters = group.counters;
        if !group.rows.is_empty() {
            let bytes = write(&mut transaction, import, group, &loaded, &mut outcome).await?;
            counters.bytes_saved += bytes;
        }
        judgements::write(&mut transaction, group.judgements).await?;
        for (row, outcome) in group.rows.iter().zip(&outcome.outcomes) {
            counters.count(row, *outcome);
        }
        import.lease.keep(&mut transaction).await?;
        let noted = noted(&import.counters, group.warnings);
        for warnings in noted.chunks(BATCH) {
            warn(&mut transaction, import.id(), warnings).await?;
        }
        let mut total = import.counters;
        total += counters;
        let mut reserved = import.reserved.clone();
        // A revisit names bytes that may come only now, under the number that is kept for them.
        let with_bytes = group.rows.iter().filter(|row| row.content.has_bytes());
        let committed: HashSet<_> = with_bytes.filter_map(|row| row.content.sha1()).collect();
        reserved.retain(|sha1, _| !committed.contains(sha1.as_str()));
        // By the next commit the files are gone.
        let sql = "UPDATE import SET counters = $2, reserved = $3, pinned = NULL, superfluous = $4,
                 groups = groups + 1
             WHERE id = $1 AND groups = $5";
        let superfluous = match outcome.superfluous.is_empty() {
            true => None,
            false => Some(
                serde_json::to_string(&outcome.superfluous)
                    .expect("texts and numbers can be written"),
            ),
        };
        let values = [
            import.id().into(),
            written(&total).into(),
            serde_json::to_string(&reserved)
                .expect("texts and numbers can be written")
                .into(),
            superfluous.as_deref().into(),
            import.groups.into(),
        ];
        // A commit that seemed to fail may have been made all the same.
        if transaction.execute(sql, values).await? == 0 {
            return Err(Error::ImportLost {
                import: import.id(),
            });
        }
        let sql = "UPDATE import_source SET position = $3, done = $4 WHERE import_id = $1 AND number = $2";
        let values = [
            import.id().into(),
            (group.source as u64).into(),
            group.position.into(),
            group.source_done.into(),
        ];
        transaction.execute(sql, values).await?;
        if group.source_done {
            note_loaded(&mut transaction, import).await?;
        }
        transaction.commit().await?;
        if group.source_done {
            import.extraction = None;
        }
        import.counters = total;
        import.groups += 1;
        import.reserved = reserved;
        import.preferred.clear();
        import.preferred_contents.clear();
        import.superfluous.clear();
        if let Some(source) = import.positions.get_mut(group.source) {
            source.position = group.position;
            source.done = group.source_done;
        }
        Ok(outcome)
    }
}

/// Writes all that the captures change, and gives the number of bytes that are new.
async fn write(
    transaction: &mut Transaction,
    import: &Import,
    group: GroupCommit<'_>,
    loaded: &Loaded,
    outcome: &mut GroupOutcome,
) -> Result<u64, Error> {
    let folded = Folded::new(group.rows, loaded, import.keep_versions);
    let needed = folded.needed(import.keep_versions);
    let written = contents::write(
        transaction,
        group.rows,
        group.placements,
        &needed,
        &loaded.contents,
        &import.reserved,
    )
    .await?;
    let numbers = written.numbers;
    let mut had = Vec::new();
    for document in &folded.documents {
        had.extend(document.replaced().map(|content| (content,)));
        let is_new = document.before.and_then(Document::sha1) != document.now.sha1();
        if let Some(claim) = document.now.claim.as_ref().filter(|_| is_new)
            && !numbers.contains_key(claim.sha1.as_str())
        {
            return Err(Error::NotReserved {
                url: document.row.url.clone(),
                sha1: claim.sha1.clone(),
            });
        }
    }
    let parents = parents::write(transaction, group.rows, &folded).await?;
    let changed = documents::write(
        transaction,
        import,
        &folded,
        &numbers,
        written.fresh,
        &parents,
    )
    .await?;
    outcome.documents = numbers_of(group.rows, &folded, &changed);
    if import.keep_versions {
        contents::keep_versions(transaction, &folded, &numbers).await?;
    }
    had.append(
        &mut revisits::write(transaction, import.id(), &folded, &written.fresh_sha1s).await?,
    );
    outdated::note(transaction, group.rows, &folded, &written.fresh_sha1s).await?;
    outcome.superfluous = written.superfluous;
    let removed = contents::remove_superfluous(transaction, import, &had).await?;
    outcome.superfluous.extend(removed);
    outcome.outcomes = folded.outcomes;
    // Takedowns since the group was read: their documents leave in the moment in which they come.
    let captures: Vec<_> = group.rows.iter().map(CaptureRow::identity).collect();
    remove_taken_down(transaction, import.id(), &captures).await?;
    documents::changed(transaction).await?;
    Ok(written.bytes)
}

/// The number of each row's document: the one it was written with, or had before.
fn numbers_of(
    rows: &[CaptureRow],
    folded: &Folded<'_>,
    changed: &HashMap<&str, i64>,
) -> Vec<Option<i64>> {
    let known = folded.documents.iter();
    let known = known.map(|document| (document.row.md5.as_str(), document.now.id));
    let mut numbers: HashMap<&str, i64> = known.filter(|(_, id)| *id > 0).collect();
    numbers.extend(changed);
    let of = |row: &CaptureRow| numbers.get(row.md5.as_str()).copied();
    rows.iter().map(of).collect()
}

/// The warnings that are kept: of usual ones as many as an import has of each.
fn noted<'a>(before: &ImportCounters, warnings: &'a [ImportWarning]) -> Vec<&'a ImportWarning> {
    let left = |count: u64| ImportWarning::MOST_USUAL.saturating_sub(count);
    let [other_types, status] = ImportWarning::USUAL;
    let mut left = HashMap::from([
        (other_types, left(before.filtered_mtf)),
        (status, left(before.skipped_status)),
    ]);
    let is_kept = |warning: &&ImportWarning| match left.get_mut(warning.kind.as_str()) {
        None => true,
        Some(0) => false,
        Some(left) => {
            *left -= 1;
            true
        }
    };
    warnings.iter().filter(is_kept).collect()
}

async fn warn(
    transaction: &mut Transaction,
    import: i64,
    warnings: &[&ImportWarning],
) -> Result<(), Error> {
    let number = |offset: u64| i64::try_from(offset).unwrap_or(i64::MAX);
    let warnings: Vec<_> = warnings
        .iter()
        .map(|warning| {
            let offset = warning.offset.map(number);
            (
                clean(&warning.file),
                offset,
                clean(&warning.reason),
                &warning.kind,
            )
        })
        .collect();
    let sql = "INSERT INTO import_warning (import_id, file, file_offset, reason, kind)
         SELECT $1, item.value->>0, CAST(item.value->>1 AS BIGINT), item.value->>2, item.value->>3 FROM {each($2)} WHERE true";
    transaction
        .execute(sql, [import.into(), batch(&warnings)])
        .await?;
    Ok(())
}
