//! Collections that cannot be written to. Where nothing can be saved the import ends and can be gone on with; it never
//! counts document after document as its own misfortune.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use super::crawl::{Crawl, Warc, break_second_source, date, pdf};
use crate::command_line::{stderr, stdout};

/// Imports as somebody whom permissions hold for, which they do not for root.
fn import_without_privileges(crawl: &Crawl, path: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_garner");
    let mut command = match rustix::process::geteuid().is_root() {
        true => {
            let mut command = Command::new("setpriv");
            let without = "-dac_override,-dac_read_search,-fowner";
            command.args(["--bounding-set", without, "--inh-caps", without, program]);
            command
        }
        false => Command::new(program),
    };
    command
        .args(["import", path, "--json", "--quiet", "--data"])
        .arg(crawl.data())
        .current_dir(crawl.path(""))
        .env_remove("RUST_LOG")
        .output()
        .unwrap()
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// An archive of so many papers that no other number begins.
fn papers(first: usize, count: usize) -> Vec<u8> {
    let mut warc = Warc::default();
    for number in first..first + count {
        let url = format!("http://a.example/{number}.pdf");
        warc.response(&url, &date(number), "application/pdf", &pdf(number));
    }
    warc.bytes
}

#[test]
fn a_collection_that_may_not_be_written_ends_the_import_and_counts_nothing_as_unsaved() {
    for place in ["", "000/000"] {
        let crawl = Crawl::new();
        crawl.write("a.warc.gz", papers(0, 3));
        crawl.write("b.warc.gz", papers(3, 20));
        crawl.import(0, &["a.warc.gz"]);
        let place = crawl.data().join("documents").join(place);
        set_mode(&place, 0o555);

        let refused = import_without_privileges(&crawl, "b.warc.gz");

        set_mode(&place, 0o755);
        let said = stderr(&refused);
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(said.contains("Permission denied"), "{said}");
        let shown = crawl.garner(&["history", "--imports", "2", "--json"]);
        let shown: serde_json::Value = serde_json::from_str(&stdout(&shown.output())).unwrap();
        assert_eq!(shown["state"], "failed", "{shown:#}");
        assert_eq!(shown["counters"]["failed_Save"], 0);
        let next = import_without_privileges(&crawl, "b.warc.gz");
        assert!(next.status.success(), "{}", stderr(&next));
        assert_eq!(crawl.documents().len(), 23);
        assert_eq!(crawl.garner(&["verify"]).output().status.code(), Some(0));
    }
}

#[test]
fn too_many_unsaved_documents_end_the_import_and_do_not_count_for_who_goes_on() {
    let crawl = Crawl::new();
    crawl.write("in/a.warc.gz", papers(0, 600));
    crawl.write("in/b.warc.gz", papers(600, 600));
    crawl.write("data/documents/000", "in the way");

    let first = crawl.try_import(&["in", "--quiet"]);
    let said = stderr(&first);
    assert_eq!(first.status.code(), Some(1), "{said}");
    assert!(
        said.contains("more than 1000 documents could not be saved"),
        "{said}"
    );
    let printed = crawl.import(3, &["in", "--quiet"]);

    // All of them, and what this process left out is less than is too much.
    assert_eq!(printed["failed_Save"], 1200, "{printed:#}");
    assert_eq!(printed["import"], 1);
}

#[test]
fn what_is_no_crawl_is_named_by_who_begins_and_not_by_who_goes_on() {
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", papers(0, 3));
    crawl.write("b.warc.gz", papers(3, 3));
    crawl.write("notes.txt", "crawls of March");
    let sources = ["a.warc.gz", "b.warc.gz", "notes.txt", "--quiet"];
    crawl.import(0, &["a.warc.gz", "--types", "image/png"]);
    break_second_source(&crawl, true);
    let first = crawl.try_import(&sources);
    assert_eq!(first.status.code(), Some(1), "{}", stderr(&first));
    break_second_source(&crawl, false);

    let printed = crawl.import(3, &sources);

    assert_eq!(printed["import"], 2);
    assert_eq!(printed["skipped_Records"], 1, "{printed:#}");
    let report = std::fs::read_to_string(printed["report"].as_str().unwrap()).unwrap();
    assert_eq!(report.lines().count(), 1, "{report}");
    assert!(report.contains("notes.txt"), "{report}");
    // The next one begins anew, and names it anew.
    let again = crawl.import(3, &sources);
    assert_eq!(again["skipped_Records"], 1, "{again:#}");
}
