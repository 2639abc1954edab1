//! Texts beside documents: they are there as long as their documents are.

use serde_json::json;

use super::crawl::{Crawl, Warc, date};
use super::papers::{printed, sample};
use super::verify::verify;
use crate::command_line::stdout;

/// Three archives: a document, its next version, and the first bytes again under another URL, each among others.
fn changed(others: usize) -> Crawl {
    let paper = sample("paper.txt");
    let crawl = Crawl::new();
    for (at, (url, version)) in [("u", 1), ("u", 2), ("v", 1)].into_iter().enumerate() {
        let mut warc = Warc::default();
        let mut add = |url: &str, version| {
            let url = format!("http://x.example/{url}.pdf");
            let bytes = printed(&paper, version);
            warc.response(&url, &date(at), "application/pdf", &bytes);
        };
        add(url, version);
        for other in 0..others {
            add(&format!("{at}-{other}"), 100 * (at + 1) + other);
        }
        crawl.write(&format!("crawl/{at}.warc.gz"), warc.bytes);
    }
    crawl
}

/// The path of the text of a document.
fn text_of(crawl: &Crawl, url: &str) -> std::path::PathBuf {
    let documents = crawl.documents();
    let document = documents.iter().find(|document| document["url"] == url);
    let path = document.unwrap()["path"].as_str().unwrap().to_owned();
    path.strip_suffix("pdf")
        .map(|path| format!("{path}txt"))
        .unwrap()
        .into()
}

#[test]
fn bytes_that_come_back_under_another_url_while_they_are_replaced_keep_their_text() {
    for others in [0, 3] {
        let crawl = changed(others);

        crawl.import(0, &["crawl", "--text", "--jobs", "1"]);

        let text = text_of(&crawl, "http://x.example/v.pdf");
        assert!(text.exists(), "{others}: {}", text.display());
        verify(&crawl, 0, &[]);
    }
}

#[test]
fn a_text_that_is_lost_is_found_by_verify_and_read_again_by_a_repair() {
    let crawl = changed(0);
    crawl.import(0, &["crawl", "--text"]);
    let text = text_of(&crawl, "http://x.example/v.pdf");
    let before = std::fs::read(&text).unwrap();
    std::fs::remove_file(&text).unwrap();

    let found = verify(&crawl, 3, &[]);

    assert_eq!(found["without_text"], 1, "{found}");
    let problem = &found["findings"][0]["problem"];
    assert_eq!(problem, &json!("the text of the document is missing"));
    verify(&crawl, 0, &["--repair"]);
    assert_eq!(std::fs::read(&text).unwrap(), before);
    verify(&crawl, 0, &[]);
    let search = crawl.garner(&["documents", "search", "lichens"]);
    let found = stdout(&search.output());
    assert!(found.contains("v.pdf"), "{found}");
}
