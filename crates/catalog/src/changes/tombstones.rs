//! Tombstones: what is told of records and documents whose rows are gone.

use super::group::{Kind, open};
use super::{OF_DOCUMENTS, UNLISTED};
use crate::Error;
use crate::database::Transaction;
use crate::database::rows::{BATCH, batch};

/// Something that was buried before keeps its first number, by which it is known whose an identifier is.
const ON_CONFLICT: &str = "ON CONFLICT (repository_id, metadata_prefix, identifier) DO UPDATE SET \
     change_id = excluded.change_id, set_specs = excluded.set_specs, host = excluded.host, \
     media_type = excluded.media_type, kind = excluded.kind";

/// Buries records of one repository and format, which are deleted right after that.
pub(crate) async fn bury_records(
    transaction: &mut Transaction,
    of: (i64, &str),
    ids: &[i64],
) -> Result<(), Error> {
    let group = open(transaction, Kind::Tombstones, of, ids.len()).await?;
    let sql = format!(
        "INSERT INTO tombstone (change_id, subject_id, repository_id, metadata_prefix, identifier, identifier_in_full,
             set_specs)
         SELECT $2, record.id, record.repository_id, record.metadata_prefix, record.identifier,
             record.identifier_in_full,
             (SELECT string_agg(oai_set.set_spec, $3) FROM record_set JOIN oai_set ON oai_set.id = record_set.set_id
                 WHERE record_set.record_id = record.id)
         FROM record WHERE record.id {{integers($1)}} {ON_CONFLICT}"
    );
    for part in ids.chunks(BATCH) {
        let keys: Vec<_> = part.iter().map(|id| (id,)).collect();
        let values = [batch(&keys), group.into(), "\n".into()];
        transaction.execute(&sql, values).await?;
    }
    Ok(())
}

/// Records with these identifiers were added: they are not gone any more.
pub(crate) async fn revive_records(
    transaction: &mut Transaction,
    (repository, metadata_prefix): (i64, &str),
    identifiers: &[&str],
) -> Result<(), Error> {
    if identifiers.is_empty() {
        return Ok(());
    }
    let sql =
        "SELECT 1 AS one FROM tombstone WHERE repository_id = $1 AND metadata_prefix = $2 LIMIT 1";
    let values = [repository.into(), metadata_prefix.into()];
    if transaction.row(sql, values).await?.is_none() {
        return Ok(());
    }
    revive(transaction, (repository, metadata_prefix), identifiers).await
}

/// Buries documents that are there.
pub(super) async fn bury_documents(
    transaction: &mut Transaction,
    ids: &[i64],
) -> Result<(), Error> {
    let group = open(transaction, Kind::Tombstones, OF_DOCUMENTS, ids.len()).await?;
    let sql = format!(
        "INSERT INTO tombstone (change_id, subject_id, repository_id, metadata_prefix, identifier, host, media_type, kind)
         SELECT $2, document.id, 0, '', CAST(document.id AS TEXT), document.host, document.media_type, content.kind
         FROM document LEFT JOIN content ON content.id = document.content_id
         WHERE document.id {{integers($1)}} {ON_CONFLICT}"
    );
    let keys: Vec<_> = ids.iter().map(|id| (id,)).collect();
    transaction
        .execute(&sql, [batch(&keys), group.into()])
        .await?;
    Ok(())
}

/// Documents are back: their tombstones are listed no more, and their rows are again.
pub(super) async fn revive_documents(
    transaction: &mut Transaction,
    ids: &[i64],
) -> Result<(), Error> {
    let numbers: Vec<_> = ids.iter().map(i64::to_string).collect();
    let numbers: Vec<_> = numbers.iter().map(String::as_str).collect();
    revive(transaction, OF_DOCUMENTS, &numbers).await?;
    for part in ids.chunks(BATCH) {
        let keys: Vec<_> = part.iter().map(|id| (id,)).collect();
        let sql = "UPDATE document SET change_id = 0 WHERE id {integers($1)}";
        transaction.execute(sql, [batch(&keys)]).await?;
    }
    Ok(())
}

async fn revive(
    transaction: &mut Transaction,
    (repository, metadata_prefix): (i64, &str),
    identifiers: &[&str],
) -> Result<(), Error> {
    let sql = "UPDATE tombstone SET change_id = $4
         WHERE repository_id = $1 AND metadata_prefix = $2 AND identifier {texts($3)}";
    for part in identifiers.chunks(BATCH) {
        let keys: Vec<_> = part.iter().map(|identifier| (identifier,)).collect();
        let values = [
            repository.into(),
            metadata_prefix.into(),
            batch(&keys),
            UNLISTED.into(),
        ];
        transaction.execute(sql, values).await?;
    }
    Ok(())
}
