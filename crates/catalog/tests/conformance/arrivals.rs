//! Captures in any order, in any groups, once or twice, from several imports at once, killed and gone on with: the
//! collection is the same.

use std::fs;
use std::path::Path;

use catalog::{
    CaptureRow, Catalog, ContentRow, FinishImport, Import, ImportState, NewImport, Placement,
};

use crate::crawl::{Dump, Files, add, capture, commit, linked, of, revisit};
use crate::place::Place;
use crate::processes::Other;

crate::on_both_databases!(
    the_order_of_captures_and_groups_does_not_matter,
    nor_does_it_where_versions_are_kept,
    imports_at_once_give_what_one_after_the_other_does,
    killed_imports_that_go_on_give_what_an_undisturbed_one_does,
    processes_that_import_at_once_give_what_one_after_the_other_does,
);

/// Numbers that look random and are the same each time.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

const URLS: [&str; 6] = [
    "http://a.example/x/y/1.pdf",
    "http://a.example/x/y/2.pdf",
    "http://a.example/3.pdf",
    "http://b.example/x/4.pdf",
    "http://b.example/5.pdf",
    "http://c.example/6.pdf",
];
const PARENTS: [&str; 6] = [
    "http://a.example/",
    "http://a.example/x/",
    "http://a.example/x/y/index.html",
    "http://a.example/x/y/other.html",
    "http://b.example/x/list?a=/",
    "http://d.example/",
];

/// A capture of anything. A revisit that names a content finds it only if that is still there, so without versions it
/// names none.
fn random(dice: &mut Dice, keep_versions: bool) -> CaptureRow {
    let url = URLS[dice.below(URLS.len())];
    let crawled = dice.below(8) as i64;
    let bytes = ["A", "B", "C", "D"][dice.below(4)];
    let mut row = match dice.below(8) {
        0 => revisit(url, keep_versions.then_some(bytes), crawled),
        1 => CaptureRow {
            content: ContentRow::EdgeOnly,
            ..capture(url, bytes, crawled)
        },
        _ => capture(url, bytes, crawled),
    };
    row.declared_type =
        [None, Some("a/a".to_owned()), Some("b/b".to_owned())][dice.below(3)].clone();
    row.depth = [None, Some(1), Some(2)][dice.below(3)];
    row.is_seed = [None, Some(false), Some(true)][dice.below(3)];
    if dice.one_in(2) {
        row = linked(row, PARENTS[dice.below(PARENTS.len())]);
    }
    row
}

fn crawl(dice: &mut Dice, keep_versions: bool) -> Vec<CaptureRow> {
    let captures = 1 + dice.below(40);
    (0..captures).map(|_| random(dice, keep_versions)).collect()
}

/// Some captures of a list, from its beginning.
fn some<'a>(dice: &mut Dice, rows: &mut &'a [CaptureRow]) -> &'a [CaptureRow] {
    let (group, rest) = rows.split_at((1 + dice.below(9)).min(rows.len()));
    *rows = rest;
    group
}

async fn ended(catalog: &Catalog, import: Import) {
    let finish = FinishImport::new(ImportState::Ok);
    catalog.finish_import(import, &finish).await.unwrap();
}

/// A group with what is to be done with it.
type Reserved<'a> = (&'a [CaptureRow], Vec<Placement>);

/// Forgets everything but the tables.
fn empty(place: &Place) {
    place.sql(
        "DELETE FROM version; DELETE FROM document; DELETE FROM heard; DELETE FROM revisit; DELETE FROM content;
         DELETE FROM outdated_met; DELETE FROM parent; DELETE FROM import;",
    );
}

/// The expected rows, computed from the captures by the written rules.
fn expected(rows: &[CaptureRow]) -> Vec<(String, Option<String>, i64, i64)> {
    let mut documents = Vec::new();
    for url in URLS {
        let own: Vec<_> = rows.iter().filter(|row| row.url == url).collect();
        let latest = own.iter().filter_map(|row| match &row.content {
            ContentRow::Bytes { sha1, .. } => Some((row.crawled, sha1)),
            _ => None,
        });
        let Some((_, sha1)) = latest.max() else {
            continue;
        };
        let dates = own.iter().map(|row| row.crawled);
        let (first, last) = (dates.clone().min().unwrap(), dates.max().unwrap());
        documents.push((url.to_owned(), Some(sha1.clone()), first, last));
    }
    documents
}

async fn the_order_of_captures_and_groups_does_not_matter(place: Place) {
    orders(&place, false).await;
}

async fn nor_does_it_where_versions_are_kept(place: Place) {
    orders(&place, true).await;
}

async fn orders(place: &Place, keep_versions: bool) {
    let catalog = place.open().await;
    for seed in 1..=12 {
        let mut dice = Dice::new(seed);
        let mut rows = crawl(&mut dice, keep_versions);
        let mut first: Option<Dump> = None;
        for round in 0..4 {
            empty(place);
            let mut files = Files::default();
            let new = NewImport {
                keep_versions,
                ..of(&round.to_string())
            };
            let mut import = catalog.begin_import(&new).await.unwrap();
            let mut rest = &rows[..];
            while !rest.is_empty() {
                let group = some(&mut dice, &mut rest);
                add(&catalog, &mut import, &mut files, group).await;
                if dice.one_in(3) {
                    add(&catalog, &mut import, &mut files, group).await;
                }
            }
            ended(&catalog, import).await;

            let dump = Dump::read(&catalog, &files).await;
            for (url, sha1, discovered, updated) in expected(&rows) {
                let told = &dump.documents[&url];
                let sha1 = sha1.unwrap();
                let begins = format!("{} {discovered}..{updated} ", sha1.trim_start_matches('0'));
                assert!(told.starts_with(&begins), "{told} is not {begins}");
            }
            match &first {
                None => first = Some(dump),
                Some(first) => {
                    assert_eq!(dump, *first, "seed {seed}, round {round}: {rows:#?}");
                }
            }
            dice.shuffle(&mut rows);
        }
    }
}

async fn imports_at_once_give_what_one_after_the_other_does(place: Place) {
    let catalog = place.open().await;
    for seed in 1..=12 {
        let mut dice = Dice::new(100 + seed);
        let keep_versions = dice.one_in(2);
        let crawls: Vec<_> = (0..3).map(|_| crawl(&mut dice, keep_versions)).collect();
        let new = |number: usize| NewImport {
            keep_versions,
            ..of(&number.to_string())
        };
        empty(&place);
        let mut files = Files::default();
        for (number, rows) in crawls.iter().enumerate() {
            let mut import = catalog.begin_import(&new(number)).await.unwrap();
            add(&catalog, &mut import, &mut files, rows).await;
            ended(&catalog, import).await;
        }
        let one_by_one = Dump::read(&catalog, &files).await;

        empty(&place);
        let mut files = Files::default();
        let mut running: Vec<(Import, &[CaptureRow], Option<Reserved<'_>>)> = Vec::new();
        for (number, rows) in crawls.iter().enumerate() {
            let import = catalog.begin_import(&new(number)).await.unwrap();
            running.push((import, &rows[..], None));
        }
        // Any of them does its next step: it reserves a group, or commits the one that it has reserved.
        while !running.is_empty() {
            let at = dice.below(running.len());
            let (import, rest, reserved) = &mut running[at];
            match reserved.take() {
                Some((rows, placements)) => {
                    commit(&catalog, import, &mut files, rows, &placements).await;
                }
                None if rest.is_empty() => ended(&catalog, running.remove(at).0).await,
                None => {
                    let rows = some(&mut dice, rest);
                    let placements = catalog.reserve(import, rows).await.unwrap();
                    files.place(rows, &placements);
                    *reserved = Some((rows, placements));
                }
            }
        }

        let at_once = Dump::read(&catalog, &files).await;
        assert_eq!(at_once, one_by_one, "seed {seed}: {crawls:#?}");
    }
}

async fn killed_imports_that_go_on_give_what_an_undisturbed_one_does(place: Place) {
    let catalog = place.open().await;
    for seed in 1..=8 {
        let mut dice = Dice::new(200 + seed);
        let keep_versions = dice.one_in(2);
        let rows = crawl(&mut dice, keep_versions);
        let new = NewImport {
            keep_versions,
            ..of("killed")
        };
        empty(&place);
        let mut files = Files::default();
        let mut import = catalog.begin_import(&new).await.unwrap();
        add(&catalog, &mut import, &mut files, &rows).await;
        let undisturbed = (Dump::read(&catalog, &files).await, import.counters());
        ended(&catalog, import).await;

        empty(&place);
        let mut files = Files::default();
        let mut import = catalog.begin_import(&new).await.unwrap();
        loop {
            let done = import.positions()[0].position as usize;
            let mut rest = &rows[done..];
            if rest.is_empty() {
                break;
            }
            let group = some(&mut dice, &mut rest);
            let placements = catalog.reserve(&mut import, group).await.unwrap();
            files.place(group, &placements);
            if dice.one_in(2) {
                // Nobody hears of it any more, and another process takes it over.
                place.sql("UPDATE import SET lease_until = 0");
                import = catalog.begin_import(&new).await.unwrap();
                assert!(import.is_resumed());
                continue;
            }
            commit(&catalog, &mut import, &mut files, group, &placements).await;
        }

        let dump = Dump::read(&catalog, &files).await;
        let mut counters = import.counters();
        // Content that is replaced within a group is never stored.
        counters.bytes_saved = undisturbed.1.bytes_saved;
        assert_eq!((dump, counters), undisturbed, "seed {seed}: {rows:#?}");
        ended(&catalog, import).await;
    }
}

async fn processes_that_import_at_once_give_what_one_after_the_other_does(place: Place) {
    for keep_versions in [false, true] {
        let tasks: Vec<_> = (301..305).map(|seed| (seed, keep_versions)).collect();
        let catalog = place.open().await;
        empty(&place);
        let one_by_one = tempfile::tempdir().unwrap();
        for (seed, keep_versions) in &tasks {
            let task = told(*seed, *keep_versions, one_by_one.path());
            import_alone(&catalog, &task).await;
        }
        let expected = Dump::read(&catalog, &lying(one_by_one.path())).await;

        empty(&place);
        let at_once = tempfile::tempdir().unwrap();
        let others: Vec<_> = tasks
            .iter()
            .map(|(seed, keep)| {
                let task = told(*seed, *keep, at_once.path());
                Other::start(&place, &format!("import {task}"))
            })
            .collect();
        for mut other in others {
            other.numbers("none");
        }

        let dump = Dump::read(&catalog, &lying(at_once.path())).await;
        assert_eq!(dump, expected);
        assert!(!dump.documents.is_empty());
    }
}

fn told(seed: u64, keep_versions: bool, directory: &Path) -> String {
    format!("{seed} {keep_versions} {}", directory.display())
}

/// Imports a crawl, with the collection in a directory: a file for each number, with the SHA-1 in it.
pub(crate) async fn import_alone(catalog: &Catalog, task: &str) {
    let parts: Vec<_> = task.splitn(3, ' ').collect();
    let (keep_versions, directory) = (parts[1] == "true", Path::new(parts[2]));
    let mut dice = Dice::new(parts[0].parse().unwrap());
    let rows: Vec<_> = (0..150).map(|_| random(&mut dice, keep_versions)).collect();
    let new = NewImport {
        keep_versions,
        ..of(parts[0])
    };
    let mut import = catalog.begin_import(&new).await.unwrap();
    let mut rest = &rows[..];
    while !rest.is_empty() {
        let group = some(&mut dice, &mut rest);
        let placements = catalog.reserve(&mut import, group).await.unwrap();
        for (row, placement) in group.iter().zip(&placements) {
            if let (Placement::Store { number }, ContentRow::Bytes { sha1, .. }) =
                (placement, &row.content)
            {
                fs::write(directory.join(number.to_string()), sha1).unwrap();
            }
        }
        let commit = crate::crawl::group(group, &placements, 0);
        let outcome = catalog.commit_group(&mut import, commit).await.unwrap();
        for file in outcome.superfluous {
            fs::remove_file(directory.join(file.number.to_string())).unwrap();
        }
    }
    ended(catalog, import).await;
}

fn lying(directory: &Path) -> Files {
    let mut files = Files::default();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let number = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
        files.0.insert(number, fs::read_to_string(&path).unwrap());
    }
    files
}
