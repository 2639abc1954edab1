//! The trash: removed documents, restored or forgotten, and the contents whose files move with them.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value as Json};

use super::judgements::repeat;
use super::outdated::outdate;
use super::removal::{NUMBERS, TEXTS, send, unused};
use crate::changes::stamp_restored_documents;
use crate::database::conditions::{Conditions, containing};
use crate::database::rows::{BATCH, batch};
use crate::database::{Row, Transaction};
use crate::imports::{changed, lock_collection, pinned};
use crate::{Catalog, Error};

/// A removed document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrashEntry {
    /// The number that it had.
    pub id: i64,
    /// Its URL.
    pub url: String,
    /// Its host.
    pub host: String,
    /// Where in a container it lay.
    pub member: Option<String>,
    /// Its media type.
    pub media_type: String,
    /// How many bytes it has.
    pub size: u64,
    /// When it was removed, in seconds.
    pub removed: i64,
    /// The account that removed it.
    pub by: Option<String>,
    /// The reason.
    pub reason: String,
    /// Whether no import may bring it back.
    pub is_takedown: bool,
    /// Whether the trash still holds it.
    pub is_kept: bool,
}

/// Which removed documents are wanted.
#[derive(Debug, Clone)]
pub struct TrashQuery {
    /// Those that were taken down, or that were not.
    pub is_takedown: Option<bool>,
    /// Those that the trash still holds, or that it does not.
    pub is_kept: Option<bool>,
    /// Those of one URL, by the MD5 that it was imported with.
    pub md5: Option<String>,
    /// Those with this in their URL.
    pub text: Option<String>,
    /// Those with a greater number, for the next page.
    pub after: i64,
    /// How many at most.
    pub limit: u64,
}

impl Default for TrashQuery {
    fn default() -> Self {
        Self {
            is_takedown: None,
            is_kept: None,
            md5: None,
            text: None,
            after: 0,
            limit: 100,
        }
    }
}

/// A content that the trash holds, or whose files are on their way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrashedContent {
    /// Its number.
    pub number: i64,
    /// Its SHA-1, in hexadecimal.
    pub sha1: String,
    /// How the name of its file ends, without a dot.
    pub extension: String,
    /// Where its files are.
    pub state: TrashedState,
}

/// Where the files of a trashed content are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrashedState {
    /// In the collection, because an import counts on them.
    Waiting,
    /// On their way to the trash.
    Leaving,
    /// In the trash.
    Trashed,
    /// Nobody needs those of the trash any more.
    Gone,
}

/// The outcome of restoring a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreOutcome {
    /// It is in the collection again.
    Restored,
    /// It is in the collection again without its file, which was missing when it was removed.
    WithoutFile,
    /// It was in the collection already: somebody else restored it.
    Already,
    /// The trash did not hold it any more. Imports may bring it again.
    Lifted,
    /// An import brought its URL again, as the document with this number.
    Replaced(i64),
    /// Its bytes are neither in the trash nor in the collection.
    Lost,
    /// It is neither in the trash nor in the collection.
    Unknown,
}

impl Catalog {
    /// Removed documents, in the order of their numbers.
    pub async fn trash(&self, query: &TrashQuery) -> Result<Vec<TrashEntry>, Error> {
        let mut conditions = Conditions::default();
        conditions.only("document_id > $n", Some(query.after));
        conditions.only("takedown = $n", query.is_takedown);
        match query.is_kept {
            Some(true) => conditions.always("kept IS NOT NULL"),
            Some(false) => conditions.always("kept IS NULL"),
            None => {}
        }
        conditions.only("md5 = $n", query.md5.as_deref());
        conditions.only(
            "lower(url) LIKE $n ESCAPE '!'",
            query.text.as_deref().map(containing),
        );
        let (sql, values) = conditions.some(SELECT, "ORDER BY document_id", query.limit);
        let rows = self.database.long_list().await?.rows(&sql, values).await?;
        rows.iter().map(entry).collect()
    }

    /// How many documents the trash holds.
    pub async fn count_trash(&self) -> Result<u64, Error> {
        let sql = "SELECT count(*) AS number FROM trash WHERE kept IS NOT NULL";
        let row = self.database.read().await?.row(sql, []).await?;
        row.map_or(Ok(0), |row| row.count("number"))
    }

    /// The reasons for which captures are not imported, by their places among `captures`: the MD5 and the SHA-1 of each.
    pub async fn taken_down(
        &self,
        captures: &[(&str, Option<&str>)],
    ) -> Result<HashMap<usize, String>, Error> {
        let mut transaction = self.database.read().await?;
        super::removal::taken_down(&mut transaction, captures).await
    }

    /// Contents behind a number whose files are to be moved or removed, in the order of their numbers. Contents that an
    /// import counted on are among them as soon as it does not.
    pub async fn pending_trash(
        &self,
        after: i64,
        limit: u64,
    ) -> Result<Vec<TrashedContent>, Error> {
        let sql = "SELECT content_id, sha1, extension, state FROM trashed_content
             WHERE state <> 'trashed' AND content_id > $1 ORDER BY content_id LIMIT $2";
        let values = [after.into(), limit.into()];
        let rows = self.database.read().await?.rows(sql, values).await?;
        let pending: Vec<_> = rows.iter().map(trashed).collect::<Result<_, _>>()?;
        let waiting = pending
            .iter()
            .filter(|one| one.state == TrashedState::Waiting);
        let waiting: Vec<_> = waiting.map(|one| one.number).collect();
        if waiting.is_empty() {
            return Ok(pending);
        }
        let left = self.release_waiting(&waiting).await?;
        let mut now = Vec::with_capacity(pending.len());
        for one in pending {
            match one.state {
                TrashedState::Waiting if left.contains(&one.number) => now.push(TrashedContent {
                    state: TrashedState::Leaving,
                    ..one
                }),
                TrashedState::Waiting => {}
                _ => now.push(one),
            }
        }
        Ok(now)
    }

    /// Sends contents on their way that waited for an import; tells which.
    async fn release_waiting(&self, contents: &[i64]) -> Result<HashSet<i64>, Error> {
        let mut transaction = self.database.write().await?;
        lock_collection(&mut transaction).await?;
        let pinned = pinned(&mut transaction, None).await?;
        let mut left = HashSet::new();
        for part in contents.chunks(BATCH) {
            let free = unused(&mut transaction, part).await?;
            // An import made a document of them, which keeps them.
            let used = part.iter().filter(|id| !free.contains(id));
            let used: Vec<_> = used.map(|id| (*id,)).collect();
            let sql =
                "DELETE FROM trashed_content WHERE state = 'waiting' AND content_id {integers($1)}";
            transaction.execute(sql, [batch(&used)]).await?;
            let leaving: Vec<_> = free.into_iter().filter(|id| !pinned.contains(id)).collect();
            send(&mut transaction, &leaving, "leaving").await?;
            left.extend(leaving);
        }
        if !left.is_empty() {
            changed(&mut transaction).await?;
        }
        transaction.commit().await?;
        Ok(left)
    }

    /// Notes that the files of contents that were leaving are in the trash.
    pub async fn note_trashed(&self, contents: &[i64]) -> Result<(), Error> {
        let sql = "UPDATE trashed_content SET state = 'trashed' WHERE state = 'leaving' AND content_id {integers($1)}";
        self.mark_trashed(sql, contents).await
    }

    /// Forgets contents whose files were removed for good.
    pub async fn forget_trashed(&self, contents: &[i64]) -> Result<(), Error> {
        let sql = "DELETE FROM trashed_content WHERE state = 'gone' AND content_id {integers($1)}";
        self.mark_trashed(sql, contents).await
    }

    async fn mark_trashed(&self, sql: &str, contents: &[i64]) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        for part in contents.chunks(BATCH) {
            let ids: Vec<_> = part.iter().map(|id| (id,)).collect();
            transaction.execute(sql, [batch(&ids)]).await?;
        }
        transaction.commit().await
    }

    /// Those of these numbers under which the trash has a content, wherever its files are.
    pub async fn trashed_numbers(&self, numbers: &[i64]) -> Result<HashSet<i64>, Error> {
        let mut transaction = self.database.read().await?;
        let mut found = HashSet::new();
        for part in numbers.chunks(BATCH) {
            let ids: Vec<_> = part.iter().map(|id| (id,)).collect();
            let sql = "SELECT content_id FROM trashed_content WHERE content_id {integers($1)}";
            for row in transaction.rows(sql, [batch(&ids)]).await? {
                found.insert(row.integer("content_id")?);
            }
        }
        Ok(found)
    }

    /// Contents whose files have to come back from the trash before these documents are restored.
    pub async fn contents_to_restore(
        &self,
        documents: &[i64],
    ) -> Result<Vec<TrashedContent>, Error> {
        let ids: Vec<_> = documents.iter().map(|id| (id,)).collect();
        let sql = "SELECT DISTINCT trashed_content.content_id, trashed_content.sha1, trashed_content.extension,
                 trashed_content.state
             FROM trash_bytes JOIN trashed_content ON trashed_content.content_id = trash_bytes.content_id
             JOIN trash ON trash.document_id = trash_bytes.document_id
             WHERE trash_bytes.document_id {integers($1)} AND trash.kept IS NOT NULL
                 AND trashed_content.state = 'trashed'
                 AND NOT EXISTS (SELECT 1 FROM content WHERE content.sha1 = trashed_content.sha1)
                 AND NOT EXISTS (SELECT 1 FROM document WHERE document.md5 = trash.md5)";
        let rows = self.database.read().await?.rows(sql, [batch(&ids)]).await?;
        rows.iter().map(trashed).collect()
    }

    /// Puts removed documents back, whose files were brought to the collection. `here` are the contents whose document
    /// has its file there.
    pub async fn restore_documents(
        &self,
        documents: &[i64],
        here: &HashSet<i64>,
    ) -> Result<Vec<RestoreOutcome>, Error> {
        let mut transaction = self.database.write().await?;
        lock_collection(&mut transaction).await?;
        let mut outcomes = Vec::with_capacity(documents.len());
        for document in documents {
            outcomes.push(restore(&mut transaction, *document, here).await?);
        }
        changed(&mut transaction).await?;
        transaction.commit().await?;
        Ok(outcomes)
    }

    /// Lets the trash forget documents that were removed more than `seconds` ago, at most `limit`. Takedowns stay.
    pub async fn purge_trash(&self, seconds: i64, limit: u64) -> Result<u64, Error> {
        let mut transaction = self.database.write().await?;
        lock_collection(&mut transaction).await?;
        let sql = "SELECT document_id FROM trash WHERE kept IS NOT NULL AND removed <= {now} - $1
             ORDER BY removed LIMIT $2";
        let values = [seconds.into(), limit.min(BATCH as u64).into()];
        let rows = transaction.rows(sql, values).await?;
        let ids = rows.iter().map(|row| Ok((row.integer("document_id")?,)));
        let ids: Vec<_> = ids.collect::<Result<_, Error>>()?;
        let sql = "SELECT DISTINCT content_id FROM trash_bytes WHERE document_id {integers($1)}";
        let rows = transaction.rows(sql, [batch(&ids)]).await?;
        let contents = rows.iter().map(|row| Ok((row.integer("content_id")?,)));
        let contents: Vec<_> = contents.collect::<Result<_, Error>>()?;
        for sql in [
            "UPDATE trash SET kept = NULL WHERE takedown = 1 AND document_id {integers($1)}",
            "DELETE FROM trash_bytes WHERE document_id IN
                 (SELECT document_id FROM trash WHERE takedown = 0 AND document_id {integers($1)})",
            "DELETE FROM trash WHERE takedown = 0 AND document_id {integers($1)}",
        ] {
            transaction.execute(sql, [batch(&ids)]).await?;
        }
        for part in contents.chunks(BATCH) {
            forget(&mut transaction, part).await?;
        }
        transaction.commit().await?;
        Ok(ids.len() as u64)
    }
}

/// Gives up contents that no document of the trash needs any more.
async fn forget(transaction: &mut Transaction, contents: &[(i64,)]) -> Result<(), Error> {
    let sql = "UPDATE trashed_content SET state = 'gone'
         WHERE content_id {integers($1)} AND state IN ('leaving', 'trashed')
             AND NOT EXISTS (SELECT 1 FROM trash_bytes JOIN trash ON trash.document_id = trash_bytes.document_id
                 WHERE trash_bytes.content_id = trashed_content.content_id AND trash.kept IS NOT NULL)";
    transaction.execute(sql, [batch(contents)]).await?;
    Ok(())
}

async fn restore(
    transaction: &mut Transaction,
    document: i64,
    here: &HashSet<i64>,
) -> Result<RestoreOutcome, Error> {
    let sql = "SELECT md5, kept FROM trash WHERE document_id = $1";
    let Some(row) = transaction.row(sql, [document.into()]).await? else {
        let sql = "SELECT id FROM document WHERE id = $1";
        return Ok(match transaction.row(sql, [document.into()]).await? {
            Some(_) => RestoreOutcome::Already,
            None => RestoreOutcome::Unknown,
        });
    };
    let md5 = row.text("md5")?;
    let Some(kept) = row.maybe_text("kept")? else {
        forget_document(transaction, document).await?;
        return Ok(RestoreOutcome::Lifted);
    };
    let sql = "SELECT id FROM document WHERE md5 = $1";
    if let Some(row) = transaction.row(sql, [md5.as_str().into()]).await? {
        return Ok(RestoreOutcome::Replaced(row.integer("id")?));
    }
    let sql = "SELECT content_id, sha1, crawl_date FROM trash_bytes WHERE document_id = $1";
    let (mut current, mut versions) = (None, Vec::new());
    for row in transaction.rows(sql, [document.into()]).await? {
        let (content, sha1) = (row.integer("content_id")?, row.text("sha1")?);
        let crawled = row.maybe_integer("crawl_date")?;
        let found = bring_back(transaction, content, &sha1, here).await?;
        match (found, crawled) {
            (found, None) => current = found,
            (Some(found), Some(crawled)) => versions.push((document, found, crawled)),
            // An older version that is lost costs no more than itself.
            (None, Some(_)) => {}
        }
    }
    let Some(current) = current else {
        return Ok(RestoreOutcome::Lost);
    };
    let kept: Map<String, Json> = serde_json::from_str(&kept).unwrap_or_default();
    insert(transaction, kept, current).await?;
    let sql = "INSERT INTO version (document_id, content_id, crawl_date)
         SELECT CAST(item.value->>0 AS BIGINT), CAST(item.value->>1 AS BIGINT), CAST(item.value->>2 AS BIGINT)
         FROM {each($1)} WHERE true ON CONFLICT (document_id, content_id) DO NOTHING";
    transaction.execute(sql, [batch(&versions)]).await?;
    // A crawl may have heard of it meanwhile.
    let sql = "UPDATE document SET
             discover_date = (SELECT min(heard.discover_date) FROM heard WHERE heard.md5 = document.md5
                 AND heard.discover_date < document.discover_date)
         WHERE id = $1 AND EXISTS (SELECT 1 FROM heard WHERE heard.md5 = document.md5
             AND heard.discover_date < document.discover_date)";
    transaction.execute(sql, [document.into()]).await?;
    let sql = "UPDATE document SET
             update_date = (SELECT max(heard.update_date) FROM heard WHERE heard.md5 = document.md5)
         WHERE id = $1 AND EXISTS (SELECT 1 FROM heard WHERE heard.md5 = document.md5
             AND heard.update_date > document.update_date)";
    transaction.execute(sql, [document.into()]).await?;
    let sql = "DELETE FROM heard WHERE md5 = $1";
    transaction.execute(sql, [md5.into()]).await?;
    let mut contents: Vec<_> = versions.iter().map(|(_, content, _)| *content).collect();
    contents.push(current);
    outdate(transaction, &contents).await?;
    stamp_restored_documents(transaction, &[document]).await?;
    forget_document(transaction, document).await?;
    let sql = "SELECT stored FROM content WHERE id = $1";
    let row = transaction.row(sql, [current.into()]).await?;
    match row.map(|row| row.flag("stored")).transpose()? {
        Some(false) => Ok(RestoreOutcome::WithoutFile),
        _ => Ok(RestoreOutcome::Restored),
    }
}

/// Takes a document out of the trash.
async fn forget_document(transaction: &mut Transaction, document: i64) -> Result<(), Error> {
    let sql = "SELECT content_id FROM trash_bytes WHERE document_id = $1";
    let rows = transaction.rows(sql, [document.into()]).await?;
    let contents = rows.iter().map(|row| Ok((row.integer("content_id")?,)));
    let contents: Vec<_> = contents.collect::<Result<_, Error>>()?;
    for sql in [
        "DELETE FROM trash_bytes WHERE document_id = $1",
        "DELETE FROM trash WHERE document_id = $1",
    ] {
        transaction.execute(sql, [document.into()]).await?;
    }
    forget(transaction, &contents).await
}

/// Makes a content one of the collection again, and gives the number under which it is there. `None` if it is lost.
async fn bring_back(
    transaction: &mut Transaction,
    content: i64,
    sha1: &str,
    here: &HashSet<i64>,
) -> Result<Option<i64>, Error> {
    let sql = "SELECT id FROM content WHERE sha1 = $1";
    if let Some(row) = transaction.row(sql, [sha1.into()]).await? {
        let sql = "DELETE FROM trashed_content WHERE content_id = $1 AND state = 'waiting'";
        transaction.execute(sql, [content.into()]).await?;
        return row.integer("id").map(Some);
    }
    // Its files came back before this; a content that has never had its file is marked as lost, as it was.
    let sql = "INSERT INTO content (id, sha1, sha256, size, media_type, extension, stored)
         SELECT content_id, sha1, sha256, size, media_type, extension, stored * $2 FROM trashed_content
         WHERE content_id = $1 AND state = 'trashed' RETURNING id";
    let values = [content.into(), here.contains(&content).into()];
    let Some(row) = transaction.row(sql, values).await? else {
        return Ok(None);
    };
    let sql = "UPDATE trashed_content SET state = 'gone' WHERE content_id = $1";
    transaction.execute(sql, [content.into()]).await?;
    repeat(transaction, &[sha1]).await?;
    row.integer("id").map(Some)
}

/// Inserts the row of a document with the content that it has now.
async fn insert(
    transaction: &mut Transaction,
    mut kept: Map<String, Json>,
    content: i64,
) -> Result<(), Error> {
    kept.insert("content_id".to_owned(), content.into());
    let names: Vec<_> = NUMBERS.iter().chain(TEXTS).copied().collect();
    let values: Vec<_> = names
        .iter()
        .map(|name| kept.get(*name).cloned().unwrap_or_default())
        .collect();
    let columns = names
        .iter()
        .enumerate()
        .map(|(at, name)| match NUMBERS.contains(name) {
            true => format!("CAST(item.value->>{at} AS BIGINT)"),
            false => format!("item.value->>{at}"),
        });
    let columns: Vec<_> = columns.collect();
    let sql = format!(
        "INSERT INTO document ({}) SELECT {} FROM {{each($1)}} WHERE true",
        names.join(", "),
        columns.join(", ")
    );
    transaction.execute(&sql, [batch(&[values])]).await?;
    Ok(())
}

const SELECT: &str = "SELECT document_id, url, host, member, media_type, size, removed, removed_by, reason, takedown, \
     CAST(CASE WHEN kept IS NULL THEN 0 ELSE 1 END AS BIGINT) AS is_kept FROM trash";

fn entry(row: &Row) -> Result<TrashEntry, Error> {
    Ok(TrashEntry {
        id: row.integer("document_id")?,
        url: row.text("url")?,
        host: row.text("host")?,
        member: row.maybe_text("member")?,
        media_type: row.maybe_text("media_type")?.unwrap_or_default(),
        size: row.count("size")?,
        removed: row.integer("removed")?,
        by: row.maybe_text("removed_by")?,
        reason: row.text("reason")?,
        is_takedown: row.flag("takedown")?,
        is_kept: row.flag("is_kept")?,
    })
}

fn trashed(row: &Row) -> Result<TrashedContent, Error> {
    Ok(TrashedContent {
        number: row.integer("content_id")?,
        sha1: row.text("sha1")?,
        extension: row.text("extension")?,
        state: match row.text("state")?.as_str() {
            "waiting" => TrashedState::Waiting,
            "leaving" => TrashedState::Leaving,
            "gone" => TrashedState::Gone,
            _ => TrashedState::Trashed,
        },
    })
}
