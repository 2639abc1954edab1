//! Mirrors through the public face.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use store::{Durability, Error, Mirror};
use tempfile::TempDir;

fn mirror() -> (TempDir, Mirror) {
    let directory = tempfile::tempdir().unwrap();
    let mirror = Mirror::open(directory.path(), None, Durability::Page).unwrap();
    (directory, mirror)
}

fn write(mirror: &Mirror, url: &str) {
    let bytes = url.as_bytes();
    mirror
        .write(&format!("http://a.example{url}"), bytes, None)
        .unwrap();
}

fn remove(mirror: &Mirror, url: &str) -> bool {
    mirror.remove(&format!("http://a.example{url}")).unwrap()
}

fn read(directory: &TempDir, path: &str) -> String {
    fs::read_to_string(directory.path().join(path)).unwrap()
}

#[test]
fn files_have_the_bytes_and_the_time_of_the_resource() {
    let (directory, mirror) = mirror();
    for modified in [
        UNIX_EPOCH + Duration::from_secs(1_700_000_000),
        UNIX_EPOCH - Duration::from_millis(1500),
    ] {
        mirror
            .write("http://a.example/d/x.bin", b"\0\xff", Some(modified))
            .unwrap();
        mirror.sync().unwrap();

        let path = directory.path().join("d/x.bin");
        assert_eq!(fs::read(&path).unwrap(), b"\0\xff");
        let found: SystemTime = fs::metadata(&path).unwrap().modified().unwrap();
        assert_eq!(found, modified);
    }
}

#[test]
fn a_file_gives_way_to_a_directory_and_comes_back() {
    let (directory, mirror) = mirror();
    write(&mirror, "/a");
    write(&mirror, "/a/b/c");
    write(&mirror, "/a/");
    assert_eq!(read(&directory, "a/b/c"), "/a/b/c");
    assert_eq!(read(&directory, "a/index.html"), "/a/");
    assert_eq!(read(&directory, "a%2F"), "/a");

    write(&mirror, "/a");
    assert!(remove(&mirror, "/a/"));
    assert!(remove(&mirror, "/a/b/c"));

    assert_eq!(read(&directory, "a"), "/a");
    assert_eq!(
        directory.path().read_dir().unwrap().count(),
        2,
        "and .garner-tmp"
    );
}

#[test]
fn names_as_long_as_can_be_are_written_replaced_and_removed() {
    let (directory, mirror) = mirror();
    for length in [252, 253, 255, 4000] {
        let url = format!("/{}", "y".repeat(length));
        write(&mirror, &url);
        write(&mirror, &url);
        write(&mirror, &format!("{url}/below"));
        write(&mirror, &url);
        assert!(remove(&mirror, &format!("{url}/below")));
        assert!(remove(&mirror, &url));
        assert_eq!(directory.path().read_dir().unwrap().count(), 1, "{length}");
    }
}

#[test]
fn a_directory_that_became_a_file_is_right_in_either_order() {
    let (directory, mirror) = mirror();
    write(&mirror, "/a/b");
    write(&mirror, "/a");
    assert!(remove(&mirror, "/a/b"));
    assert_eq!(read(&directory, "a"), "/a");

    assert!(!remove(&mirror, "/a/b"));
    write(&mirror, "/a/b");
    assert!(remove(&mirror, "/a"));
    drop(mirror);
    assert_eq!(read(&directory, "a/b"), "/a/b");
    assert_eq!(directory.path().read_dir().unwrap().count(), 1);
}

#[test]
fn deleted_resources_leave_no_empty_directories() {
    let (directory, mirror) = mirror();
    write(&mirror, "/a/b/c");

    assert!(remove(&mirror, "/a/b/c"));
    assert!(!remove(&mirror, "/a/b/c"));

    drop(mirror);
    assert_eq!(directory.path().read_dir().unwrap().count(), 0);
}

#[test]
fn nothing_is_written_or_removed_outside() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x"), "precious").unwrap();
    let (directory, mirror) = mirror();
    symlink(outside.path(), directory.path().join("d")).unwrap();
    symlink(outside.path().join("x"), directory.path().join("x")).unwrap();

    let error = mirror
        .write("http://a.example/d/x", b"evil", None)
        .unwrap_err();
    assert!(matches!(error, Error::InTheWay { .. }), "{error}");
    assert!(!remove(&mirror, "/d/x"));
    write(&mirror, "/x");

    assert_eq!(fs::read(outside.path().join("x")).unwrap(), b"precious");
    assert_eq!(read(&directory, "x"), "/x");
    assert!(matches!(
        mirror.path("file:///etc/passwd"),
        Err(Error::NotAUrl { .. })
    ));
}

#[test]
fn a_file_that_is_given_up_leaves_what_was_there() {
    let (directory, mirror) = mirror();
    write(&mirror, "/a");

    let mut file = mirror.create().unwrap();
    std::io::Write::write_all(&mut file, b"half").unwrap();
    drop(file);

    assert_eq!(read(&directory, "a"), "/a");
    drop(mirror);
    assert!(!Path::new(&directory.path().join(".garner-tmp")).exists());
}
