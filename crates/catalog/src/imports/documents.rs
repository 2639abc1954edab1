//! Documents and contents as the catalog has them: read before a group is added up, and written afterwards.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::Import;
use super::fold::{Changing, Claim, Document, Folded, Revisited};
use super::parents::Edge;
use crate::changes::open_documents;
use crate::database::bounded::{bounded, clean};
use crate::database::rows::batch;
use crate::database::{Row, Transaction};
use crate::{CaptureRow, Error};

/// The documents and contents of a group.
#[derive(Debug)]
pub(super) struct Loaded {
    generation: i64,
    /// By the MD5 of their URLs, also of those that are not known.
    asked_for: HashSet<String>,
    pub(super) documents: HashMap<String, Document>,
    /// By their SHA-1.
    pub(super) contents: HashMap<String, Content>,
}

/// A content of the collection.
#[derive(Debug, Clone)]
pub(super) struct Content {
    pub(super) id: i64,
    pub(super) is_stored: bool,
    /// How many documents have it, as far as that matters: one more than a group may take away is enough.
    pub(super) uses: i64,
}

impl Loaded {
    pub(super) async fn read(
        transaction: &mut Transaction,
        rows: &[CaptureRow],
    ) -> Result<Self, Error> {
        let asked_for: HashSet<String> = rows.iter().map(|row| row.md5.clone()).collect();
        let keys: Vec<_> = asked_for.iter().map(|md5| (md5,)).collect();
        let mut documents = HashMap::new();
        for row in transaction.rows(DOCUMENTS, [batch(&keys)]).await? {
            documents.insert(row.text("md5")?, document(&row)?);
        }
        for row in transaction.rows(HEARD, [batch(&keys)]).await? {
            documents.insert(row.text("md5")?, heard(&row)?);
        }
        let sha1s: HashSet<_> = rows.iter().filter_map(|row| row.content.sha1()).collect();
        Ok(Self {
            generation: generation(transaction).await?,
            asked_for,
            documents,
            contents: contents(transaction, sha1s, rows.len()).await?,
        })
    }

    /// Whether it can be gone by for these rows: nobody has written to the collection since.
    pub(super) async fn holds(
        &self,
        transaction: &mut Transaction,
        rows: &[CaptureRow],
    ) -> Result<bool, Error> {
        let is_all = rows.iter().all(|row| self.asked_for.contains(&row.md5));
        Ok(is_all && generation(transaction).await? == self.generation)
    }
}

async fn generation(transaction: &mut Transaction) -> Result<i64, Error> {
    let sql = "SELECT generation FROM collection_state";
    let row = transaction.row(sql, []).await?;
    row.map_or(Ok(0), |row| row.integer("generation"))
}

/// Tells all others that what they read of the collection may not hold any more.
pub(crate) async fn changed(transaction: &mut Transaction) -> Result<(), Error> {
    let sql = "UPDATE collection_state SET generation = generation + 1";
    transaction.execute(sql, []).await?;
    Ok(())
}

/// Gives so many numbers out; the first of them.
pub(super) async fn numbers(transaction: &mut Transaction, count: usize) -> Result<i64, Error> {
    let sql = "UPDATE collection_state SET next_number = next_number + $1
         RETURNING next_number - $1 AS first";
    let row = transaction.row(sql, [(count as u64).into()]).await?;
    row.map_or(Ok(0), |row| row.integer("first"))
}

async fn contents<'a>(
    transaction: &mut Transaction,
    sha1s: impl IntoIterator<Item = &'a str>,
    rows: usize,
) -> Result<HashMap<String, Content>, Error> {
    let keys: Vec<_> = sha1s.into_iter().map(|sha1| (sha1,)).collect();
    let sql = "SELECT content.id, content.sha1, content.stored,
             (SELECT count(*) FROM (SELECT 1 FROM document WHERE content_id = content.id LIMIT $2) AS few)
             + (SELECT count(*) FROM (SELECT 1 FROM version WHERE content_id = content.id LIMIT 1) AS kept) AS uses
         FROM {looked_up(content.sha1)}";
    let values = [batch(&keys), (rows as u64 + 1).into()];
    let mut contents = HashMap::new();
    for row in transaction.rows(sql, values).await? {
        let content = Content {
            id: row.integer("id")?,
            is_stored: row.flag("stored")?,
            uses: row.integer("uses")?,
        };
        contents.insert(row.text("sha1")?, content);
    }
    Ok(contents)
}

const DOCUMENTS: &str = "SELECT document.id, document.md5, document.content_id, document.content_sha1, \
     document.crawl_date, document.media_type, document.declared_type, document.sniffed_type, document.member, \
     document.source, document.digest_mismatch, document.discover_date, document.update_date, document.depth, document.is_seed, \
     document.revisit, document.parent_date, parent.url AS parent_url, parent.md5 AS parent_md5 \
     FROM {looked_up(document.md5)} LEFT JOIN parent ON parent.id = document.parent_id";

const HEARD: &str = "SELECT heard.md5, heard.discover_date, heard.update_date, heard.depth, heard.is_seed, \
     heard.parent_date, parent.url AS parent_url, parent.md5 AS parent_md5 \
     FROM {looked_up(heard.md5)} LEFT JOIN parent ON parent.id = heard.parent_id";

fn document(row: &Row) -> Result<Document, Error> {
    let (claim, revisited) = match row.flag("revisit")? {
        true => (None, Some(revisited(row)?)),
        false => (Some(claim(row)?), None),
    };
    Ok(Document {
        id: row.integer("id")?,
        content: row.maybe_integer("content_id")?,
        claim,
        revisited,
        ..heard(row)?
    })
}

/// The facts that may be known of a URL without bytes.
fn heard(row: &Row) -> Result<Document, Error> {
    let edge = match (row.maybe_text("parent_url")?, row.maybe_text("parent_md5")?) {
        (Some(url), Some(md5)) => Some(Edge {
            url,
            md5,
            date: row.maybe_integer("parent_date")?.unwrap_or_default(),
        }),
        _ => None,
    };
    let depth = row.maybe_integer("depth")?;
    Ok(Document {
        id: 0,
        discover_date: row.integer("discover_date")?,
        update_date: row.integer("update_date")?,
        content: None,
        claim: None,
        revisited: None,
        edge,
        depth: depth.and_then(|depth| depth.try_into().ok()),
        is_seed: row.maybe_integer("is_seed")?.map(|flag| flag != 0),
    })
}

fn claim(row: &Row) -> Result<Claim, Error> {
    Ok(Claim {
        crawled: row.maybe_integer("crawl_date")?.unwrap_or_default(),
        sha1: row.maybe_text("content_sha1")?.unwrap_or_default(),
        media_type: row.maybe_text("media_type")?.unwrap_or_default(),
        declared_type: row.maybe_text("declared_type")?,
        sniffed_type: row.maybe_text("sniffed_type")?,
        member: row.maybe_text("member")?,
        source: row.maybe_text("source")?.unwrap_or_default(),
        digest_mismatch: row.maybe_text("digest_mismatch")?,
    })
}

fn revisited(row: &Row) -> Result<Revisited, Error> {
    Ok(Revisited {
        sha1: row.maybe_text("content_sha1")?.unwrap_or_default(),
        media_type: row.maybe_text("media_type")?,
        crawled: row.maybe_integer("crawl_date")?,
    })
}

/// The columns of a document, in the order of the statement that writes them.
#[derive(Serialize)]
struct Columns<'a>(
    i64,
    &'a str,
    &'a str,
    String,
    String,
    Option<i64>,
    Option<&'a str>,
    Option<&'a str>,
    Option<&'a str>,
    Option<&'a str>,
    i64,
    i64,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<u32>,
    Option<i64>,
    Option<&'a str>,
    Option<&'a str>,
    i64,
    Option<&'a str>,
    i64,
);

/// The columns of a URL that was only heard of.
#[derive(Serialize)]
struct HeardColumns<'a>(
    &'a str,
    &'a str,
    String,
    i64,
    i64,
    Option<i64>,
    Option<i64>,
    Option<u32>,
    Option<i64>,
    &'a str,
    String,
);

/// Writes the documents of a group that changed, and the URLs that were only heard of. `contents` has the numbers of
/// contents by their SHA-1, `fresh` those that the group brought. Returns the numbers of the documents that changed, by
/// the MD5 of their URLs.
pub(super) async fn write<'a>(
    transaction: &mut Transaction,
    import: &Import,
    folded: &'a Folded<'a>,
    contents: &HashMap<&str, i64>,
    mut fresh: HashSet<i64>,
    parents: &HashMap<String, i64>,
) -> Result<HashMap<&'a str, i64>, Error> {
    let changed = folded
        .documents
        .iter()
        .filter(|document| document.is_changed());
    let (changed, heard): (Vec<_>, Vec<_>) = changed.partition(|document| document.now.is_held());
    if !heard.is_empty() {
        let values = heard
            .iter()
            .map(|document| heard_columns(document, parents));
        let values: Vec<_> = values.collect();
        transaction.execute(UPSERT_HEARD, [batch(&values)]).await?;
    }
    if changed.is_empty() {
        return Ok(HashMap::new());
    }
    let mut ids = Vec::with_capacity(changed.len());
    let mut missing = 0;
    for document in &changed {
        let content = document
            .now
            .claim
            .as_ref()
            .and_then(|claim| contents.get(claim.sha1.as_str()));
        let preferred = import.preferred.get(&document.row.md5);
        // A new URL with a new content has one number for both.
        let id = match (document.now.id, preferred, content) {
            (0, Some(preferred), _) => *preferred,
            (0, None, Some(content))
                if !import.preferred_contents.contains(content) && fresh.remove(content) =>
            {
                *content
            }
            (id, ..) => id,
        };
        missing += usize::from(id == 0);
        ids.push(id);
    }
    let news = changed.iter().filter(|document| document.is_news()).count();
    let group = match news {
        0 => 0,
        _ => open_documents(transaction, news).await?,
    };
    let mut next = numbers(transaction, missing).await?;
    let mut values = Vec::with_capacity(changed.len());
    let mut found = Vec::new();
    let mut written = HashMap::with_capacity(changed.len());
    for (document, mut id) in changed.into_iter().zip(ids) {
        if id == 0 {
            id = next;
            next += 1;
        }
        if document.before.is_some_and(|before| !before.is_held()) {
            found.push((document.row.md5.as_str(),));
        }
        written.insert(document.row.md5.as_str(), id);
        // Rows of the group 0 keep that which they had.
        let group = match document.is_news() {
            true => group,
            false => 0,
        };
        values.push(columns(document, id, contents, parents, group));
    }
    transaction
        .execute(UPSERT, [batch(&values), import.id().into()])
        .await?;
    forget_heard(transaction, &found).await?;
    Ok(written)
}

/// Forgets URLs that were only heard of, since they are documents now.
pub(super) async fn forget_heard(
    transaction: &mut Transaction,
    found: &[(&str,)],
) -> Result<(), Error> {
    if !found.is_empty() {
        let sql = "DELETE FROM heard WHERE md5 {texts($1)}";
        transaction.execute(sql, [batch(found)]).await?;
    }
    Ok(())
}

fn heard_columns<'a>(
    document: &'a Changing<'a>,
    parents: &HashMap<String, i64>,
) -> HeardColumns<'a> {
    let Changing { now, row, .. } = document;
    let edge = now.edge.as_ref();
    HeardColumns(
        &row.md5,
        &row.url,
        bounded(&row.host).into_owned(),
        now.discover_date,
        now.update_date,
        edge.and_then(|edge| parents.get(&edge.md5).copied()),
        edge.map(|edge| edge.date),
        now.depth,
        now.is_seed.map(i64::from),
        &row.source,
        reversed(&bounded(&row.host)),
    )
}

const UPSERT_HEARD: &str = "INSERT INTO heard (md5, url, host, discover_date, update_date, parent_id, parent_date, \
         depth, is_seed, source, rev_host) \
     SELECT item.value->>0, item.value->>1, item.value->>2, CAST(item.value->>3 AS BIGINT), \
         CAST(item.value->>4 AS BIGINT), CAST(item.value->>5 AS BIGINT), CAST(item.value->>6 AS BIGINT), \
         CAST(item.value->>7 AS BIGINT), CAST(item.value->>8 AS BIGINT), item.value->>9, item.value->>10 \
     FROM {each($1)} WHERE true \
     ON CONFLICT (md5) DO UPDATE SET discover_date = excluded.discover_date, update_date = excluded.update_date, \
         parent_id = excluded.parent_id, parent_date = excluded.parent_date, depth = excluded.depth, \
         is_seed = excluded.is_seed";

fn columns<'a>(
    document: &'a Changing<'a>,
    id: i64,
    contents: &HashMap<&str, i64>,
    parents: &HashMap<String, i64>,
    group: i64,
) -> Columns<'a> {
    let Changing { now, row, .. } = document;
    let host = bounded(&row.host);
    let (claim, revisited) = (now.claim.as_ref(), now.revisited.as_ref());
    let content = claim.and_then(|claim| contents.get(claim.sha1.as_str()).copied());
    let media_type = claim.map(|claim| &claim.media_type);
    let edge = now.edge.as_ref();
    Columns(
        id,
        &row.url,
        &row.md5,
        reversed(&host),
        host.into_owned(),
        // Its previous content is not among the captures of the group.
        content.or(now.content),
        now.sha1(),
        claim.and_then(|claim| claim.declared_type.as_deref()),
        claim.and_then(|claim| claim.sniffed_type.as_deref()),
        media_type
            .or(revisited.and_then(|revisited| revisited.media_type.as_ref()))
            .map(String::as_str),
        now.discover_date,
        now.update_date,
        claim
            .map(|claim| claim.crawled)
            .or(revisited.and_then(|revisited| revisited.crawled)),
        edge.and_then(|edge| parents.get(&edge.md5).copied()),
        edge.map(|edge| edge.date),
        now.depth,
        now.is_seed.map(i64::from),
        claim.and_then(|claim| claim.member.as_deref()),
        Some(claim.map_or(&row.source, |claim| &claim.source).as_str()),
        i64::from(revisited.is_some()),
        claim.and_then(|claim| claim.digest_mismatch.as_deref()),
        group,
    )
}

/// A host from its end: `com.example.www`, by which those of a domain stand beside each other.
pub(crate) fn reversed(host: &str) -> String {
    let parts: Vec<_> = host.rsplit('.').collect();
    clean(&parts.join(".")).into_owned()
}

const UPSERT: &str = "INSERT INTO document (id, url, md5, rev_host, host, content_id, content_sha1, declared_type, \
         sniffed_type, media_type, discover_date, update_date, crawl_date, parent_id, parent_date, depth, is_seed, \
         member, source, revisit, digest_mismatch, change_id, import_id) \
     SELECT CAST(item.value->>0 AS BIGINT), item.value->>1, item.value->>2, item.value->>3, item.value->>4, \
         CAST(item.value->>5 AS BIGINT), item.value->>6, item.value->>7, item.value->>8, item.value->>9, \
         CAST(item.value->>10 AS BIGINT), CAST(item.value->>11 AS BIGINT), CAST(item.value->>12 AS BIGINT), \
         CAST(item.value->>13 AS BIGINT), CAST(item.value->>14 AS BIGINT), CAST(item.value->>15 AS BIGINT), \
         CAST(item.value->>16 AS BIGINT), item.value->>17, item.value->>18, CAST(item.value->>19 AS BIGINT), \
         item.value->>20, CAST(item.value->>21 AS BIGINT), $2 \
     FROM {each($1)} WHERE true \
     ON CONFLICT (md5) DO UPDATE SET content_id = excluded.content_id, \
         content_sha1 = excluded.content_sha1, declared_type = excluded.declared_type, \
         sniffed_type = excluded.sniffed_type, media_type = excluded.media_type, \
         discover_date = excluded.discover_date, update_date = excluded.update_date, \
         crawl_date = excluded.crawl_date, parent_id = excluded.parent_id, parent_date = excluded.parent_date, \
         depth = excluded.depth, is_seed = excluded.is_seed, member = excluded.member, source = excluded.source, \
         revisit = excluded.revisit, digest_mismatch = excluded.digest_mismatch, \
         change_id = CASE WHEN excluded.change_id = 0 OR document.change_id = -1 THEN document.change_id \
             ELSE excluded.change_id END, \
         state = CASE WHEN document.content_sha1 IS NOT DISTINCT FROM excluded.content_sha1 \
             THEN document.state ELSE 0 END, \
         import_id = CASE WHEN document.content_sha1 IS NOT DISTINCT FROM excluded.content_sha1 \
             THEN document.import_id ELSE excluded.import_id END";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_turned_around() {
        assert_eq!(reversed("www.a.example"), "example.a.www");
        assert_eq!(reversed("localhost"), "localhost");
        assert_eq!(reversed(""), "");
    }
}
