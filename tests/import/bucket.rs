//! A collection in a store that speaks S3: the same names, the same promises.

use serde_json::{Value, json};
use test_support::S3Server;

use super::crawl::{Crawl, Warc, date, many, pdf};
use crate::command_line::{stderr, stdout};

/// A crawl whose documents go to a store.
struct Stored {
    crawl: Crawl,
    server: S3Server,
}

impl Stored {
    fn new() -> Self {
        Self {
            crawl: Crawl::new(),
            server: S3Server::start(),
        }
    }

    /// Runs a command with the keys to the store, and expects its exit code.
    fn garner(&self, code: i32, arguments: &[&str]) -> String {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_garner"))
            .args(arguments)
            .arg("--data")
            .arg(self.crawl.data())
            .current_dir(self.crawl.path(""))
            .env_remove("RUST_LOG")
            .env("AWS_ACCESS_KEY_ID", "key")
            .env("AWS_SECRET_ACCESS_KEY", "geheim")
            .env("AWS_ENDPOINT_URL", self.server.endpoint())
            .output()
            .unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(!said.contains("geheim"), "{said}");
        stdout(&output) + &said
    }

    fn import(&self, arguments: &[&str]) -> Value {
        let printed = self.garner(0, &[&["import", "--json", "--quiet"], arguments].concat());
        serde_json::from_str(printed.lines().next().unwrap())
            .unwrap_or_else(|_| serde_json::from_str(&printed).unwrap())
    }
}

#[test]
fn documents_go_to_a_bucket_under_the_names_they_have_on_a_disk() {
    let stored = Stored::new();
    let mut warc = Warc::default();
    warc.response(
        "http://a.example/1.pdf",
        &date(1),
        "application/pdf",
        &pdf(1),
    );
    let long = [pdf(2), vec![b'\n'; 9 << 20]].concat();
    warc.response("http://a.example/2.pdf", &date(2), "application/pdf", &long);
    stored.crawl.write("a.warc.gz", &warc.bytes);

    let printed = stored.import(&["a.warc.gz", "--collection", "s3://papers/the collection"]);

    assert_eq!(printed["saved_New"], 2, "{printed}");
    let at = "the collection/000/000/00";
    assert_eq!(
        stored.server.keys(),
        [
            format!("{at}1/000.000.001.pdf"),
            format!("{at}1/000.000.001.pdf.met"),
            format!("{at}2/000.000.002.pdf"),
            format!("{at}2/000.000.002.pdf.met"),
        ]
    );
    let shown = stored.garner(0, &["documents", "show", "1"]);
    assert!(
        shown.contains("s3://papers/the collection/000/000/001/000.000.001.pdf"),
        "{shown}"
    );
    stored.garner(0, &["verify"]);
    let again = stored.import(&["a.warc.gz"]);
    assert_eq!(
        (&again["saved_New"], &again["saved_Duplicate"]),
        (&json!(0), &json!(2))
    );
    assert!(!stored.crawl.data().join("documents").exists());
}

#[test]
fn what_is_lost_or_changed_in_the_bucket_is_found_and_comes_back() {
    let stored = Stored::new();
    stored.crawl.write("a.warc.gz", many(30).bytes);
    stored.import(&["a.warc.gz", "--collection", "s3://papers"]);
    let before = stored.server.keys();
    let mut papers = before.iter().filter(|key| key.ends_with(".pdf"));
    let (lost, changed) = (papers.next().unwrap(), papers.next().unwrap());
    stored.server.ask("DELETE", &format!("papers/{lost}"));
    stored
        .server
        .send("PUT", &format!("papers/{changed}"), b"other bytes");

    let found = stored.garner(3, &["verify"]);
    assert!(found.contains(lost) && found.contains(changed), "{found}");
    stored.garner(3, &["verify", "--repair"]);
    stored.import(&["a.warc.gz"]);
    stored.garner(0, &["verify"]);

    let now = stored.server.keys();
    let aside = format!("set-aside/{changed}");
    assert!(now.contains(&aside), "{now:?}");
    let ours = now.iter().filter(|key| !key.starts_with("set-aside/"));
    assert_eq!(ours.count(), before.len(), "{now:?}");
}

#[test]
fn a_bucket_that_is_not_there_and_keys_that_are_missing_are_said() {
    let stored = Stored::new();
    stored.crawl.write("a.warc.gz", many(1).bytes);
    let said = stored.garner(
        1,
        &["import", "a.warc.gz", "--collection", "s3://nowhere/x"],
    );
    assert!(said.contains("NoSuchBucket"), "{said}");
    let said = stored.garner(1, &["import", "a.warc.gz", "--collection", "gs://papers"]);
    assert!(said.contains("s3://BUCKET/PREFIX"), "{said}");

    let other = Crawl::new();
    other.write("a.warc.gz", many(1).bytes);
    let output = other.try_import(&["a.warc.gz", "--collection", "s3://papers"]);
    assert!(
        stderr(&output).contains("AWS_ACCESS_KEY_ID"),
        "{}",
        stderr(&output)
    );
}
