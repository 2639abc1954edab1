//! Damage that is found while others have the index open.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};

use super::*;

/// An index with live items and tombstones.
fn filled(data: &Path) -> Box<Index> {
    let index = open(data, 1);
    let files: Vec<_> = (0..500)
        .map(|number| file(&format!("{number:03}.txt"), 1))
        .collect();
    index.apply(&files).unwrap();
    let removed: Vec<_> = (0..100)
        .map(|number| gone(&format!("{number:03}.txt")))
        .collect();
    index.apply(&removed).unwrap();
    let writer = locked(&index.writer);
    let checkpoint = writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    checkpoint.unwrap();
    drop(writer);
    index
}

fn tombstones(index: &Index) -> usize {
    let rows = rows(index).into_iter();
    rows.filter(|row| row.state == State::Deleted).count()
}

/// Writes over the pages of the index on paths; the items themselves stay readable.
fn spoil(index: &Index) {
    let sql = "SELECT pageno FROM dbstat WHERE name = 'item_path' AND pagetype = 'leaf'";
    let writer = locked(&index.writer);
    let pages: rusqlite::Result<Vec<u32>> = writer
        .prepare(sql)
        .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect());
    // Not closed: that would drop the locks of this process, which the other openers do not have here.
    let file = std::mem::ManuallyDrop::new(File::options().write(true).open(&index.path).unwrap());
    for page in pages.unwrap() {
        file.write_all_at(&[0xee; 8192], u64::from(page - 1) * 8192)
            .unwrap();
    }
}

#[test]
fn others_go_on_with_the_index_that_one_has_mended() {
    let data = tempfile::tempdir().unwrap();
    let one = filled(data.path());
    let other = open(data.path(), 1);
    let held_back = other.reader().unwrap();
    let secret = one.secret().to_vec();
    spoil(&one);

    assert!(one.mend().unwrap());

    assert_eq!((names(&one).len(), tombstones(&one)), (400, 100));
    one.apply(&[file("new.css", 1)]).unwrap();
    other.answer().unwrap();
    drop(held_back);
    assert_eq!((names(&other).len(), tombstones(&other)), (401, 100));
    other.apply(&[gone("new.css")]).unwrap();
    assert_eq!((names(&one).len(), tombstones(&one)), (400, 101));
    assert!(!other.mend().unwrap());
    drop((one, other));
    let again = open(data.path(), 1);
    assert_eq!((names(&again).len(), tombstones(&again)), (400, 101));
    assert_eq!(again.secret(), secret);
    assert!(fs::exists(data.path().join(OLD_FILE)).unwrap());
}

#[test]
fn who_writes_first_after_a_rebuild_writes_into_the_new_index() {
    let data = tempfile::tempdir().unwrap();
    let one = filled(data.path());
    let other = open(data.path(), 1);
    spoil(&one);
    assert!(one.mend().unwrap());

    other.apply(&[file("new.css", 1)]).unwrap();
    other.set_fact("areas", "[]").unwrap();

    assert!(names(&one).contains(&"new.css".to_owned()));
    assert_eq!(one.fact("areas").unwrap().unwrap(), "[]");
}

/// The other process: has the index open until it is told to end, and writes only if it is told to.
#[test]
fn has_the_index_open_until_it_is_told_to_end() {
    let Some(data) = of_other_process() else {
        return;
    };
    let index = open(&data, 1);
    assert!(!rows(&index).is_empty());
    say("open");
    let mut word = String::new();
    std::io::stdin().read_line(&mut word).unwrap();
    if word.trim() == "write" {
        index.apply(&[file("other.css", 1)]).unwrap();
    }
}

/// A connection that is closed late must not take the new index's log with it: SQLite finds that by its name.
#[test]
fn a_process_that_ends_with_the_old_index_open_takes_nothing_with_it() {
    for word in ["end", "write"] {
        let data = tempfile::tempdir().unwrap();
        let index = filled(data.path());
        let test = "damage::has_the_index_open_until_it_is_told_to_end";
        let mut other = other_process(test, data.path());
        let mut lines = BufReader::new(other.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "open"));
        spoil(&index);
        assert!(index.mend().unwrap());
        index.apply(&[file("first.css", 1)]).unwrap();

        writeln!(other.stdin.take().unwrap(), "{word}").unwrap();
        lines.for_each(drop);
        assert!(other.wait().unwrap().success());

        index.apply(&[file("second.css", 1)]).unwrap();
        let expected = 402 + usize::from(word == "write");
        assert_eq!(names(&index).len(), expected);
        let late = open(data.path(), 1);
        assert_eq!(names(&late).len(), expected);
        drop((index, late));
        assert_eq!(names(&open(data.path(), 1)).len(), expected);
    }
}

#[test]
fn who_opens_a_damaged_index_beside_others_mends_it() {
    let data = tempfile::tempdir().unwrap();
    let one = filled(data.path());
    let header = File::options().write(true).open(&one.path).unwrap();
    let header = std::mem::ManuallyDrop::new(header);
    header.write_all_at(&[0xee; 100], 0).unwrap();

    let other = open(data.path(), 1);

    // With its header an index loses all that could be read.
    other.apply(&[file("new.css", 1)]).unwrap();
    one.answer().unwrap();
    assert_eq!(names(&one), ["new.css"]);
}

#[test]
fn an_index_that_is_removed_is_put_back_by_who_has_it_open() {
    let data = tempfile::tempdir().unwrap();
    let one = filled(data.path());
    let other = open(data.path(), 1);
    one.apply(&[file("not-checkpointed.css", 1)]).unwrap();
    let before = rows(&one);
    fs::remove_file(&one.path).unwrap();

    one.answer().unwrap();
    let late = open(data.path(), 1);

    assert_eq!(rows(&late), before);
    assert_eq!(late.secret(), one.secret());
    let mode = fs::metadata(&one.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    other.apply(&[gone("not-checkpointed.css")]).unwrap();
    for index in [&one, &other, &late] {
        assert_eq!((names(index).len(), tombstones(index)), (400, 101));
    }
}

#[test]
fn what_is_not_damaged_is_not_rebuilt() {
    let data = tempfile::tempdir().unwrap();
    let index = filled(data.path());
    let before = rows(&index);

    assert!(!index.mend().unwrap());

    assert_eq!(rows(&index), before);
    assert!(!fs::exists(data.path().join(OLD_FILE)).unwrap());
}
