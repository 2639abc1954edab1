//! Contents: those that a group brings, older ones that are kept, and those that nobody needs any more.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::Import;
use super::commit::Superfluous;
use super::documents::Content;
use super::fold::Folded;
use crate::collection::{judgements, keep_trashed};
use crate::database::Transaction;
use crate::database::rows::batch;
use crate::{CaptureRow, ContentRow, Error, Placement};

/// The columns of a content, in the order of the statement that writes them.
#[derive(Serialize)]
struct Columns<'a>(i64, &'a str, &'a str, u64, &'a str, &'a str);

/// The contents of a group.
#[derive(Default)]
pub(super) struct Written<'a> {
    /// The numbers of all that its documents need, by their SHA-1.
    pub(super) numbers: HashMap<&'a str, i64>,
    /// The numbers of those that were not there before.
    pub(super) fresh: HashSet<i64>,
    /// The SHA-1 of those.
    pub(super) fresh_sha1s: Vec<&'a str>,
    /// Their bytes.
    pub(super) bytes: u64,
    /// Files that were stored for nothing.
    pub(super) superfluous: Vec<Superfluous>,
}

impl Written<'_> {
    /// Adds files that this import may have stored before it was killed, and that turned out not to be needed.
    fn add_left(&mut self, rows: &[CaptureRow], reserved: &HashMap<String, i64>) {
        let mut told: HashSet<i64> = self.superfluous.iter().map(|file| file.number).collect();
        for row in rows {
            if let ContentRow::Bytes {
                sha1, extension, ..
            } = &row.content
                && let Some(number) = reserved.get(sha1)
                && !self.fresh.contains(number)
                && told.insert(*number)
            {
                self.superfluous.push(Superfluous {
                    number: *number,
                    extension: extension.clone(),
                });
            }
        }
    }
}

/// Writes the contents that documents of the group need.
pub(super) async fn write<'a>(
    transaction: &mut Transaction,
    rows: &'a [CaptureRow],
    placements: &[Placement],
    needed: &HashSet<&str>,
    known: &HashMap<String, Content>,
    reserved: &HashMap<String, i64>,
) -> Result<Written<'a>, Error> {
    let mut written = Written::default();
    let (mut new, mut restored) = (Vec::new(), Vec::new());
    for (row, placement) in rows.iter().zip(placements) {
        let ContentRow::Bytes {
            sha1,
            sha256,
            size,
            extension,
        } = &row.content
        else {
            continue;
        };
        let content = known.get(sha1);
        if let Some(content) = content {
            written.numbers.insert(sha1, content.id);
        }
        let Placement::Store { number } = *placement else {
            continue;
        };
        match content {
            Some(content) if content.id == number => {
                restored.push((number,));
            }
            None if needed.contains(sha1.as_str())
                && !written.numbers.contains_key(sha1.as_str()) =>
            {
                written.numbers.insert(sha1, number);
                written.fresh.insert(number);
                written.fresh_sha1s.push(sha1);
                written.bytes += size;
                new.push(Columns(
                    number,
                    sha1,
                    sha256,
                    *size,
                    &row.media_type,
                    extension,
                ));
            }
            // Another import was quicker with the same, or with something newer.
            _ => written.superfluous.push(Superfluous {
                number,
                extension: extension.clone(),
            }),
        }
    }
    written.add_left(rows, reserved);
    if !new.is_empty() {
        let sql = "INSERT INTO content (id, sha1, sha256, size, media_type, extension)
             SELECT CAST(item.value->>0 AS BIGINT), item.value->>1, item.value->>2, CAST(item.value->>3 AS BIGINT),
                 item.value->>4, item.value->>5
             FROM {each($1)} WHERE true";
        transaction.execute(sql, [batch(&new)]).await?;
        judgements::repeat(transaction, &written.fresh_sha1s).await?;
    }
    if !restored.is_empty() {
        let sql = "UPDATE content SET stored = 1 WHERE id {integers($1)}";
        transaction.execute(sql, [batch(&restored)]).await?;
    }
    Ok(written)
}

/// Keeps older contents of documents, and forgets that what a document has now was one.
pub(super) async fn keep_versions(
    transaction: &mut Transaction,
    folded: &Folded<'_>,
    numbers: &HashMap<&str, i64>,
) -> Result<(), Error> {
    let (mut kept, mut current) = (Vec::new(), Vec::new());
    for document in &folded.documents {
        let Some(claim) = &document.now.claim else {
            continue;
        };
        let (md5, now) = (document.row.md5.as_str(), claim.sha1.as_str());
        for (sha1, crawled) in &document.older {
            if sha1 != now {
                kept.push((md5, sha1.as_str(), *crawled));
            }
        }
        let before = document.before.and_then(|before| before.claim.as_ref());
        if before.is_some_and(|before| before.sha1 != now)
            && let Some(number) = numbers.get(now)
        {
            current.push((md5, *number));
        }
    }
    if !current.is_empty() {
        let sql = "DELETE FROM version WHERE EXISTS (SELECT 1 FROM {each($1)}
             JOIN document ON document.md5 = item.value->>0
             WHERE version.document_id = document.id AND version.content_id = CAST(item.value->>1 AS BIGINT))";
        transaction.execute(sql, [batch(&current)]).await?;
    }
    if !kept.is_empty() {
        let sql = "INSERT INTO version (document_id, content_id, crawl_date)
             SELECT document.id, content.id, CAST(item.value->>2 AS BIGINT)
             FROM {each($1)} JOIN document ON document.md5 = item.value->>0
                 JOIN content ON content.sha1 = item.value->>1
             WHERE true
             ON CONFLICT (document_id, content_id) DO UPDATE SET crawl_date = excluded.crawl_date
             WHERE excluded.crawl_date > version.crawl_date";
        transaction.execute(sql, [batch(&kept)]).await?;
    }
    Ok(())
}

/// Removes contents that no document has any more, of those that some had and those that were doomed before. One that
/// another import counts on is doomed.
pub(super) async fn remove_superfluous(
    transaction: &mut Transaction,
    import: &Import,
    had: &[(i64,)],
) -> Result<Vec<Superfluous>, Error> {
    let doomed = transaction
        .rows("SELECT id FROM content WHERE doomed = 1", [])
        .await?;
    if had.is_empty() && doomed.is_empty() {
        return Ok(Vec::new());
    }
    let mut had = had.to_vec();
    for row in doomed {
        had.push((row.integer("id")?,));
    }
    let sql = "UPDATE content SET doomed = CASE WHEN EXISTS (SELECT 1 FROM document WHERE content_id = content.id)
             OR EXISTS (SELECT 1 FROM version WHERE content_id = content.id) THEN 0 ELSE 1 END
         WHERE id {integers($1)} RETURNING id, doomed";
    let pinned = pinned(transaction, Some(import.id())).await?;
    let mut removed = Vec::new();
    for row in transaction.rows(sql, [batch(&had)]).await? {
        let id = row.integer("id")?;
        if row.flag("doomed")? && !pinned.contains(&id) {
            removed.push((id,));
        }
    }
    let removed = keep_trashed(transaction, removed).await?;
    let sql = "DELETE FROM content WHERE id {integers($1)} RETURNING id, extension";
    let rows = transaction.rows(sql, [batch(&removed)]).await?;
    let superfluous = |row: &crate::database::Row| {
        Ok(Superfluous {
            number: row.integer("id")?,
            extension: row.text("extension")?,
        })
    };
    rows.iter().map(superfluous).collect()
}

/// The contents that imports other than `import` count on.
pub(crate) async fn pinned(
    transaction: &mut Transaction,
    import: Option<i64>,
) -> Result<HashSet<i64>, Error> {
    let sql =
        "SELECT pinned FROM import WHERE state = 'running' AND id <> $1 AND pinned IS NOT NULL";
    let mut pinned = HashSet::new();
    for row in transaction.rows(sql, [import.unwrap_or(0).into()]).await? {
        let numbers: Vec<i64> = serde_json::from_str(&row.text("pinned")?).unwrap_or_default();
        pinned.extend(numbers);
    }
    Ok(pinned)
}
