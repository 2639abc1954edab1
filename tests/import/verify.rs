//! Rows and files compared, and repaired.

use serde_json::{Value, json};

use super::crawl::{Crawl, Warc, date, many, pdf};
use crate::command_line::{prints, stderr, stdout};

pub(super) fn verify(crawl: &Crawl, code: i32, arguments: &[&str]) -> Value {
    let output = crawl.garner(&["verify", "--json"]).args(arguments).output();
    assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

pub(super) fn imported() -> Crawl {
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", many(12).bytes);
    let printed = crawl.import(0, &["a.warc.gz"]);
    assert_eq!(printed["verification"]["missing"], 0, "{printed}");
    crawl
}

/// Puts a document with its `.met` file, as another catalog has it, under a number of this collection.
pub(super) fn foreign(crawl: &Crawl, url: &str, paper: usize, number: u32, extension: &str) {
    let other = Crawl::new();
    let mut warc = Warc::default();
    warc.response(url, &date(1), "application/pdf", &pdf(paper));
    other.write("b.warc.gz", warc.bytes);
    other.import(0, &["b.warc.gz"]);
    let from = other.data().join("documents/000/000/001/000.000.001.pdf");
    let to = format!("data/documents/000/000/{number:03}/000.000.{number:03}.{extension}");
    crawl.write(&to, std::fs::read(&from).unwrap());
    let met = std::fs::read(from.with_extension("pdf.met")).unwrap();
    crawl.write(&format!("{to}.met"), met);
}

#[test]
fn what_was_imported_is_in_order() {
    let crawl = imported();

    let found = verify(&crawl, 0, &[]);

    assert_eq!(found["digested"], true);
    assert_eq!(found["findings"], json!([]));
    let documents = crawl
        .files()
        .keys()
        .filter(|path| path.ends_with(b".pdf"))
        .count();
    assert_eq!(found["contents"], json!(documents));
    assert_eq!(found["files"], json!(documents * 2));
}

#[test]
fn lost_and_damaged_files_come_back_with_the_next_import() {
    let crawl = imported();
    let before = crawl.left();
    let file = |number: u32| {
        let name = format!("data/documents/000/000/{number:03}/000.000.{number:03}.pdf");
        crawl.path(&name)
    };
    std::fs::remove_file(file(1)).unwrap();
    let size = std::fs::metadata(file(2)).unwrap().len();
    std::fs::write(file(2), vec![b'x'; usize::try_from(size).unwrap()]).unwrap();
    std::fs::write(file(3), "short").unwrap();

    let found = verify(&crawl, 3, &[]);
    assert_eq!(
        (&found["missing"], &found["damaged"]),
        (&json!(1), &json!(2))
    );
    verify(&crawl, 3, &["--repair"]);
    // The files found are not lost.
    let aside = crawl.path("data/documents/set-aside");
    let short = aside.join("000/000/003/000.000.003.pdf");
    assert_eq!(std::fs::read_to_string(short).unwrap(), "short");
    std::fs::remove_dir_all(aside).unwrap();
    crawl.import(0, &["a.warc.gz"]);

    verify(&crawl, 0, &[]);
    crawl.left().assert_is(&before);
}

#[test]
fn a_lost_met_file_is_written_anew() {
    let crawl = imported();
    // The first of its URLs, by which it came.
    let met = crawl.path("data/documents/000/000/003/000.000.003.pdf.met");
    let before = std::fs::read_to_string(&met).unwrap();
    std::fs::remove_file(&met).unwrap();

    assert_eq!(verify(&crawl, 3, &[])["without_metadata"], 1);
    assert_eq!(verify(&crawl, 0, &["--repair"])["repaired"], 1);

    verify(&crawl, 0, &[]);
    let after = std::fs::read_to_string(&met).unwrap();
    let digest = |text: &str| {
        let lines = text.lines();
        let digests = lines.filter(|line| line.contains("<sha") || line.contains("<size"));
        digests.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(digest(&after), digest(&before));
    assert!(
        after.contains("<url>http://host-") && after.contains("<parentUrl>"),
        "{after}"
    );
}

#[test]
fn files_that_belong_to_nothing_are_taken_in_or_set_aside() {
    let crawl = imported();
    let url = "http://b.example/new.pdf";
    foreign(&crawl, url, 500, 901, "pdf");
    crawl.write(
        "data/documents/000/000/902/000.000.902.pdf",
        "unknown what this is",
    );

    let found = verify(&crawl, 3, &[]);
    assert_eq!(found["orphans"], 3, "{found}");
    let found = verify(&crawl, 0, &["--repair"]);
    assert_eq!(found["repaired"], 3, "{found}");

    verify(&crawl, 0, &[]);
    let shown = prints(crawl.garner(&["documents", "show", url, "--json"]).output());
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["id"], 901);
    assert_eq!(
        std::fs::read(shown["path"].as_str().unwrap()).unwrap(),
        pdf(500)
    );
    assert!(!crawl.path("data/documents/000/000/902").exists());
    let aside = crawl.path("data/documents/set-aside/000/000/902/000.000.902.pdf");
    assert_eq!(
        std::fs::read_to_string(aside).unwrap(),
        "unknown what this is"
    );
}

/// Issue 18, A7: a repair left such files where they were, and ended with 3 for ever.
#[test]
fn what_somebody_else_put_there_is_named_and_set_aside_by_a_repair() {
    let crawl = imported();
    let readme = crawl.write("data/documents/README", "mine");
    let deep = crawl.write("data/documents/000/000/001/notes.txt", "also mine");

    let found = verify(&crawl, 3, &[]);
    assert_eq!(found["orphans"], 2, "{found}");
    assert!(readme.exists());
    let found = verify(&crawl, 0, &["--repair"]);

    assert_eq!(found["repaired"], 2, "{found}");
    assert!(!readme.exists() && !deep.exists());
    let aside = |name: &str| {
        let path = crawl.path("data/documents/set-aside").join(name);
        std::fs::read_to_string(path).unwrap()
    };
    assert_eq!(aside("README"), "mine");
    assert_eq!(aside("000/000/001/notes.txt"), "also mine");
    verify(&crawl, 0, &[]);
}

/// Issue 18, A7.
#[test]
fn files_of_an_import_that_did_not_end_are_told_as_such() {
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", many(12).bytes);
    crawl.write("b.warc.gz", many(40).bytes);
    // The second source is stored, and never committed.
    crawl.import(0, &["a.warc.gz"]);
    super::crawl::break_second_source(&crawl, true);
    let output = crawl.try_import(&["a.warc.gz", "b.warc.gz"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));

    let found = verify(&crawl, 3, &[]);

    assert!(found["unfinished"].as_u64().unwrap() > 0, "{found}");
    assert_eq!(found["unfinished"], found["orphans"], "{found}");
    let problem = found["findings"][0]["problem"].as_str().unwrap();
    assert!(
        problem.contains("import 2, which was interrupted"),
        "{problem}"
    );
    let said = stderr(&crawl.garner(&["verify"]).output());
    assert!(said.contains("run the same import again"), "{said}");
    super::crawl::break_second_source(&crawl, false);
    crawl.import(0, &["a.warc.gz", "b.warc.gz"]);
    verify(&crawl, 0, &[]);
}
