//! Processes that get in, and processes that have to wait.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::Duration;

use super::super::sharing::IndexLock;
use super::*;

#[test]
fn an_index_that_is_shared_is_refused_to_who_wants_it_alone() {
    let data = tempfile::tempdir().unwrap();
    let shared = open(data.path(), 1);

    let refused = Index::open(data.path(), Sharing::Alone).unwrap_err();
    assert!(matches!(refused, Error::InUse { .. }));

    drop(shared);
    open_as(data.path(), Sharing::Alone);
}

#[test]
fn an_index_in_the_making_is_waited_for() {
    let data = tempfile::tempdir().unwrap();
    let sharing = Sharing::Shared { generation: 1 };
    let OpenedIndex::Fresh(loader) = Index::open(data.path(), sharing).unwrap() else {
        unreachable!("the directory is new");
    };

    thread::scope(|scope| {
        let waiting = scope.spawn(|| open(data.path(), 1));
        thread::sleep(Duration::from_millis(200));
        assert!(!waiting.is_finished());
        let maker = loader.finish().unwrap();
        let other = waiting.join().unwrap();
        maker.apply(&[file("a.txt", 1)]).unwrap();
        assert_eq!(names(&other), ["a.txt"]);
    });
}

#[test]
fn who_waits_too_long_is_told_why() {
    let data = tempfile::tempdir().unwrap();
    let _alone = open_as(data.path(), Sharing::Alone);

    let sharing = Sharing::Shared { generation: 1 };
    let patience = Duration::from_millis(120);
    let error = IndexLock::take_within(patience, data.path(), sharing).unwrap_err();

    assert!(matches!(error, Error::Building { .. }), "{error}");
}

#[test]
fn a_maker_that_gives_up_leaves_the_making_to_the_next() {
    let data = tempfile::tempdir().unwrap();
    let sharing = Sharing::Shared { generation: 1 };
    let OpenedIndex::Fresh(loader) = Index::open(data.path(), sharing).unwrap() else {
        unreachable!("the directory is new");
    };

    thread::scope(|scope| {
        let waiting: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| open(data.path(), 1)))
            .collect();
        thread::sleep(Duration::from_millis(100));
        drop(loader);
        for opener in waiting {
            assert!(names(&opener.join().unwrap()).is_empty());
        }
    });
}

#[test]
fn many_that_open_at_once_all_get_in() {
    let data = tempfile::tempdir().unwrap();

    for _ in 0..10 {
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| open(data.path(), 1).answer().unwrap());
            }
        });
    }

    assert!(names(&open(data.path(), 1)).is_empty());
}

#[test]
fn one_that_ends_takes_nothing_from_the_others() {
    let data = tempfile::tempdir().unwrap();
    let (one, other) = (open(data.path(), 1), open(data.path(), 1));
    one.apply(&[file("a.txt", 1)]).unwrap();

    one.close().unwrap();
    drop(one);

    other.apply(&[file("b.txt", 1)]).unwrap();
    assert_eq!(names(&other), ["a.txt", "b.txt"]);
    assert_eq!(names(&open(data.path(), 1)), ["a.txt", "b.txt"]);
}

#[test]
fn what_is_made_is_for_nobody_else_to_read() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let index = open(&data, 1);
    index.apply(&[file("a.txt", 1)]).unwrap();
    let _turn = index.turn().unwrap();

    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;

    assert_eq!(mode(&data), 0o700);
    for entry in fs::read_dir(&data).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}
