//! Changes of documents, for those who keep a copy of the collection: a search engine, another program.

use serde::Serialize;

use super::ChangePosition;
use super::group::Kind;
use crate::database::rows::batch;
use crate::database::{Row, Transaction};
use crate::{Catalog, Error};

/// A document that was added, changed or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DocumentChange {
    /// The place behind it, to go on from.
    pub position: ChangePosition,
    /// When it became known here, in seconds.
    pub at: i64,
    /// The number of the document.
    pub document: i64,
    /// Whether it is gone.
    pub removed: bool,
}

/// A group whose rows are to be read.
struct Group {
    id: i64,
    seq: i64,
    at: i64,
    kind: Kind,
    size: i64,
}

/// How many groups are looked up at once.
const GROUPS: u64 = 200;

impl Catalog {
    /// Documents that changed behind a place, at most `limit`, the last change of each, in the order in which the changes
    /// became visible. None means that there are no more: whatever changes later stands behind the last place given.
    pub async fn document_changes(
        &self,
        since: ChangePosition,
        limit: u64,
    ) -> Result<Vec<DocumentChange>, Error> {
        let mut transaction = self.database.read().await?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut changes = Vec::new();
        let mut after = since;
        while changes.len() < limit {
            let groups = groups(&mut transaction, after).await?;
            let Some(last) = groups.last().map(|group| group.seq) else {
                break;
            };
            let mut rest = &groups[..];
            while let [first, ..] = rest
                && changes.len() < limit
            {
                let room = limit - changes.len();
                let (some, behind) = rest.split_at(together(rest, room));
                let begin = if first.seq == after.seq { after.id } else { 0 };
                changes.append(&mut rows(&mut transaction, some, begin, room).await?);
                rest = behind;
            }
            after = ChangePosition {
                seq: last,
                id: i64::MAX,
            };
        }
        changes.truncate(limit);
        Ok(changes)
    }
}

/// The groups of documents and their tombstones from a place on.
async fn groups(transaction: &mut Transaction, after: ChangePosition) -> Result<Vec<Group>, Error> {
    let from = match after.id {
        i64::MAX => after.seq.saturating_add(1),
        _ => after.seq,
    };
    let sql = format!(
        "SELECT CASE WHEN initial = 1 THEN 0 ELSE id END AS id, seq, at, kind, size FROM change_group
         WHERE repository_id = 0 AND seq >= $1 ORDER BY seq LIMIT {GROUPS}"
    );
    let rows = transaction.rows(&sql, [from.into()]).await?;
    let group = |row: &Row| {
        Ok(Group {
            id: row.integer("id")?,
            seq: row.integer("seq")?,
            at: row.integer("at")?,
            kind: Kind::of(row.integer("kind")?),
            size: row.integer("size")?,
        })
    };
    rows.iter().map(group).collect()
}

/// How many of the groups are read by one statement: small ones of one kind that fit.
fn together(groups: &[Group], room: usize) -> usize {
    let mut rows = 0;
    let fits = |group: &&Group| {
        rows += usize::try_from(group.size).unwrap_or(usize::MAX);
        rows <= room && group.kind == groups[0].kind
    };
    groups.iter().take_while(fits).count().max(1)
}

/// The rows of some groups: of several all of them, of one those behind a number.
async fn rows(
    transaction: &mut Transaction,
    groups: &[Group],
    after: i64,
    room: usize,
) -> Result<Vec<DocumentChange>, Error> {
    let kind = groups[0].kind;
    let subject = match kind {
        Kind::Tombstones => "subject_id",
        _ => "id",
    };
    let select = format!(
        "SELECT change_id, id, {subject} AS subject FROM {}",
        kind.table()
    );
    let rows = if let [group] = groups {
        let sql = format!("{select} WHERE change_id = $1 AND id > $2 ORDER BY id LIMIT {room}");
        transaction
            .rows(&sql, [group.id.into(), after.into()])
            .await?
    } else {
        let sql =
            format!("{select} WHERE change_id {{integers($1)}} AND (change_id <> $2 OR id > $3)");
        let keys: Vec<_> = groups.iter().map(|group| (group.id,)).collect();
        let values = [batch(&keys), groups[0].id.into(), after.into()];
        transaction.rows(&sql, values).await?
    };
    let mut changes = Vec::with_capacity(rows.len());
    for row in &rows {
        let id = row.integer("change_id")?;
        let Some(group) = groups.iter().find(|group| group.id == id) else {
            continue;
        };
        changes.push(DocumentChange {
            position: ChangePosition {
                seq: group.seq,
                id: row.integer("id")?,
            },
            at: group.at,
            document: row.integer("subject")?,
            removed: kind == Kind::Tombstones,
        });
    }
    changes.sort_by_key(|change| change.position);
    Ok(changes)
}
