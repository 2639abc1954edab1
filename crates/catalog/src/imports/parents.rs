//! Pages that link to documents, and which of them is a document's parent.
//!
//! The better parent is on the same host; then in the same directory; then in the deepest directory above the document.
//! Of two that are as good, the one that linked to it first is kept, and of two at once the one with the lesser MD5.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::Serialize;

use super::fold::Folded;
use crate::database::Transaction;
use crate::database::bounded::bounded;
use crate::database::rows::batch;
use crate::{CaptureRow, Error, ParentRow};

/// That a page links to a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) url: String,
    pub(super) md5: String,
    /// When that was seen.
    pub(super) date: i64,
}

impl Edge {
    pub(super) fn new(parent: &ParentRow, date: i64) -> Self {
        Self {
            url: parent.url.clone(),
            md5: parent.md5.clone(),
            date,
        }
    }

    /// Whether it takes the place of another.
    pub(super) fn is_better(&self, other: &Self, document: &str) -> bool {
        self.key(document) < other.key(document)
    }

    fn key(&self, document: &str) -> (Reverse<Rank>, i64, &str) {
        (Reverse(rank(document, &self.url)), self.date, &self.md5)
    }
}

/// Whether it is on the same host, whether it is in the same directory, and how long its own is if it is above.
type Rank = (bool, bool, usize);

fn rank(document: &str, parent: &str) -> Rank {
    let (host, directory) = split(document);
    let (parent_host, parent_directory) = split(parent);
    if host != parent_host {
        return (false, false, 0);
    }
    let above = match directory.starts_with(parent_directory) {
        true => parent_directory.len(),
        false => 0,
    };
    (true, directory == parent_directory, above)
}

/// The host and the directory of a URL, which ends in a slash.
fn split(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = &rest[..rest.find(['?', '#']).unwrap_or(rest.len())];
    let Some(path) = rest.find('/') else {
        return (rest, "/");
    };
    let end = rest.rfind('/').unwrap_or(path);
    (&rest[..path], &rest[path..=end])
}

/// A page as the group saw it.
#[derive(Serialize)]
struct Seen<'a>(&'a str, &'a str, String, i64, i64);

/// Writes the pages of a group, and gives the numbers of those that documents have as their parents, by their MD5.
pub(super) async fn write(
    transaction: &mut Transaction,
    rows: &[CaptureRow],
    folded: &Folded<'_>,
) -> Result<HashMap<String, i64>, Error> {
    let mut seen: HashMap<&str, Seen<'_>> = HashMap::new();
    for row in rows {
        let Some(parent) = &row.parent else { continue };
        let page = seen.entry(&parent.md5).or_insert_with(|| {
            let host = bounded(&parent.host).into_owned();
            Seen(&parent.url, &parent.md5, host, row.crawled, row.crawled)
        });
        page.3 = page.3.min(row.crawled);
        page.4 = page.4.max(row.crawled);
    }
    let edges = folded
        .documents
        .iter()
        .filter(|document| document.is_changed());
    let edges = edges.filter_map(|document| document.now.edge.as_ref());
    let mut wanted: Vec<_> = seen.keys().map(|md5| (*md5,)).collect();
    wanted.extend(
        edges
            .filter(|edge| !seen.contains_key(edge.md5.as_str()))
            .map(|edge| (edge.md5.as_str(),)),
    );
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let sql = "SELECT parent.id, parent.md5, parent.first_crawl_date, parent.last_crawl_date
         FROM {looked_up(parent.md5)}";
    let mut numbers = HashMap::with_capacity(wanted.len());
    for row in transaction.rows(sql, [batch(&wanted)]).await? {
        let md5 = row.text("md5")?;
        let (first, last) = (
            row.integer("first_crawl_date")?,
            row.integer("last_crawl_date")?,
        );
        // Rows that would not change are not written.
        if seen
            .get(md5.as_str())
            .is_some_and(|page| first <= page.3 && page.4 <= last)
        {
            seen.remove(md5.as_str());
        }
        numbers.insert(md5, row.integer("id")?);
    }
    if seen.is_empty() {
        return Ok(numbers);
    }
    let pages: Vec<_> = seen.into_values().collect();
    let sql = "INSERT INTO parent (url, md5, host, first_crawl_date, last_crawl_date)
         SELECT item.value->>0, item.value->>1, item.value->>2, CAST(item.value->>3 AS BIGINT),
             CAST(item.value->>4 AS BIGINT)
         FROM {each($1)} WHERE true
         ON CONFLICT (md5) DO UPDATE SET
             first_crawl_date = CASE WHEN excluded.first_crawl_date < parent.first_crawl_date
                 THEN excluded.first_crawl_date ELSE parent.first_crawl_date END,
             last_crawl_date = CASE WHEN excluded.last_crawl_date > parent.last_crawl_date
                 THEN excluded.last_crawl_date ELSE parent.last_crawl_date END
         RETURNING id, md5";
    for row in transaction.rows(sql, [batch(&pages)]).await? {
        numbers.insert(row.text("md5")?, row.integer("id")?);
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "http://a.example/x/y/paper.pdf?v=1/2";

    #[test]
    fn the_nearer_page_is_the_better_parent() {
        let ranks = [
            "http://b.example/x/y/",
            "http://a.example/z/",
            "http://a.example",
            "http://a.example/x/list?of=/x/y/",
            "http://a.example/x/y/index.html",
        ]
        .map(|parent| rank(DOCUMENT, parent));

        assert!(ranks.is_sorted());
        assert_eq!(ranks[0], (false, false, 0));
        // A directory beside the document's is no better than none.
        assert_eq!(ranks[1], (true, false, 0));
        assert_eq!(ranks[4], (true, true, 5));
    }

    #[test]
    fn of_two_that_are_as_good_the_first_is_kept() {
        let edge = |url: &str, md5: &str, date| Edge {
            url: url.to_owned(),
            md5: md5.to_owned(),
            date,
        };
        let first = edge("http://a.example/p", "b", 1);

        assert!(first.is_better(&edge("http://a.example/q", "a", 2), DOCUMENT));
        assert!(edge("http://a.example/q", "a", 1).is_better(&first, DOCUMENT));
        assert!(!first.is_better(&first, DOCUMENT));
    }

    #[test]
    fn odd_texts_have_a_directory_too() {
        for url in ["", "/", "a", "://", "http://", "http://a?/", "ü/é/"] {
            assert!(split(url).1.ends_with('/'), "{url}");
        }
    }
}
