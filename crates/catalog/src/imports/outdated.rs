//! Which `.met` files a group leaves without something that is known now.

use std::collections::{HashMap, HashSet};

use super::fold::{Claim, Document, Folded};
use crate::collection::outdate;
use crate::database::Transaction;
use crate::database::rows::batch;
use crate::{CaptureRow, Error};

/// Notes the contents of documents that changed. A new document that came once, with a content that came once, is told of
/// by the `.met` file that lies beside it already; most are.
pub(super) async fn note(
    transaction: &mut Transaction,
    rows: &[CaptureRow],
    folded: &Folded<'_>,
    fresh: &[&str],
) -> Result<(), Error> {
    let (mut urls, mut contents) = (HashMap::new(), HashMap::new());
    for row in rows {
        *urls.entry(row.md5.as_str()).or_insert(0) += 1;
        if let Some(sha1) = row.content.sha1() {
            *contents.entry(sha1).or_insert(0) += 1;
        }
    }
    let fresh: HashSet<_> = fresh.iter().copied().collect();
    let (mut outdated, mut older) = (HashSet::new(), Vec::new());
    for document in folded
        .documents
        .iter()
        .filter(|document| document.is_changed())
    {
        if let Some(sha1) = document.now.sha1() {
            let came_once = fresh.contains(sha1)
                && urls.get(document.row.md5.as_str()) == Some(&1)
                && contents.get(sha1) == Some(&1);
            let is_told = match document.before {
                None => came_once,
                Some(before) => is_seen_again(before, &document.now),
            };
            if !is_told {
                outdated.insert(sha1);
            }
        }
        // The content that it had before becomes an older version, or is no longer named.
        outdated.extend(document.older.keys().map(String::as_str));
        older.extend(document.replaced());
    }
    let keys: Vec<_> = outdated.into_iter().map(|sha1| (sha1,)).collect();
    for part in keys.chunks(crate::database::rows::BATCH) {
        let sql = "SELECT content.id FROM {looked_up(content.sha1)}";
        for row in transaction.rows(sql, [batch(part)]).await? {
            older.push(row.integer("id")?);
        }
    }
    outdate(transaction, &older).await
}

/// Whether nothing is new but when a document was last seen. That is not written into its `.met` file alone: a crawl that
/// sees a million documents again would write a million files.
fn is_seen_again(before: &Document, now: &Document) -> bool {
    let said = |document: &Document| {
        let edge = document.edge.as_ref().map(|edge| edge.md5.clone());
        let claim = document.claim.clone().map(|claim| Claim {
            crawled: 0,
            source: String::new(),
            ..claim
        });
        let sha1 = document.sha1().map(str::to_owned);
        let place = (
            edge,
            document.depth,
            document.is_seed,
            document.discover_date,
        );
        (sha1, claim, place)
    };
    said(before) == said(now)
}
