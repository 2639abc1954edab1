//! Import of unpacked harvests: a site is exposed, harvested, and its documents are in the collection.

use serde_json::json;
use test_support::Fixture;

use super::crawl::{Crawl, pdf};
use crate::command_line::stderr;
use crate::garner;

fn site() -> Fixture {
    let fixture = Fixture::empty();
    fixture.write("papers/a b.pdf", pdf(1));
    // Without a suffix that would tell: the record does.
    fixture.write("papers/2", pdf(2));
    fixture.write("papers/page.html", "<!DOCTYPE html><p>papers</p>");
    fixture.write("large.pdf", [pdf(3), vec![b'\n'; 300_000]].concat());
    fixture
}

fn harvest(crawl: &Crawl, base_url: &str, options: &[&str]) {
    let harvest = crawl.garner(&["harvest", base_url]).args(options);
    let output = harvest.output();
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_data_directory_is_imported_with_the_urls_dates_and_types_of_its_records() {
    let fixture = site();
    let server = garner().serve(&fixture, "[by_value]\nlimit = 100000\n");
    let crawl = Crawl::new();
    harvest(&crawl, &server.url("modoai"), &["--unpack"]);

    let printed = crawl.import(0, &["data"]);

    assert_eq!(printed["saved_New"], 3, "{printed}");
    assert_eq!(printed["filtered_MTF"], 1, "{printed}");
    let mut documents = crawl.documents();
    documents.sort_by_key(|document| document["url"].to_string());
    let urls: Vec<_> = documents
        .iter()
        .map(|document| document["url"].clone())
        .collect();
    let expected =
        ["large.pdf", "papers/2", "papers/a%20b.pdf"].map(|path| json!(server.url(path)));
    assert_eq!(urls, expected);
    assert_eq!(documents[0]["declared_type"], "application/pdf");
    let date = documents[0]["discover_date"].as_str().unwrap();
    assert!(date.starts_with("20") && date.ends_with('Z'), "{date}");
    let again = crawl.import(0, &["data"]);
    assert_eq!(
        (&again["saved_New"], &again["saved_Duplicate"]),
        (&json!(0), &json!(3))
    );
}

#[test]
fn a_data_directory_that_was_moved_and_warc_files_in_it_are_found() {
    let fixture = site();
    let server = garner().serve(&fixture, "");
    let crawl = Crawl::new();
    harvest(&crawl, &server.url("modoai"), &["--warc"]);
    std::fs::rename(crawl.data(), crawl.path("moved")).unwrap();

    let printed = crawl.import(0, &["moved"]);

    assert_eq!(printed["saved_New"], 3, "{printed}");
    assert_eq!(crawl.documents().len(), 3);
}

#[test]
fn a_data_directory_without_resources_says_how_to_get_them() {
    let fixture = site();
    let server = garner().serve(&fixture, "");
    let crawl = Crawl::new();
    harvest(&crawl, &server.url("modoai"), &[]);

    let output = crawl.try_import(&["data"]);

    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("--unpack"), "{}", stderr(&output));
}
