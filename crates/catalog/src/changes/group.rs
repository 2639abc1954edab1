//! Groups of changes: opened when a transaction first changes something, numbered when it commits.

use crate::Error;
use crate::database::Transaction;

/// The subject of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Records,
    Documents,
    Tombstones,
}

/// A group of a transaction that is not committed.
#[derive(Debug)]
pub(crate) struct OpenGroup {
    id: i64,
    kind: Kind,
    repository: i64,
    metadata_prefix: String,
    size: u64,
}

/// The greatest rank of a group in its second. After it, time runs ahead by a second.
const LAST_RANK: i64 = (1 << 20) - 1;

impl Kind {
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Records => 0,
            Self::Documents => 1,
            Self::Tombstones => 2,
        }
    }

    pub(crate) fn of(number: i64) -> Self {
        match number {
            0 => Self::Records,
            1 => Self::Documents,
            _ => Self::Tombstones,
        }
    }

    /// The table that its rows are in.
    pub(crate) fn table(self) -> &'static str {
        match self {
            Self::Records => "record",
            Self::Documents => "document",
            Self::Tombstones => "tombstone",
        }
    }
}

/// The number with which `rows` rows of a transaction are to be stamped. Documents are of no repository and no format.
pub(crate) async fn open(
    transaction: &mut Transaction,
    kind: Kind,
    (repository, metadata_prefix): (i64, &str),
    rows: usize,
) -> Result<i64, Error> {
    let is_same = |group: &&mut OpenGroup| {
        group.kind == kind
            && group.repository == repository
            && group.metadata_prefix == metadata_prefix
    };
    if let Some(group) = transaction.groups.iter_mut().find(is_same) {
        group.size += rows as u64;
        return Ok(group.id);
    }
    let sql = "INSERT INTO change_group (kind, repository_id, metadata_prefix) VALUES ($1, $2, $3) RETURNING id";
    let values = [
        kind.number().into(),
        repository.into(),
        metadata_prefix.into(),
    ];
    let row = transaction.row(sql, values).await?;
    let id = row.map_or(Ok(0), |row| row.integer("id"))?;
    transaction.groups.push(OpenGroup {
        id,
        kind,
        repository,
        metadata_prefix: metadata_prefix.to_owned(),
        size: rows as u64,
    });
    Ok(id)
}

/// Numbers the groups of a transaction, which is committed right after that: until then no other gets a number.
pub(crate) async fn close(transaction: &mut Transaction) -> Result<(), Error> {
    let groups = std::mem::take(&mut transaction.groups);
    if groups.is_empty() {
        return Ok(());
    }
    // The clock is read once: between two readings a second may begin.
    let sql = format!(
        "UPDATE change_state SET seq = seq + $1,
             at = CASE WHEN clock.now > at THEN clock.now WHEN rank + $1 > {LAST_RANK} THEN at + 1 ELSE at END,
             rank = CASE WHEN clock.now > at OR rank + $1 > {LAST_RANK} THEN $1 ELSE rank + $1 END
         FROM (SELECT {{now}} AS now) AS clock RETURNING seq, at, rank"
    );
    let count = i64::try_from(groups.len()).unwrap_or(LAST_RANK);
    let row = transaction.row(&sql, [count.into()]).await?;
    let Some(row) = row else { return Ok(()) };
    let (seq, at, rank) = (
        row.integer("seq")?,
        row.integer("at")?,
        row.integer("rank")?,
    );
    for (number, group) in (0..).zip(groups) {
        let sql = "UPDATE change_group SET seq = $2, at = $3, rank = $4, size = $5 WHERE id = $1";
        let values = [
            group.id.into(),
            (seq - count + 1 + number).into(),
            at.into(),
            (rank - count + number).into(),
            group.size.into(),
        ];
        transaction.execute(sql, values).await?;
    }
    Ok(())
}
