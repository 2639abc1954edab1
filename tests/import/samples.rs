//! Crawls of other people: those in `../shared/samples/crawl` beside the project; without them the tests say so and pass.

use serde_json::Value;

use super::crawl::{Crawl, samples};
use crate::command_line::{stderr, stdout};

/// The properties by which documents of different files are the same.
fn essence(crawl: &Crawl) -> Vec<String> {
    let mut all: Vec<_> = crawl
        .documents()
        .iter()
        .map(|document| {
            let names = [
                "url",
                "content_sha1",
                "media_type",
                "declared_type",
                "discover_date",
            ];
            names.map(|name| document[name].to_string()).join(" ")
        })
        .collect();
    all.sort();
    all
}

#[test]
fn the_same_crawl_as_arc_and_as_warc_makes_the_same_catalog() {
    let Some(samples) = samples() else { return };
    let types = [
        "--types",
        "text/html,image/gif,image/jpeg,application/pdf,text/plain,text/css",
    ];
    let essences = ["fyensdk.arc", "fyensdk.warc"].map(|name| {
        let crawl = Crawl::new();
        let path = samples.join(name);
        let arguments = [&[path.to_str().unwrap()], &types[..]].concat();
        crawl.import(0, &arguments);
        essence(&crawl)
    });

    let [arc, warc] = essences;
    assert!(arc.len() > 10, "{arc:?}");
    assert_eq!(arc, warc);
}

#[test]
fn papers_come_out_whole() {
    let Some(samples) = samples() else { return };
    let office = "application/vnd.openxmlformats-officedocument";
    let office = format!("{office}.wordprocessingml.document,{office}.presentationml.presentation");
    for (name, types) in [
        ("pdf.warc.gz", "application/pdf"),
        ("docs.warc.gz", &office),
    ] {
        let crawl = Crawl::new();
        let path = samples.join(name);
        let printed = crawl.import(0, &[path.to_str().unwrap(), "--types", types]);
        assert_eq!(printed["saved_New"], 2, "{name}: {printed}");
        let verified = crawl.garner(&["verify"]).output();
        assert!(verified.status.success(), "{}", stderr(&verified));
    }
}

#[test]
fn every_sample_comes_to_an_end_with_counts() {
    let Some(samples) = samples() else { return };
    let mut names: Vec<_> = std::fs::read_dir(&samples)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("arc"))
        .collect();
    names.sort();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        let crawl = Crawl::new();
        let path = samples.join(&name);
        let types = "text/html,application/pdf,text/plain,application/json";
        let output = crawl.try_import(&[path.to_str().unwrap(), "--types", types]);
        let said = stderr(&output);
        assert!(
            matches!(output.status.code(), Some(0 | 1 | 3)),
            "{name}: {said}"
        );
        assert!(
            !said.contains("a bug in garner") && !said.contains("panicked"),
            "{name}: {said}"
        );
        if output.status.code() != Some(1) {
            let printed: Value = serde_json::from_str(&stdout(&output)).unwrap();
            assert!(printed["all"].is_u64(), "{name}: {printed}");
        }
    }
}
