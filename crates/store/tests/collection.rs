//! The collection of documents: where they lie, and that they lie there whole or not at all.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use store::{Collection, Durability, Error, FileKind};

fn placed(collection: &Collection, number: i64, extension: &str, bytes: &[u8]) -> String {
    let mut file = collection.create().unwrap();
    file.write_all(bytes).unwrap();
    collection.place(number, extension, file).unwrap()
}

fn opened(directory: &Path) -> Collection {
    Collection::open(directory, Durability::Page).unwrap()
}

#[test]
fn a_document_lies_under_its_number_with_what_belongs_to_it() {
    let directory = tempfile::tempdir().unwrap();
    let collection = opened(directory.path());

    let path = placed(&collection, 1_234_567, "pdf", b"%PDF");
    let metadata = collection.write_metadata(1_234_567, "pdf", b"<CrawlData/>");
    let text = collection.write_text(1_234_567, b"words");
    collection.sync().unwrap();

    assert_eq!(path, "001/234/567/001.234.567.pdf");
    assert_eq!(path, Collection::relative_path(1_234_567, "pdf"));
    assert_eq!(metadata.unwrap(), "001/234/567/001.234.567.pdf.met");
    assert_eq!(text.unwrap(), "001/234/567/001.234.567.txt");
    let mut bytes = Vec::new();
    collection
        .read(&path)
        .unwrap()
        .read_to_end(&mut bytes)
        .unwrap();
    assert_eq!(bytes, b"%PDF");
    assert_eq!(fs::read(collection.absolute(&path)).unwrap(), b"%PDF");
}

#[test]
fn all_files_are_listed_in_order_and_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let collection = opened(directory.path());
    for number in [2_000_000, 7, 1_000, 1_000_000_000] {
        placed(&collection, number, "pdf", b"%PDF");
    }
    placed(&collection, 8, "tar.gz", b"");
    collection.write_metadata(7, "pdf", b"<a/>").unwrap();
    collection.write_text(7, b"words").unwrap();
    for other in [
        "000/000/007/notes.pdf",
        "000/000/007/000.000.008.pdf",
        "README",
    ] {
        fs::write(directory.path().join(other), "x").unwrap();
    }
    // A file that is being written has no place yet.
    let unplaced = collection.create().unwrap();

    let files: Vec<_> = collection.files().map(Result::unwrap).collect();

    let told: Vec<_> = files
        .iter()
        .map(|file| {
            let number = match &file.kind {
                FileKind::Document { number, extension } => format!("{number} {extension}"),
                FileKind::Metadata { number, extension } => format!("{number} about {extension}"),
                FileKind::Text { number } => format!("{number} text"),
                FileKind::Other => "other".to_owned(),
            };
            (file.path.as_str(), number, file.size)
        })
        .collect();
    let expected = [
        ("README", "other", 1),
        ("000/000/007/000.000.007.pdf", "7 pdf", 4),
        ("000/000/007/000.000.007.pdf.met", "7 about pdf", 4),
        ("000/000/007/000.000.007.txt", "7 text", 5),
        ("000/000/007/000.000.008.pdf", "other", 1),
        ("000/000/007/notes.pdf", "other", 1),
        ("000/000/008/000.000.008.tar.gz", "8 tar.gz", 0),
        ("000/001/000/000.001.000.pdf", "1000 pdf", 4),
        ("001/000/000/000/001.000.000.000.pdf", "1000000000 pdf", 4),
        ("002/000/000/002.000.000.pdf", "2000000 pdf", 4),
    ];
    let expected: Vec<_> = expected
        .iter()
        .map(|(path, number, size)| (*path, (*number).to_owned(), *size))
        .collect();
    assert_eq!(told, expected);
    drop(unplaced);
}

#[test]
fn a_removed_document_takes_all_of_its_own_along_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let collection = opened(directory.path());
    placed(&collection, 7, "pdf", b"%PDF");
    collection.write_metadata(7, "pdf", b"<a/>").unwrap();
    collection.write_text(7, b"words").unwrap();
    placed(&collection, 8, "pdf", b"%PDF");

    collection.remove(7, "pdf").unwrap();
    collection.remove(7, "pdf").unwrap();

    let left: Vec<_> = collection.files().map(|file| file.unwrap().path).collect();
    assert_eq!(left, ["000/000/008/000.000.008.pdf"]);
    assert!(!directory.path().join("000/000/007").exists());
    assert!(collection.remove_file(&left[0]).unwrap());
    assert!(!collection.remove_file(&left[0]).unwrap());
    assert!(!directory.path().join("000").exists());
}

#[test]
fn what_is_not_placed_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let collection = opened(directory.path());
    let mut file = collection.create().unwrap();
    file.write_all(b"half").unwrap();

    drop(file);
    drop(collection);

    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn no_name_leads_out_of_the_collection() {
    let directory = tempfile::tempdir().unwrap();
    let collection = opened(directory.path());

    for extension in ["../../../../x", "", "a/b", "a..b", "\0"] {
        let file = collection.create().unwrap();
        let refused = collection.place(1, extension, file);
        assert!(
            matches!(refused, Err(Error::NotBelow { .. })),
            "{extension}"
        );
    }
    let file = collection.create().unwrap();
    assert!(collection.place(-1, "pdf", file).is_err());
    assert!(collection.read("../x").is_err());
    assert!(collection.remove_file("../x").is_err());
}

#[test]
fn a_link_in_the_way_is_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let collection = opened(directory.path());
    std::os::unix::fs::symlink(elsewhere.path(), directory.path().join("000")).unwrap();

    let file = collection.create().unwrap();
    let refused = collection.place(1, "pdf", file);

    assert!(
        matches!(refused, Err(Error::InTheWay { .. })),
        "{refused:?}"
    );
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn several_processes_and_threads_write_side_by_side() {
    let directory = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for part in 0..4 {
            let path = directory.path();
            scope.spawn(move || {
                let collection = opened(path);
                for number in 0..100 {
                    placed(&collection, number * 4 + part, "pdf", b"%PDF");
                }
                collection.sync().unwrap();
            });
        }
    });

    let collection = opened(directory.path());
    assert_eq!(collection.files().count(), 400);
}

#[test]
fn a_document_is_never_put_in_the_place_of_another() {
    let directory = tempfile::tempdir().unwrap();
    let collection = opened(directory.path());
    let path = placed(&collection, 7, "pdf", b"%PDF-1");

    let mut other = collection.create().unwrap();
    other.write_all(b"%PDF-2").unwrap();
    let refused = collection.place(7, "pdf", other);

    assert!(
        matches!(refused, Err(Error::Occupied { .. })),
        "{refused:?}"
    );
    assert_eq!(fs::read(collection.absolute(&path)).unwrap(), b"%PDF-1");
    // An import that was killed after placing it places it again.
    assert_eq!(placed(&collection, 7, "pdf", b"%PDF-1"), path);
    // A loss of power leaves a name without bytes.
    fs::write(collection.absolute(&path), "").unwrap();
    placed(&collection, 7, "pdf", b"%PDF-3");
    assert_eq!(fs::read(collection.absolute(&path)).unwrap(), b"%PDF-3");
}

#[test]
fn what_is_set_aside_is_out_of_the_collection_and_not_lost() {
    let directory = tempfile::tempdir().unwrap();
    let collection = opened(directory.path());
    let mut aside = Vec::new();
    for bytes in [b"one", b"two"] {
        let path = placed(&collection, 7, "pdf", bytes);
        aside.push(collection.set_aside(&path).unwrap());
    }

    assert_eq!(collection.files().count(), 0);
    assert!(!directory.path().join("000").exists());
    assert_eq!(
        aside,
        [
            "set-aside/000/000/007/000.000.007.pdf",
            "set-aside/000/000/007/000.000.007.pdf.1"
        ]
    );
    let read = |at: usize| fs::read(directory.path().join(&aside[at])).unwrap();
    assert_eq!((read(0), read(1)), (b"one".to_vec(), b"two".to_vec()));
}

#[test]
fn a_document_gets_another_number_only_if_that_is_free() {
    let directory = tempfile::tempdir().unwrap();
    let collection = opened(directory.path());
    let path = placed(&collection, 7, "pdf", b"seven");
    placed(&collection, 8, "pdf", b"eight");

    assert!(!collection.renumber(&path, 8, "pdf").unwrap());
    assert!(collection.renumber(&path, 1_009, "pdf").unwrap());

    let left: Vec<_> = collection.files().map(|file| file.unwrap().path).collect();
    assert_eq!(
        left,
        ["000/000/008/000.000.008.pdf", "000/001/009/000.001.009.pdf"]
    );
    assert_eq!(fs::read(directory.path().join(&left[1])).unwrap(), b"seven");
    assert_eq!(collection.files_of(8).unwrap()[0].path, left[0]);
    assert_eq!(collection.files_of(7).unwrap(), []);
}

#[test]
fn the_greatest_number_is_found_whatever_lies_beside() {
    let directory = tempfile::tempdir().unwrap();
    let collection = opened(directory.path());
    assert_eq!(collection.greatest_number().unwrap(), None);

    for number in [7, 1_234_567, 2_000] {
        placed(&collection, number, "pdf", b"%PDF");
    }
    // Empty directories, and names of others.
    fs::create_dir_all(directory.path().join("003/000/000")).unwrap();
    fs::create_dir_all(directory.path().join("lost+found")).unwrap();
    fs::write(directory.path().join("999.pdf"), "").unwrap();
    assert_eq!(collection.greatest_number().unwrap(), Some(1_234_567));

    for number in [999_999_999, 1_000_000_000] {
        placed(&collection, number, "pdf", b"%PDF");
    }
    assert_eq!(collection.greatest_number().unwrap(), Some(1_000_000_000));
}
