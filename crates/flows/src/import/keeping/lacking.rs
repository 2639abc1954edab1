//! The facts of a log beside archives, long after they were read: they count for documents that lack them.
//!
//! A log speaks of all that was crawled, pages and pictures most of all, and captures that are read now have seen all of
//! it. So nothing is remembered of what no document is known for, and what is known of a document stays.

use std::collections::HashMap;

use catalog::{CaptureRow, Lacking};

use crate::Holdings;
use crate::import::group::{Group, ReportLine};

/// Leaves of a group what documents lack. Of several lines about one the nearest in time counts, as for one that is read.
pub(in crate::import) fn retain(holdings: &Holdings, group: &mut Group) -> anyhow::Result<()> {
    let rows = std::mem::take(&mut group.rows);
    group.contents.clear();
    group
        .told
        .retain(|told| !matches!(told, ReportLine::Row(_)));
    if rows.is_empty() {
        return Ok(());
    }
    let named: Vec<_> = rows.iter().map(|row| row.md5.as_str()).collect();
    let lacking = holdings.wait(holdings.catalog().lacking(&named))?;
    for row in nearest(rows, &lacking) {
        group.rows.push(row);
        group.contents.push(None);
    }
    Ok(())
}

/// For each document that lacks something the line that is nearest in time, if it says some of that; in their order.
fn nearest(rows: Vec<CaptureRow>, lacking: &HashMap<String, Lacking>) -> Vec<CaptureRow> {
    let mut places: HashMap<String, (usize, u64)> = HashMap::new();
    let mut kept: Vec<CaptureRow> = Vec::new();
    for row in rows {
        let Some(document) = lacking.get(&row.md5) else {
            continue;
        };
        let far = row.crawled.abs_diff(document.update_date);
        let Some(row) = added(row, document) else {
            continue;
        };
        match places.get_mut(&row.md5) {
            Some((_, nearest)) if *nearest <= far => {}
            Some((place, nearest)) => {
                *nearest = far;
                kept[*place] = row;
            }
            None => {
                places.insert(row.md5.clone(), (kept.len(), far));
                kept.push(row);
            }
        }
    }
    kept
}

/// The addition of a row to a document: nothing that it has, and no date, for it is no capture.
fn added(mut row: CaptureRow, document: &Lacking) -> Option<CaptureRow> {
    row.parent = row.parent.filter(|_| document.parent);
    row.depth = row.depth.filter(|_| document.depth);
    row.is_seed = row.is_seed.filter(|_| document.is_seed);
    row.crawled = row
        .crawled
        .clamp(document.discover_date, document.update_date);
    let is_something = row.parent.is_some() || row.depth.is_some() || row.is_seed.is_some();
    is_something.then_some(row)
}

#[cfg(test)]
mod tests {
    use catalog::{ContentRow, ParentRow};

    use super::*;

    fn row(url: &str, parent: Option<&str>, crawled: i64) -> CaptureRow {
        CaptureRow {
            url: url.to_owned(),
            md5: url.to_owned(),
            host: String::new(),
            parent: parent.map(|url| ParentRow {
                url: url.to_owned(),
                md5: url.to_owned(),
                host: String::new(),
            }),
            depth: Some(3),
            is_seed: None,
            crawled,
            content: ContentRow::EdgeOnly,
            declared_type: None,
            sniffed_type: None,
            media_type: String::new(),
            member: None,
            source: String::new(),
            digest_mismatch: None,
        }
    }

    fn lacking(parent: bool, depth: bool) -> Lacking {
        Lacking {
            discover_date: 100,
            update_date: 200,
            parent,
            depth,
            is_seed: true,
        }
    }

    #[test]
    fn the_nearest_line_adds_what_is_lacking_and_no_date() {
        let documents = HashMap::from([
            ("a".to_owned(), lacking(true, false)),
            ("b".to_owned(), lacking(false, false)),
        ]);
        let rows = vec![
            row("a", Some("far"), 20),
            row("unknown", Some("page"), 150),
            row("a", Some("near"), 210),
            row("b", Some("page"), 150),
            row("a", Some("late"), 900),
            row("a", None, 200),
        ];

        let kept = nearest(rows, &documents);

        let [kept] = &kept[..] else {
            panic!("{kept:?}");
        };
        assert_eq!(kept.parent.as_ref().unwrap().url, "near");
        assert_eq!((kept.depth, kept.crawled), (None, 200));
    }
}
