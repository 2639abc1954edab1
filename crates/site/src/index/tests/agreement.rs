//! Changes by one process are known to all others.

use std::collections::HashMap;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::super::state_file;
use super::*;
use crate::follow::horizon::system_seconds;

#[test]
fn each_sees_the_changes_types_and_answers_of_the_other() {
    let data = tempfile::tempdir().unwrap();
    let (one, other) = (open(data.path(), 1), open(data.path(), 1));
    let ahead = one.answer().unwrap() + 100;

    one.apply(&[file("a.html", 1)]).unwrap();
    one.answer_at(ahead).unwrap();
    other.apply(&[file("b.css", 1), file("c.html", 1)]).unwrap();

    assert_eq!(names(&one), ["a.html", "b.css", "c.html"]);
    assert_eq!(names(&other), ["a.html", "b.css", "c.html"]);
    assert!(other.answer().unwrap() >= ahead);
    for index in [&one, &other] {
        index.answer().unwrap();
        assert_eq!(index.latest(), ahead);
        assert_eq!(index.media_types().len(), 2);
    }
    let late = rows(&one).into_iter().filter(|row| row.datestamp >= ahead);
    assert_eq!(late.count(), 2);
}

#[test]
fn a_row_of_a_type_that_another_has_just_met_can_be_read() {
    let data = tempfile::tempdir().unwrap();
    let (one, other) = (open(data.path(), 1), open(data.path(), 1));
    let reader = one.reader().unwrap();

    other.apply(&[file("a.css", 1)]).unwrap();

    let rows = reader.by_path(&SitePath::root(), None, 10).unwrap();
    let types = one.media_types();
    assert_eq!(types.get(rows[0].media_type).unwrap().name, "text/css");
}

#[test]
fn types_that_two_meet_at_once_get_one_number() {
    let data = tempfile::tempdir().unwrap();

    let openers: Vec<_> = (0..4).map(|_| open(data.path(), 1)).collect();
    thread::scope(|scope| {
        for (number, index) in openers.iter().enumerate() {
            scope.spawn(move || {
                for kind in 0..30 {
                    let name = format!("{number}.kind{kind}");
                    index.apply(&[file(&name, 1)]).unwrap();
                }
            });
        }
    });

    for index in &openers {
        assert_eq!(rows(index).len(), 120);
        index.answer().unwrap();
        assert_eq!(index.media_types().len(), 30);
    }
}

#[test]
fn an_old_generation_answers_and_writes_nothing() {
    let data = tempfile::tempdir().unwrap();
    let old = open(data.path(), 1);
    old.apply(&[file("a.txt", 1)]).unwrap();
    old.set_fact("site_url", "old").unwrap();
    assert!(old.is_first() && !old.is_superseded());

    let new = open(data.path(), 2);
    assert!(new.is_first() && !open(data.path(), 2).is_first());
    let before = rows(&new);
    let applied = old.apply(&[file("b.txt", 1), gone("a.txt")]).unwrap();
    old.touch(&SitePath::root()).unwrap();
    old.withdraw(&SitePath::root(), |_| true).unwrap();
    old.turn_shown(&[(path("a.txt"), true)]).unwrap();
    old.note_shown(&[(before[0].id, true)]).unwrap();
    old.set_fact("site_url", "older").unwrap();

    assert_eq!(applied, Applied::default());
    assert!(old.is_superseded() && !new.is_superseded());
    assert_eq!(rows(&new), before);
    assert_eq!(new.fact("site_url").unwrap().unwrap(), "old");
    let asked = old.answer().unwrap();
    assert!(answered(&new) >= asked);
    new.apply(&[file("b.txt", 1)]).unwrap();
    assert_eq!(names(&old), ["a.txt", "b.txt"]);
}

#[test]
fn a_generation_is_old_only_while_a_newer_one_is_there() {
    let data = tempfile::tempdir().unwrap();
    drop(open(data.path(), 9));

    let index = open(data.path(), 3);

    assert!(!index.is_superseded());
    index.apply(&[file("a.txt", 1)]).unwrap();
    assert_eq!(names(&index), ["a.txt"]);
}

#[test]
fn a_state_that_is_garbage_is_made_anew_and_forgets_no_answer() {
    let data = tempfile::tempdir().unwrap();
    let (one, other) = (open(data.path(), 1), open(data.path(), 2));
    other.apply(&[file("a.css", 1)]).unwrap();
    let ahead = other.answer_at(system_seconds() + 100).unwrap();
    assert_eq!(one.answer().unwrap(), ahead);

    for garbage in ["", "garner", &"x".repeat(500)] {
        fs::write(data.path().join(state_file::FILE), garbage).unwrap();
        assert!(one.answer().unwrap() >= ahead);
        assert!(one.is_superseded());
        fs::write(data.path().join(state_file::FILE), garbage).unwrap();
        other.apply(&[file("b.css", 1)]).unwrap();
    }

    let stamped = rows(&one).into_iter().map(|row| row.datestamp).max();
    assert!(stamped.unwrap() >= ahead);
    assert_eq!(names(&one), ["a.css", "b.css"]);
}

#[test]
fn a_state_that_is_garbage_at_a_start_counts_as_a_crash() {
    let data = tempfile::tempdir().unwrap();
    drop(open(data.path(), 1));
    fs::write(data.path().join(state_file::FILE), "garbage").unwrap();
    let before = system_seconds();

    let index = open(data.path(), 1);

    assert!(answered(&index) >= before);
    drop(index);
    fs::remove_file(data.path().join(state_file::FILE)).unwrap();
    assert!(answered(&open(data.path(), 1)) >= before);
}

/// The state of a harvester: when it was answered, and the mark and datestamp of every item.
struct Harvest {
    answered: i64,
    items: HashMap<SitePath, (i64, i64)>,
}

#[test]
fn no_update_is_missed_whoever_writes_and_whoever_answers() {
    let data = tempfile::tempdir().unwrap();
    let openers: Vec<_> = (0..3).map(|_| open(data.path(), 1)).collect();
    let (done, marks) = (AtomicBool::new(false), AtomicU64::new(1));
    let harvests = Mutex::new(Vec::new());

    thread::scope(|scope| {
        for (seed, index) in openers.iter().enumerate() {
            let (done, marks, harvests) = (&done, &marks, &harvests);
            scope.spawn(move || {
                let mut random = seed as u64 + 1;
                while !done.load(Ordering::Relaxed) {
                    random = random
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    let name = format!("{}.t{}", (random >> 33) % 40, (random >> 40) % 5);
                    let mark = marks.fetch_add(1, Ordering::Relaxed) as i64;
                    let seen = match (random >> 50) % 4 {
                        0 => gone(&name),
                        _ => file(&name, mark),
                    };
                    index.apply(&[seen]).unwrap();
                }
            });
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let answered = index.answer().unwrap();
                    let items = rows(index).into_iter();
                    let items = items
                        .map(|row| (row.path, (row.mark, row.datestamp)))
                        .collect();
                    harvests.lock().unwrap().push(Harvest { answered, items });
                    thread::sleep(Duration::from_millis(7));
                }
            });
        }
        // Several seconds, so that there are answers before and after each change.
        thread::sleep(Duration::from_millis(3500));
        done.store(true, Ordering::Relaxed);
    });

    let harvests = harvests.into_inner().unwrap();
    assert!(harvests.len() > 5);
    let last = rows(&openers[0]);
    for harvest in &harvests {
        for row in &last {
            let held = harvest.items.get(&row.path);
            if held.is_some_and(|(mark, _)| *mark == row.mark) {
                continue;
            }
            assert!(row.datestamp >= harvest.answered);
            if let Some((_, datestamp)) = held.filter(|held| held.1 <= harvest.answered) {
                assert!(row.datestamp > *datestamp);
            }
        }
    }
}
