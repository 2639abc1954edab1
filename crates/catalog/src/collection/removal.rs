//! Documents leave the catalog for the trash. Whatever removes a document calls [`remove`].

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::outdated::outdate;
use crate::changes::stamp_removed_documents;
use crate::database::bounded::clean;
use crate::database::rows::{BATCH, batch};
use crate::database::{Row, Transaction};
use crate::imports::{changed, lock_collection, pinned};
use crate::{Catalog, Error};

/// Why documents are removed, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// The reason, for people.
    pub reason: String,
    /// The account that removes them.
    pub by: Option<String>,
    /// Whether no import may bring them back.
    pub is_takedown: bool,
    /// Whether documents are left alone that a search engine has not reported as failed.
    pub only_failed: bool,
}

/// A document that was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedDocument {
    /// Its number.
    pub id: i64,
    /// Its URL.
    pub url: String,
    /// How many bytes it had.
    pub size: u64,
    /// Its content, by its number.
    pub content: i64,
}

/// A document that failed to be ingested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedDocument {
    /// Its number.
    pub id: i64,
    /// Its URL.
    pub url: String,
    /// The host of the URL.
    pub host: String,
    /// How many bytes it has.
    pub size: u64,
    /// Its media type.
    pub media_type: String,
}

impl Catalog {
    /// Moves documents to the trash; numbers that are not those of documents are passed over. Files follow: see
    /// [`Catalog::pending_trash`].
    pub async fn remove_documents(
        &self,
        documents: &[i64],
        removal: &Removal,
    ) -> Result<Vec<RemovedDocument>, Error> {
        let mut transaction = self.database.write().await?;
        lock_collection(&mut transaction).await?;
        let mut removed = Vec::new();
        for part in documents.chunks(BATCH) {
            removed.extend(remove(&mut transaction, part, removal, None).await?);
        }
        transaction.commit().await?;
        Ok(removed)
    }

    /// Documents behind a number that failed to be ingested and are not set aside, in the order of their numbers.
    pub async fn failed_documents(
        &self,
        after: i64,
        limit: u64,
    ) -> Result<Vec<FailedDocument>, Error> {
        let sql = "SELECT document.id, document.url, document.host, document.media_type, content.size
             FROM document JOIN content ON content.id = document.content_id
             WHERE document.state = 2 AND document.id > $1 AND content.aside = 0 ORDER BY document.id LIMIT $2";
        let values = [after.into(), limit.into()];
        let rows = self.database.long_list().await?.rows(sql, values).await?;
        let failed = rows.iter().map(|row| {
            Ok(FailedDocument {
                id: row.integer("id")?,
                url: row.text("url")?,
                host: row.text("host")?,
                size: row.count("size")?,
                media_type: row.maybe_text("media_type")?.unwrap_or_default(),
            })
        });
        failed.collect()
    }

    /// Other documents with the same current content as one, by their numbers; at most `limit`.
    pub async fn sharing(&self, document: i64, limit: u64) -> Result<Vec<i64>, Error> {
        let sql = "SELECT other.id FROM document JOIN document AS other ON other.content_id = document.content_id
             WHERE document.id = $1 AND other.id <> $1 ORDER BY other.id LIMIT $2";
        let values = [document.into(), limit.into()];
        let rows = self.database.read().await?.rows(sql, values).await?;
        rows.iter().map(|row| row.integer("id")).collect()
    }
}

/// Moves at most [`BATCH`] documents to the trash. `import` is the number of the import that does so, if one does.
pub(crate) async fn remove(
    transaction: &mut Transaction,
    documents: &[i64],
    removal: &Removal,
    import: Option<i64>,
) -> Result<Vec<RemovedDocument>, Error> {
    let ids: Vec<_> = documents.iter().map(|id| (id,)).collect();
    let columns = NUMBERS.iter().chain(TEXTS);
    let columns: Vec<_> = columns.map(|name| format!("document.{name}")).collect();
    let only = match removal.only_failed {
        true => " AND document.state = 2 AND content.aside = 0",
        false => "",
    };
    let sql = format!(
        "SELECT {}, content.size, content.sha1 FROM document JOIN content ON content.id = document.content_id
         WHERE document.id {{integers($1)}}{only}",
        columns.join(", ")
    );
    let rows = transaction.rows(&sql, [batch(&ids)]).await?;
    let mut removed = Vec::with_capacity(rows.len());
    let (mut entries, mut bytes) = (Vec::new(), Vec::new());
    for row in &rows {
        let document = RemovedDocument {
            id: row.integer("id")?,
            url: row.text("url")?,
            size: row.count("size")?,
            content: row.integer("content_id")?,
        };
        entries.push(Columns::of(row, &document)?);
        bytes.push((document.id, document.content, row.text("sha1")?, None));
        removed.push(document);
    }
    if removed.is_empty() {
        return Ok(removed);
    }
    let ids: Vec<_> = removed.iter().map(|document| (document.id,)).collect();
    let sql = "SELECT version.document_id, version.content_id, version.crawl_date, content.sha1
         FROM version JOIN content ON content.id = version.content_id WHERE version.document_id {integers($1)}";
    for row in transaction.rows(sql, [batch(&ids)]).await? {
        let (document, content) = (row.integer("document_id")?, row.integer("content_id")?);
        // A repair may have noted the current content as a version, too.
        if !bytes
            .iter()
            .any(|(id, held, ..)| (*id, *held) == (document, content))
        {
            let crawled = Some(row.integer("crawl_date")?);
            bytes.push((document, content, row.text("sha1")?, crawled));
        }
    }
    let by = removal.by.as_deref().map(clean);
    let values = [
        batch(&entries),
        removal.reason.as_str().into(),
        by.as_deref().into(),
        removal.is_takedown.into(),
    ];
    transaction.execute(INSERT, values).await?;
    for part in bytes.chunks(BATCH) {
        let sql = "INSERT INTO trash_bytes (document_id, content_id, sha1, crawl_date)
             SELECT CAST(item.value->>0 AS BIGINT), CAST(item.value->>1 AS BIGINT), item.value->>2,
                 CAST(item.value->>3 AS BIGINT)
             FROM {each($1)} WHERE true";
        transaction.execute(sql, [batch(part)]).await?;
    }
    let numbers: Vec<_> = removed.iter().map(|document| document.id).collect();
    stamp_removed_documents(transaction, &numbers).await?;
    for sql in [
        "DELETE FROM version WHERE document_id {integers($1)}",
        "DELETE FROM document WHERE id {integers($1)}",
    ] {
        transaction.execute(sql, [batch(&ids)]).await?;
    }
    let mut contents: Vec<_> = bytes.iter().map(|(_, content, ..)| *content).collect();
    contents.sort_unstable();
    contents.dedup();
    for part in contents.chunks(BATCH) {
        release(transaction, part, import).await?;
    }
    changed(transaction).await?;
    Ok(removed)
}

/// Sends contents to the trash that no document has any more. The `.met` files of the others are to be written again.
async fn release(
    transaction: &mut Transaction,
    contents: &[i64],
    import: Option<i64>,
) -> Result<(), Error> {
    let free = unused(transaction, contents).await?;
    let pinned = pinned(transaction, import).await?;
    let (waiting, leaving): (Vec<i64>, Vec<i64>) =
        free.iter().partition(|content| pinned.contains(content));
    for (state, contents) in [("waiting", &waiting), ("leaving", &leaving)] {
        send(transaction, contents, state).await?;
    }
    let shared = contents.iter().filter(|id| !free.contains(id));
    let shared: Vec<_> = shared.copied().collect();
    outdate(transaction, &shared).await
}

/// Those of these contents that no document has, now or as an older version.
pub(super) async fn unused(
    transaction: &mut Transaction,
    contents: &[i64],
) -> Result<Vec<i64>, Error> {
    let ids: Vec<_> = contents.iter().map(|id| (id,)).collect();
    let sql = "SELECT id FROM content WHERE id {integers($1)}
             AND NOT EXISTS (SELECT 1 FROM document WHERE content_id = content.id)
             AND NOT EXISTS (SELECT 1 FROM version WHERE content_id = content.id)";
    let rows = transaction.rows(sql, [batch(&ids)]).await?;
    rows.iter().map(|row| row.integer("id")).collect()
}

/// Sends contents to the trash. Those that leave are contents of the collection no more.
pub(super) async fn send(
    transaction: &mut Transaction,
    contents: &[i64],
    state: &str,
) -> Result<(), Error> {
    if contents.is_empty() {
        return Ok(());
    }
    let ids: Vec<_> = contents.iter().map(|id| (id,)).collect();
    let sql = "INSERT INTO trashed_content (content_id, state, sha1, sha256, size, media_type, extension, stored)
         SELECT id, $2, sha1, sha256, size, media_type, extension, stored FROM content WHERE id {integers($1)}
         ON CONFLICT (content_id) DO UPDATE SET state = excluded.state, stored = excluded.stored";
    let values = [batch(&ids), state.into()];
    transaction.execute(sql, values).await?;
    if state == "leaving" {
        for sql in [
            "DELETE FROM outdated_met WHERE content_id {integers($1)}",
            "DELETE FROM content WHERE id {integers($1)}",
        ] {
            transaction.execute(sql, [batch(&ids)]).await?;
        }
    }
    Ok(())
}

/// Sends those of contents that an import is about to remove to the trash which removed documents have; the others are
/// returned.
pub(crate) async fn keep_trashed(
    transaction: &mut Transaction,
    contents: Vec<(i64,)>,
) -> Result<Vec<(i64,)>, Error> {
    let sql = "SELECT DISTINCT trash_bytes.content_id FROM trash_bytes
         JOIN trash ON trash.document_id = trash_bytes.document_id
         WHERE trash.kept IS NOT NULL AND trash_bytes.content_id {integers($1)}";
    let rows = transaction.rows(sql, [batch(&contents)]).await?;
    let kept = rows.iter().map(|row| row.integer("content_id"));
    let kept: Vec<_> = kept.collect::<Result<_, _>>()?;
    send(transaction, &kept, "leaving").await?;
    let rest = contents.into_iter().filter(|(id,)| !kept.contains(id));
    Ok(rest.collect())
}

/// The reasons for which captures are not imported, by their places in `captures`: the MD5 and the SHA-1 of each. A
/// takedown holds for a URL, and for its bytes under every URL that does not have them already.
pub(crate) async fn taken_down(
    transaction: &mut Transaction,
    captures: &[(&str, Option<&str>)],
) -> Result<HashMap<usize, String>, Error> {
    let mut reasons = HashMap::new();
    let sql = "SELECT md5 FROM trash WHERE takedown = 1 LIMIT 1";
    if transaction.row(sql, []).await?.is_none() {
        return Ok(reasons);
    }
    let (mut by_url, mut by_bytes) = (HashMap::new(), HashMap::new());
    for part in captures.chunks(BATCH) {
        let urls: Vec<_> = part.iter().map(|(md5, _)| (md5,)).collect();
        let sql = "SELECT md5, reason FROM trash WHERE takedown = 1 AND md5 {texts($1)}";
        for row in transaction.rows(sql, [batch(&urls)]).await? {
            by_url.insert(row.text("md5")?, row.text("reason")?);
        }
        let bytes = part.iter().filter_map(|(_, sha1)| Some(((*sha1)?,)));
        let bytes: Vec<_> = bytes.collect();
        let sql = "SELECT trash_bytes.sha1, trash.reason, trash.url FROM trash_bytes
             JOIN trash ON trash.document_id = trash_bytes.document_id
             WHERE trash.takedown = 1 AND trash_bytes.sha1 {texts($1)}";
        for row in transaction.rows(sql, [batch(&bytes)]).await? {
            let (url, reason) = (row.text("url")?, row.text("reason")?);
            by_bytes.insert(
                row.text("sha1")?,
                format!("the same bytes as {url}: {reason}"),
            );
        }
    }
    for (at, (md5, sha1)) in captures.iter().enumerate() {
        if let Some(reason) = by_url.get(*md5) {
            reasons.insert(at, reason.clone());
        } else if let Some((sha1, reason)) = sha1.and_then(|sha1| by_bytes.get_key_value(sha1)) {
            let sql = "SELECT id FROM document WHERE md5 = $1 AND content_sha1 = $2";
            let values = [(*md5).into(), sha1.as_str().into()];
            if transaction.row(sql, values).await?.is_none() {
                reasons.insert(at, reason.clone());
            }
        }
    }
    Ok(reasons)
}

/// The row of a document in the trash, in the order of the statement that writes it.
#[derive(Serialize)]
struct Columns(
    i64,
    String,
    String,
    String,
    Option<String>,
    Option<String>,
    u64,
    String,
);

impl Columns {
    fn of(row: &Row, document: &RemovedDocument) -> Result<Self, Error> {
        let mut kept = Map::new();
        for name in NUMBERS {
            kept.insert((*name).to_owned(), row.maybe_integer(name)?.into());
        }
        for name in TEXTS {
            kept.insert((*name).to_owned(), row.maybe_text(name)?.into());
        }
        Ok(Self(
            document.id,
            document.url.clone(),
            row.text("md5")?,
            row.text("host")?,
            row.maybe_text("member")?,
            row.maybe_text("media_type")?,
            document.size,
            Json::Object(kept).to_string(),
        ))
    }
}

const INSERT: &str = "INSERT INTO trash (document_id, url, md5, host, member, media_type, size, kept, removed, reason, \
         removed_by, takedown) \
     SELECT CAST(item.value->>0 AS BIGINT), item.value->>1, item.value->>2, item.value->>3, item.value->>4, \
         item.value->>5, CAST(item.value->>6 AS BIGINT), item.value->>7, {now}, $2, $3, $4 \
     FROM {each($1)} WHERE true";

/// The columns of a document that are numbers and that are texts: all of them, so that a restored document is what it was.
pub(super) const NUMBERS: &[&str] = &[
    "id",
    "content_id",
    "discover_date",
    "update_date",
    "crawl_date",
    "parent_id",
    "parent_date",
    "depth",
    "is_seed",
    "state",
    "revisit",
    "import_id",
];
pub(super) const TEXTS: &[&str] = &[
    "url",
    "md5",
    "host",
    "rev_host",
    "content_sha1",
    "declared_type",
    "sniffed_type",
    "media_type",
    "member",
    "source",
    "digest_mismatch",
];

/// Removes what an import wrote of documents that were taken down since it asked about them.
pub(crate) async fn remove_taken_down(
    transaction: &mut Transaction,
    import: i64,
    captures: &[(&str, Option<&str>)],
) -> Result<(), Error> {
    let reasons = taken_down(transaction, captures).await?;
    let mut by_reason: HashMap<&String, Vec<(&str,)>> = HashMap::new();
    for (at, reason) in &reasons {
        by_reason
            .entry(reason)
            .or_default()
            .push((captures[*at].0,));
    }
    for (reason, urls) in by_reason {
        let sql = "SELECT id FROM document WHERE md5 {texts($1)}";
        let rows = transaction.rows(sql, [batch(&urls)]).await?;
        let ids = rows.iter().map(|row| row.integer("id"));
        let ids: Vec<_> = ids.collect::<Result<_, _>>()?;
        let removal = Removal {
            reason: reason.clone(),
            by: None,
            is_takedown: true,
            only_failed: false,
        };
        for part in ids.chunks(BATCH) {
            remove(transaction, part, &removal, Some(import)).await?;
        }
    }
    Ok(())
}
