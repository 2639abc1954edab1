//! Documents that were imported: listed, shown, marked.

use serde_json::{Value, json};

use super::crawl::{Crawl, Warc, date, many, pdf};
use crate::command_line::{fails, prints, stderr, stdout};

#[test]
fn they_are_chosen_by_what_is_asked_for() {
    let crawl = Crawl::new();
    crawl.write("a.warc.gz", many(14).bytes);
    crawl.import(0, &["a.warc.gz"]);
    let count = |arguments: &[&str]| {
        let text = prints(
            crawl
                .garner(&["documents", "list"])
                .args(arguments)
                .output(),
        );
        text.lines().count()
    };

    assert_eq!(count(&[]), 14);
    assert_eq!(count(&["--host", "HOST-1.example"]), 2);
    assert_eq!(count(&["--type", "application/pdf"]), 14);
    assert_eq!(count(&["--type", "text/html"]), 0);
    assert_eq!(count(&["--state", "not-ingested"]), 14);
    assert_eq!(count(&["--state", "ingested"]), 0);
    assert_eq!(count(&["--text", "papers/3"]), 1);
    assert_eq!(count(&["--since", "2026-03-01T10:00:00Z"]), 3);
    assert_eq!(count(&["--until", "2026-03-01"]), 14);
    assert_eq!(count(&["--until", "2026-02-28"]), 0);
    assert_eq!(count(&["--import", "1"]), 14);
    assert_eq!(count(&["--limit", "5"]), 5);
    let files = prints(crawl.garner(&["documents", "list", "--files"]).output());
    for file in files.lines() {
        assert!(std::path::Path::new(file).is_file(), "{file}");
    }
}

/// Issue 19: an import printed the numbers of contents.
#[test]
fn an_import_prints_the_numbers_under_which_documents_are_found() {
    let crawl = Crawl::new();
    let [paper, copy, changing] =
        ["paper", "copy", "changing"].map(|name| format!("http://a.example/{name}.pdf"));
    let mut warc = Warc::default();
    warc.response(&changing, &date(1), "application/pdf", &pdf(1));
    warc.response(&paper, &date(2), "application/pdf", &pdf(2));
    warc.response(&copy, &date(3), "application/pdf", &pdf(2));
    crawl.write("a.warc.gz", warc.bytes);
    let mut warc = Warc::default();
    warc.response(&changing, &date(4), "application/pdf", &pdf(3));
    warc.response(&copy, &date(5), "application/pdf", &pdf(2));
    crawl.write("b.warc.gz", warc.bytes);

    let told = ["a.warc.gz", "b.warc.gz"].map(|file| {
        let output = crawl.garner(&["import", file]).output();
        format!("{}{}", stdout(&output), stderr(&output))
    });

    let shown = |number: &str| -> Value {
        let shown = crawl.garner(&["documents", "show", number, "--json"]);
        serde_json::from_str(&prints(shown.output())).unwrap()
    };
    for (told, kind, url, number) in [
        (&told[0], "new", &changing, "1"),
        (&told[0], "new", &paper, "2"),
        (&told[0], "new URL", &copy, "3"),
        (&told[1], "changed", &changing, "1"),
        (&told[1], "duplicate", &copy, "3"),
    ] {
        let line = format!("{kind:<10} {url} ({number}, application/pdf)");
        assert!(told.contains(&line), "no line {line} in {told}");
        assert_eq!(shown(number)["url"], json!(url));
    }
    assert_eq!(shown("3")["shared_with"], 2);
    assert_eq!(shown("2")["shared_with"], Value::Null);
    assert_eq!(shown("1")["shared_with"], Value::Null);
}

#[test]
fn documents_share_bytes_after_the_one_that_brought_them_has_others() {
    let crawl = Crawl::new();
    let mut warc = Warc::default();
    for name in ["changing", "paper", "copy"] {
        let url = format!("http://a.example/{name}.pdf");
        warc.response(&url, &date(1), "application/pdf", &pdf(1));
    }
    crawl.write("a.warc.gz", warc.bytes);
    let mut warc = Warc::default();
    let changing = "http://a.example/changing.pdf";
    warc.response(changing, &date(2), "application/pdf", &pdf(2));
    crawl.write("b.warc.gz", warc.bytes);

    for file in ["a.warc.gz", "b.warc.gz"] {
        crawl.import(0, &[file]);
    }

    let documents = crawl.documents();
    let owners = documents.iter().map(|document| &document["shared_with"]);
    assert_eq!(
        owners.collect::<Vec<_>>(),
        [&Value::Null, &Value::Null, &json!(2)]
    );
}

#[test]
fn one_is_found_by_its_number_and_by_any_spelling_of_its_url() {
    let crawl = Crawl::new();
    let mut warc = Warc::default();
    warc.response(
        "http://a.example/x/a%20b.pdf",
        &date(1),
        "application/pdf",
        &pdf(1),
    );
    crawl.write("a.warc.gz", warc.bytes);
    crawl.import(0, &["a.warc.gz"]);
    let show = |name: &str| {
        crawl
            .garner(&["documents", "show", name, "--json"])
            .output()
    };

    for name in ["1", "http://A.example:80/x/y/../a b.pdf#page=2"] {
        let shown: Value = serde_json::from_str(&prints(show(name))).unwrap();
        assert_eq!(shown["url"], "http://a.example/x/a%20b.pdf");
    }
    let text = prints(crawl.garner(&["documents", "show", "1"]).output());
    assert!(
        text.contains("000.000.001.pdf") && text.contains("not ingested"),
        "{text}"
    );
    for name in ["2", "http://a.example/", "nonsense"] {
        assert!(
            fails(&show(name)).contains("there is no document"),
            "{name}"
        );
    }
}

#[test]
fn a_state_stays_until_the_content_changes() {
    let crawl = Crawl::new();
    let url = "http://a.example/a.pdf";
    for (name, day) in [("1", 1), ("2", 2)] {
        let mut warc = Warc::default();
        warc.response(url, &date(day), "application/pdf", &pdf(day));
        warc.response(
            "http://a.example/b.pdf",
            &date(day),
            "application/pdf",
            &pdf(9),
        );
        crawl.write(&format!("{name}.warc.gz"), warc.bytes);
    }
    crawl.import(0, &["1.warc.gz"]);
    let state = |number: &str| {
        let shown = prints(
            crawl
                .garner(&["documents", "show", number, "--json"])
                .output(),
        );
        let shown: Value = serde_json::from_str(&shown).unwrap();
        shown["state"].clone()
    };

    let mark = |arguments: &[&str]| {
        let marked = crawl
            .garner(&["documents", "state"])
            .args(arguments)
            .output();
        marked.status.code()
    };

    assert_eq!(mark(&["ingested", "1", "2"]), Some(0));
    crawl.import(0, &["1.warc.gz"]);
    assert_eq!(
        (state("1"), state("2")),
        (json!("ingested"), json!("ingested"))
    );
    crawl.import(0, &["2.warc.gz"]);
    assert_eq!(
        (state("1"), state("2")),
        (json!("not_ingested"), json!("ingested"))
    );

    assert_eq!(mark(&["failed", "2"]), Some(0));
    assert_eq!(state("2"), json!("failed"));
    assert_eq!(mark(&["failed", "1", "77"]), Some(3));
    assert_eq!(mark(&["eaten", "1"]), Some(2));
}
