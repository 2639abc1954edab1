//! Captures made up for tests, and a collection that is only a table of what lies where.

use std::collections::{BTreeMap, BTreeSet};

use catalog::{
    CaptureRow, Catalog, ContentRow, DocumentQuery, GroupCommit, GroupOutcome, Import,
    ImportCounters, NewImport, ParentQuery, ParentRow, Placement,
};

/// A capture of a URL with bytes that stand for themselves.
pub(crate) fn capture(url: &str, bytes: &str, crawled: i64) -> CaptureRow {
    CaptureRow {
        url: url.to_owned(),
        md5: md5(url),
        host: host(url),
        parent: None,
        depth: None,
        is_seed: None,
        crawled,
        content: content(bytes),
        declared_type: Some("text/plain".to_owned()),
        sniffed_type: None,
        media_type: "application/pdf".to_owned(),
        member: None,
        source: format!("crawl.warc.gz at offset {crawled}"),
        digest_mismatch: None,
    }
}

pub(crate) fn revisit(url: &str, bytes: Option<&str>, crawled: i64) -> CaptureRow {
    CaptureRow {
        content: ContentRow::Revisit {
            sha1: bytes.map(sha1),
        },
        ..capture(url, "", crawled)
    }
}

pub(crate) fn linked(row: CaptureRow, parent: &str) -> CaptureRow {
    CaptureRow {
        parent: Some(ParentRow {
            url: parent.to_owned(),
            md5: md5(parent),
            host: host(parent),
        }),
        ..row
    }
}

pub(crate) fn content(bytes: &str) -> ContentRow {
    ContentRow::Bytes {
        sha1: sha1(bytes),
        sha256: format!("{:0>64}", hex(bytes)),
        size: bytes.len() as u64,
        extension: "pdf".to_owned(),
    }
}

/// Any text of the right form that is another for each text will do.
pub(crate) fn md5(text: &str) -> String {
    format!("{:0>32}", hex(text))
}

pub(crate) fn sha1(text: &str) -> String {
    format!("{:0>40}", hex(text))
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn host(url: &str) -> String {
    let rest = url.split_once("://").unwrap().1;
    rest.split('/').next().unwrap().to_owned()
}

/// An import of one source.
pub(crate) fn of(source: &str) -> NewImport {
    NewImport::new("{}", vec![source.to_owned()])
}

/// The files of the collection: SHA-1 by number.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Files(pub(crate) BTreeMap<i64, String>);

impl Files {
    pub(crate) fn place(&mut self, rows: &[CaptureRow], placements: &[Placement]) {
        for (row, placement) in rows.iter().zip(placements) {
            let ContentRow::Bytes { sha1, .. } = &row.content else {
                assert_eq!(*placement, Placement::Nothing);
                continue;
            };
            match placement {
                Placement::Store { number } => {
                    let before = self.0.insert(*number, sha1.clone());
                    assert!(before.is_none_or(|before| before == *sha1), "overwritten");
                }
                Placement::Known { number } => assert_eq!(self.0.get(number), Some(sha1)),
                Placement::Nothing => {}
            }
        }
    }

    pub(crate) fn remove(&mut self, outcome: &GroupOutcome) {
        for superfluous in &outcome.superfluous {
            self.0.remove(&superfluous.number);
        }
    }
}

/// Reserves, places and commits a group.
pub(crate) async fn add(
    catalog: &Catalog,
    import: &mut Import,
    files: &mut Files,
    rows: &[CaptureRow],
) -> GroupOutcome {
    let placements = catalog.reserve(import, rows).await.unwrap();
    files.place(rows, &placements);
    commit(catalog, import, files, rows, &placements).await
}

pub(crate) async fn commit(
    catalog: &Catalog,
    import: &mut Import,
    files: &mut Files,
    rows: &[CaptureRow],
    placements: &[Placement],
) -> GroupOutcome {
    let position = import.positions()[0].position + rows.len() as u64;
    let outcome = catalog
        .commit_group(import, group(rows, placements, position))
        .await
        .unwrap();
    files.remove(&outcome);
    outcome
}

pub(crate) fn group<'a>(
    rows: &'a [CaptureRow],
    placements: &'a [Placement],
    position: u64,
) -> GroupCommit<'a> {
    GroupCommit {
        rows,
        placements,
        source: 0,
        position,
        source_done: false,
        counters: ImportCounters {
            all: rows.len() as u64,
            ..ImportCounters::default()
        },
        warnings: &[],
        judgements: &[],
    }
}

/// Everything that must not depend on the order in which captures come: all but numbers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Dump {
    pub(crate) documents: BTreeMap<String, String>,
    pub(crate) parents: BTreeMap<String, (i64, i64)>,
    pub(crate) versions: BTreeSet<(String, String, i64)>,
    pub(crate) contents: BTreeSet<String>,
}

impl Dump {
    /// Reads it, and compares it with what lies in the collection.
    pub(crate) async fn read(catalog: &Catalog, files: &Files) -> Self {
        let mut dump = Self::default();
        let mut held = BTreeMap::new();
        for content in catalog.contents_from(0, 1_000_000).await.unwrap() {
            assert!(content.documents > 0, "{content:?} belongs to nobody");
            dump.contents.insert(content.sha1.clone());
            held.insert(content.number, content.sha1);
        }
        assert_eq!(
            held, files.0,
            "every content has its file, every file its content"
        );
        let all = DocumentQuery {
            limit: 1_000_000,
            ..DocumentQuery::default()
        };
        for document in catalog.documents(&all).await.unwrap() {
            assert_eq!(held[&document.content], document.content_sha1);
            for version in catalog.versions(document.id).await.unwrap() {
                let sha1 = version.content.sha1;
                assert_ne!(sha1, document.content_sha1);
                dump.versions
                    .insert((document.url.clone(), sha1, version.crawl_date));
            }
            let told = format!(
                "{} {}..{} {} {:?} {:?} {:?} {:?}",
                document.content_sha1.trim_start_matches('0'),
                document.discover_date,
                document.update_date,
                document.crawl_date,
                document.parent_url,
                document.depth,
                document.is_seed,
                document.declared_type,
            );
            dump.documents.insert(document.url, told);
        }
        let all = ParentQuery {
            limit: 1_000_000,
            ..ParentQuery::default()
        };
        for parent in catalog.parents(&all).await.unwrap() {
            let dates = (parent.first_crawl_date, parent.last_crawl_date);
            dump.parents.insert(parent.url, dates);
        }
        dump
    }
}
