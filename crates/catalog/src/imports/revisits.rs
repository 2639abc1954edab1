//! Revisits of URLs that no bytes are known of. They tell which content the URL had, and that is looked for under other
//! URLs: now, or whenever it comes. The latest of those that are found is the document's content.
//!
//! A capture with bytes of the URL itself outweighs all of them.

use std::collections::HashMap;

use super::documents::{forget_heard, numbers};
use super::fold::Folded;
use crate::Error;
use crate::changes::open_documents;
use crate::collection::outdate;
use crate::database::Transaction;
use crate::database::rows::batch;

/// The content that a document has by its revisits.
struct Found {
    crawled: i64,
    sha1: String,
    content: i64,
}

/// Writes what the revisits of a group say, and finds the contents of documents by it. `fresh` are the SHA-1 of contents
/// that the group brought. Gives the numbers of contents that documents had before.
pub(super) async fn write(
    transaction: &mut Transaction,
    import: i64,
    folded: &Folded<'_>,
    fresh: &[&str],
) -> Result<Vec<(i64,)>, Error> {
    let (mut said, mut outweighed) = (Vec::new(), Vec::new());
    for document in &folded.documents {
        let md5 = document.row.md5.as_str();
        let was_heard_of = document.before.is_some_and(|before| before.claim.is_none());
        match document.now.claim {
            Some(_) if was_heard_of => outweighed.push((md5,)),
            Some(_) => {}
            None => said.extend(
                document
                    .revisits
                    .iter()
                    .map(|(sha1, last)| (md5, *sha1, *last)),
            ),
        }
    }
    if !outweighed.is_empty() {
        let sql = "DELETE FROM revisit WHERE md5 {texts($1)}";
        transaction.execute(sql, [batch(&outweighed)]).await?;
    }
    if !said.is_empty() {
        let sql = "INSERT INTO revisit (md5, sha1, crawl_date)
             SELECT item.value->>0, item.value->>1, CAST(item.value->>2 AS BIGINT) FROM {each($1)} WHERE true
             ON CONFLICT (md5, sha1) DO UPDATE SET crawl_date = excluded.crawl_date
             WHERE excluded.crawl_date > revisit.crawl_date";
        transaction.execute(sql, [batch(&said)]).await?;
    }
    let mut urls: Vec<_> = said.iter().map(|(md5, ..)| ((*md5).to_owned(),)).collect();
    let fresh: Vec<_> = fresh.iter().map(|sha1| (*sha1,)).collect();
    let sql = "SELECT DISTINCT md5 FROM revisit WHERE sha1 {texts($1)}";
    for row in transaction.rows(sql, [batch(&fresh)]).await? {
        urls.push((row.text("md5")?,));
    }
    match urls.is_empty() {
        true => Ok(Vec::new()),
        false => resolve(transaction, import, &urls).await,
    }
}

async fn resolve(
    transaction: &mut Transaction,
    import: i64,
    urls: &[(String,)],
) -> Result<Vec<(i64,)>, Error> {
    let sql = "SELECT revisit.md5, revisit.sha1, revisit.crawl_date, content.id
         FROM revisit JOIN content ON content.sha1 = revisit.sha1 WHERE revisit.md5 {texts($1)}";
    let mut found: HashMap<String, Found> = HashMap::new();
    for row in transaction.rows(sql, [batch(urls)]).await? {
        let one = Found {
            crawled: row.integer("crawl_date")?,
            sha1: row.text("sha1")?,
            content: row.integer("id")?,
        };
        let best = found.entry(row.text("md5")?);
        let best = best.or_insert_with(|| Found {
            sha1: one.sha1.clone(),
            ..one
        });
        if (one.crawled, &one.sha1) > (best.crawled, &best.sha1) {
            *best = one;
        }
    }
    let urls: Vec<_> = found.keys().map(|md5| (md5,)).collect();
    let sql = "SELECT content_id FROM document WHERE md5 {texts($1)}";
    let before = transaction.rows(sql, [batch(&urls)]).await?;
    let had = before.iter().map(|row| Ok((row.integer("content_id")?,)));
    let had: Vec<_> = had.collect::<Result<_, Error>>()?;
    let values: Vec<_> = found
        .iter()
        .map(|(md5, found)| (md5, found.content, &found.sha1, found.crawled))
        .collect();
    // Those that were only heard of are documents from now on.
    let sql = "SELECT md5 FROM heard WHERE md5 {texts($1)} ORDER BY md5";
    let heard = transaction.rows(sql, [batch(&urls)]).await?;
    let heard: Vec<_> = heard
        .iter()
        .map(|row| row.text("md5"))
        .collect::<Result<_, _>>()?;
    let first = numbers(transaction, heard.len()).await?;
    let numbered: Vec<_> = heard.iter().zip(first..).collect();
    transaction
        .execute(TAKE_HEARD, [batch(&numbered), import.into()])
        .await?;
    let heard: Vec<_> = heard.iter().map(|md5| (md5.as_str(),)).collect();
    forget_heard(transaction, &heard).await?;
    let contents: Vec<_> = found.values().map(|found| found.content).collect();
    outdate(transaction, &contents).await?;
    let group = open_documents(transaction, values.len()).await?;
    let sql = "UPDATE document SET content_id = CAST(item.value->>1 AS BIGINT),
             content_sha1 = item.value->>2, crawl_date = CAST(item.value->>3 AS BIGINT), revisit = 1,
             media_type = (SELECT media_type FROM content WHERE content.id = CAST(item.value->>1 AS BIGINT)),
             state = CASE WHEN content_sha1 IS NOT DISTINCT FROM item.value->>2 THEN state ELSE 0 END,
             import_id = CASE WHEN content_sha1 IS NOT DISTINCT FROM item.value->>2 THEN import_id ELSE $2 END,
             change_id = CASE WHEN content_sha1 IS NOT DISTINCT FROM item.value->>2 OR change_id = -1
                 THEN change_id ELSE $3 END
         FROM {each($1)} WHERE document.md5 = item.value->>0";
    transaction
        .execute(sql, [batch(&values), import.into(), group.into()])
        .await?;
    Ok(had)
}

const TAKE_HEARD: &str = "INSERT INTO document (id, url, md5, rev_host, host, discover_date, update_date, parent_id, \
         parent_date, depth, is_seed, source, revisit, import_id) \
     SELECT CAST(item.value->>1 AS BIGINT), heard.url, heard.md5, heard.rev_host, heard.host, heard.discover_date, \
         heard.update_date, heard.parent_id, heard.parent_date, heard.depth, heard.is_seed, heard.source, 1, $2 \
     FROM {each($1)} JOIN heard ON heard.md5 = item.value->>0";
