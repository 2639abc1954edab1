//! Documents that are downloaded, wherever the collection lies.

use std::path::Path;

use serde_json::Value;
use test_support::{Response, S3Server, fetch};

use super::api::token;
use super::{Console, account};
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
