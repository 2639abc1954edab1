//! Record files through the public face.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use store::{Durability, Error, Layout, RecordFiles};
use tempfile::TempDir;

fn open(base: &TempDir, files_per_directory: u64) -> RecordFiles {
    let layout = Layout {
        files_per_directory,
        ..Layout::default()
    };
    RecordFiles::open(base.path(), layout, Durability::Page).unwrap()
}

fn files_below(path: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files_below(&path)),
            false => found.push(path.to_str().unwrap().to_owned()),
        }
    }
    found.sort();
    found
}

#[test]
fn full_directories_go_on_in_numbered_ones_across_restarts() {
    let base = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for run in 0..5 {
        let files = open(&base, 3);
        for number in run * 2..run * 2 + 2 {
            let identifier = format!("oai:ilLib:alliance:{number}");
            paths.push(files.write(&identifier, None, b"<record/>").unwrap());
        }
        files.sync().unwrap();
    }

    assert_eq!(paths[2], "ilLib/alliance/2.xml");
    assert_eq!(paths[3], "ilLib/alliance/starting_at_3/3.xml");
    assert_eq!(paths[5], "ilLib/alliance/starting_at_3/5.xml");
    assert_eq!(paths[9], "ilLib/alliance/starting_at_9/9.xml");
    assert_eq!(files_below(base.path()).len(), 10);
}

#[test]
fn a_page_that_is_written_again_after_a_kill_leaves_no_second_file() {
    let base = tempfile::tempdir().unwrap();
    let page = |files: &RecordFiles| -> Vec<String> {
        let numbers = 0..20;
        numbers
            .map(|number| {
                files
                    .write(&format!("oai:x:{number}"), None, b"<record/>")
                    .unwrap()
            })
            .collect()
    };
    let first = page(&open(&base, 6));

    let second = page(&open(&base, 6));

    assert_eq!(first, second);
    assert_eq!(files_below(base.path()).len(), 20);
}

#[test]
fn a_known_record_stays_where_it_is() {
    let base = tempfile::tempdir().unwrap();
    let files = open(&base, 1);
    let first = files.write("oai:x:1", None, b"<old/>").unwrap();
    files.write("oai:x:2", None, b"<record/>").unwrap();

    let again = files.write("oai:x:1", Some(&first), b"<new/>").unwrap();

    assert_eq!(again, first);
    assert_eq!(fs::read(files.absolute(&again)).unwrap(), b"<new/>");
    // A replaced file is gone after the sync.
    files.sync().unwrap();
    assert_eq!(files_below(base.path()).len(), 2);
}

#[test]
fn namespaces_that_differ_in_case_only_have_their_own_directories() {
    let base = tempfile::tempdir().unwrap();
    let mut paths = HashSet::new();
    for _ in 0..2 {
        let files = open(&base, 10);
        for namespace in ["ilLib", "illib", "ILLIB"] {
            let identifier = format!("oai:{namespace}:1");
            paths.insert(files.write(&identifier, None, b"<record/>").unwrap());
        }
    }

    assert!(paths.contains("ilLib/1.xml"), "{paths:?}");
    let folded: HashSet<_> = paths.iter().map(|path| path.to_lowercase()).collect();
    assert_eq!((paths.len(), folded.len()), (3, 3));
}

#[test]
fn every_identifier_has_a_file_of_its_own_inside_of_the_base_directory() {
    let outside = tempfile::tempdir().unwrap();
    let base = outside.path().join("base");
    let files = RecordFiles::open(&base, Layout::default(), Durability::None).unwrap();
    let long = "x".repeat(4096);
    let deep = "../".repeat(1000);
    let identifiers = [
        "",
        ".",
        "..",
        "/",
        "//",
        "\\",
        "\0",
        "\u{7}\n\r\t",
        "../../etc/passwd",
        "/etc/passwd",
        "oai:..:..:..",
        "oai:x:..",
        "oai:x:/",
        "oai:x:a",
        "oai:x:A",
        "oai:x:a.",
        "oai:x:a ",
        "oai:x:con",
        "oai:x:CON",
        "oai:x:aux.txt",
        "oai:x:\u{e9}",
        "oai:x:e\u{301}",
        "oai:x::",
        "http://..",
        "http://../..",
        "http://h/../x",
        "C:\\x",
        "oai:x:a:b",
        "oai:x:a/b",
        "oai:x:a.xml:b",
        "oai:x:starting_at_0:b",
        ".garner-tmp",
        "oai:.garner-tmp:x",
        &long,
        &deep,
    ];

    let mut folded = HashSet::new();
    for identifier in identifiers {
        let file = files
            .write(identifier, None, identifier.as_bytes())
            .unwrap();
        assert!(folded.insert(file.to_lowercase()), "{identifier:?}: {file}");
        assert_eq!(
            fs::read(files.absolute(&file)).unwrap(),
            identifier.as_bytes()
        );
    }
    drop(files);

    assert_eq!(files_below(outside.path()), files_below(&base));
    assert_eq!(files_below(&base).len(), identifiers.len());
}

#[test]
fn no_link_is_followed() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("1.xml"), "precious").unwrap();
    let base = tempfile::tempdir().unwrap();
    symlink(outside.path(), base.path().join("evil")).unwrap();
    fs::create_dir(base.path().join("x")).unwrap();
    symlink(outside.path().join("1.xml"), base.path().join("x/1.xml")).unwrap();
    let files = open(&base, 10);

    let error = files.write("oai:evil:1", None, b"<record/>").unwrap_err();
    assert!(matches!(error, Error::InTheWay { .. }), "{error}");
    files.write("oai:x:1", None, b"<record/>").unwrap();
    files.remove("evil/1.xml").unwrap();
    assert!(files.remove("../x").is_err());
    assert!(files.remove("/etc/passwd").is_err());

    assert_eq!(fs::read(outside.path().join("1.xml")).unwrap(), b"precious");
    assert_eq!(fs::read(base.path().join("x/1.xml")).unwrap(), b"<record/>");
}

#[test]
fn removed_records_take_their_empty_directories_along() {
    let base = tempfile::tempdir().unwrap();
    let files = open(&base, 10);
    let one = files.write("oai:x:a:1", None, b"<record/>").unwrap();
    let two = files.write("oai:x:b:1", None, b"<record/>").unwrap();

    files.remove(&one).unwrap();
    files.remove(&one).unwrap();
    assert!(!base.path().join("x/a").exists());
    assert!(base.path().join(&two).exists());

    let again = files.write("oai:x:a:1", None, b"<record/>").unwrap();
    assert_eq!(again, one);
    assert!(base.path().join(&one).exists());
}

#[test]
fn deleted_records_can_be_kept_and_come_back() {
    let base = tempfile::tempdir().unwrap();
    let files = open(&base, 10);
    let file = files.write("oai:x:1", None, b"<old/>").unwrap();

    let marked = files.mark_deleted(&file).unwrap().unwrap();
    assert_eq!(marked, "x/1.xml.deleted");
    assert_eq!(files.mark_deleted(&file).unwrap().as_ref(), Some(&marked));
    assert_eq!(files.mark_deleted("never/was.xml").unwrap(), None);
    assert_eq!(fs::read(files.absolute(&marked)).unwrap(), b"<old/>");

    let back = files.write("oai:x:1", Some(&marked), b"<new/>").unwrap();
    assert_eq!(back, file);
    drop(files);
    assert_eq!(files_below(base.path()).len(), 1);
}

#[test]
fn leftovers_of_killed_runs_are_removed_and_those_of_living_ones_are_not() {
    let base = tempfile::tempdir().unwrap();
    let dead = base.path().join(".garner-tmp/0123456789abcdef");
    fs::create_dir_all(&dead).unwrap();
    fs::write(dead.join("7"), "half a rec").unwrap();
    let living = open(&base, 10);
    assert!(!dead.exists());

    let file = living.fill("oai:a:9", b"").unwrap();
    let other = open(&base, 10);
    living.place(file, "oai:x:1", None).unwrap();
    drop(living.fill("oai:a:9", b"").unwrap());
    drop((living, other));

    assert_eq!(files_below(base.path()).len(), 1);
    assert!(!base.path().join(".garner-tmp").exists());
}

#[test]
fn threads_share_a_directory() {
    let base = tempfile::tempdir().unwrap();
    let files = open(&base, 50);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let files = &files;
            scope.spawn(move || {
                for number in 0..200 {
                    let identifier = format!("oai:x:{thread}.{number}");
                    let file = files.write(&identifier, None, b"<record/>").unwrap();
                    if number % 10 == 0 {
                        files.remove(&file).unwrap();
                    }
                }
            });
        }
    });
    files.sync().unwrap();
    drop(files);

    assert_eq!(files_below(base.path()).len(), 4 * 180);
    for directory in fs::read_dir(base.path().join("x")).unwrap() {
        let path = directory.unwrap().path();
        assert!(path.is_file() || fs::read_dir(path).unwrap().count() <= 50);
    }
}
