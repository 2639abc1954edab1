//! Documents that are downloaded, wherever the collection lies.

use std::path::Path;

use serde_json::Value;
use test_support::{Browser, Response, S3Server, fetch};

use super::api::token;
use super::{Console, PASSWORD, account, picture};
use crate::managed::Managed;

/// A console on what the example crawl brought, and what one asks it by.
struct Reader {
    console: Console,
    token: String,
    cookie: String,
}

impl Reader {
    /// Imports with further options, and starts the console, both in an environment.
    fn new(options: &[&str], environment: &[(&str, String)]) -> Self {
        let managed = Managed::new();
        let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crawl.warc.gz");
        let import = ["import", crawl.to_str().unwrap(), "--text", "--quiet"];
        let mut import = managed.command(&[&import[..], options].concat());
        let imported = import.envs(environment.iter().cloned()).status().unwrap();
        assert!(imported.success());
        account(&managed, "root", "admin");
        let console = Console::start_with(managed, "", environment);
        let (cookie, token) = token(&console, "root");
        Self {
            console,
            token,
            cookie,
        }
    }

    fn ask(&self, method: &str, path: &str) -> Response {
        let bearer = format!("Bearer {}", self.token);
        let at = self.console.at(&format!("/api/v1/documents{path}"));
        fetch(method, &at, &[("Authorization", &bearer)], b"")
    }

    /// All documents, each of which has to come whole.
    fn read_all(&self) -> Vec<Value> {
        let listed = self.ask("GET", "").text();
        let listed: Value = serde_json::from_str(&listed).unwrap();
        let documents = listed["items"].as_array().unwrap().clone();
        assert!(documents.len() > 3, "{listed:#}");
        for document in &documents {
            let at = format!("/{}/file", document["id"]);
            let file = self.ask("GET", &at);
            assert_eq!(file.status, 200, "{}", file.text());
            let digest = format!("\"{}\"", document["content_sha256"].as_str().unwrap());
            assert_eq!(file.header("etag"), Some(digest.as_str()));
            assert_eq!(file.body.len() as u64, document["size"].as_u64().unwrap());
            assert!(file.body.starts_with(b"%"), "{}", file.text());
            let head = self.ask("HEAD", &at);
            assert_eq!((head.status, head.body.len()), (200, 0));
            assert_eq!(head.header("content-length"), file.header("content-length"));
        }
        documents
    }
}

#[test]
fn a_document_comes_whole_from_a_directory() {
    let reader = Reader::new(&[], &[]);

    let documents = reader.read_all();

    let text = reader.ask("GET", &format!("/{}/text", documents[0]["id"]));
    assert_eq!(text.status, 200, "{}", text.text());
}

#[test]
fn a_document_comes_whole_from_a_store_and_is_gone_with_its_object() {
    let store = S3Server::start();
    let environment = [
        ("AWS_ACCESS_KEY_ID", "key".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
        ("AWS_ENDPOINT_URL", store.endpoint()),
    ];
    let reader = Reader::new(&["--collection", "s3://papers"], &environment);

    let documents = reader.read_all();

    let first = &documents[0];
    let text = reader.ask("GET", &format!("/{}/text", first["id"]));
    assert_eq!(text.status, 200, "{}", text.text());
    let page = reader.console.at(&format!("/documents/{}", first["id"]));
    let page = fetch("GET", &page, &[("Cookie", &reader.cookie)], b"").text();
    assert!(page.contains("As model"), "{page}");
    let file = first["file"].as_str().unwrap();
    store.ask("DELETE", &format!("papers/{file}"));
    let gone = reader.ask("GET", &format!("/{}/file", first["id"]));
    assert_eq!(gone.status, 410, "{}", gone.text());
}

/// A browser that is logged in, before a collection with the content filter on.
fn filtered() -> (Console, Browser) {
    let managed = Managed::new();
    let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crawl.warc.gz");
    let import = [
        "import",
        crawl.to_str().unwrap(),
        "--content-filter",
        "on",
        "--quiet",
    ];
    assert!(managed.command(&import).status().unwrap().success());
    account(&managed, "root", "admin");
    let console = Console::start_with(managed, "", &[]);
    let browser = Browser::start();
    console.log_in(&browser, "root", PASSWORD);
    browser.wait("one is inside", || browser.path() == "/");
    (console, browser)
}

#[test]
fn documents_are_searched_and_shown_with_their_text_and_in_a_sandbox() {
    let (console, browser) = filtered();
    let listed = prints_json(&console.managed, &["documents", "list", "--json"]);
    let title = listed[0]["title"].as_str().unwrap();

    // The manager indexes the texts of what a command imported.
    browser.wait("it is found", || {
        browser.open(&console.at("/documents/search?query=lens"));
        browser.count(".found li") >= 1
    });
    assert!(browser.count(".found mark") >= 1, "{}", browser.text());
    browser.picture(&picture("documents-search"));
    browser.set_width(390);
    browser.picture(&picture("documents-search-phone"));
    browser.set_width(1280);
    browser.open(&console.at("/documents/search?query=title:"));
    assert!(browser.text().contains("character 7"), "{}", browser.text());

    browser.open(&console.at(&format!("/documents/{}", listed[0]["id"])));
    assert!(browser.text().contains(title), "{}", browser.text());
    assert_eq!(browser.value("Decision"), "");
    assert_eq!(browser.count("iframe.document"), 1);
    browser.picture(&picture("document"));
    browser.open(&console.at("/documents/statistics"));
    assert!(browser.text().contains("Media type"), "{}", browser.text());
    browser.picture(&picture("documents-statistics"));
}

#[test]
fn the_review_queue_is_worked_through_by_keys() {
    let (console, browser) = filtered();
    let waiting = prints_json(&console.managed, &["documents", "review", "--json"]);
    assert!(waiting.len() > 2, "{waiting:#?}");

    browser.open(&console.at("/documents/review"));
    browser.picture(&picture("documents-review"));
    let first = waiting[0]["url"].as_str().unwrap().to_owned();
    assert!(browser.text().contains(&first), "{}", browser.text());
    browser.key("n");
    browser.wait("the next document", || {
        browser.text().contains(waiting[1]["url"].as_str().unwrap())
    });
    browser.key("b");
    browser.wait("the first document", || browser.text().contains(&first));
    browser.key("a");
    browser.wait("it is accepted", || {
        browser.text().contains("1 document is accepted.")
    });
    browser.key("r");
    browser.wait("it is rejected", || {
        browser.text().contains("1 document is rejected.")
    });

    let left = prints_json(&console.managed, &["documents", "review", "--json"]);
    assert_eq!(left.len(), waiting.len() - 2);
    let accepted = prints_json(
        &console.managed,
        &["documents", "list", "--decision", "accept", "--json"],
    );
    assert!(
        accepted
            .iter()
            .any(|document| document["url"] == first.as_str()),
        "{accepted:#?}"
    );
}

fn prints_json(managed: &Managed, arguments: &[&str]) -> Vec<Value> {
    let output = managed.command(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
