//! Other people's harvesters: sickle and oaipmh-scythe see all of a site, and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use test_support::{Answer, Fixture, Server, basic, wait_until};

use crate::garner;

#[test]
fn sickle_harvests_the_whole_site() {
    let site = ChangingSite::new();
    site.harvest_with("sickle_client.py");
}

#[test]
fn scythe_harvests_the_whole_site() {
    let site = ChangingSite::new();
    site.harvest_with("scythe_client.py");
}

/// A file that the test put into the site, and its state.
struct File {
    /// The name on disk.
    name: String,
    /// The same in a URL, escaped by hand.
    url_path: String,
    set: &'static str,
    by_value: bool,
    deleted: bool,
    /// Whether it was made, edited or removed while the server ran.
    touched: bool,
}

/// A site with small pages, a protected area and tombstones, as harvesters meet it in the middle of its life.
struct ChangingSite {
    fixture: Fixture,
    server: Server,
    files: Vec<File>,
    changed_since: String,
}

const CONFIG: &str = r#"
[pages]
records = 7
identifiers = 10

[by_value]
limit = "20 kB"

[[area]]
path = "/members/"
htpasswd = "htpasswd"
"#;

impl ChangingSite {
    fn new() -> Self {
        let fixture = Fixture::empty();
        fixture.write_beside("htpasswd", "reader:{SHA}mzMEbtOdGC462vqQRa1nh9S7wyE=\n");
        let mut files = files();
        for (at, file) in files.iter().enumerate() {
            fixture.write(&file.name, content(file));
            fixture.set_mtime(
                &file.name,
                1_600_000_000 + 60 * i64::try_from(at / 3).unwrap(),
            );
        }
        let server = garner().serve(&fixture, CONFIG);
        let changed_since = server.ask("verb=Identify").text("responseDate").unwrap();

        for file in &mut files {
            match file.name.as_str() {
                "pages/3.html" | "texts/0.txt" | "members/1.html" => {
                    fs::remove_file(fixture.path(&file.name)).unwrap();
                    (file.deleted, file.touched) = (true, true);
                }
                "pages/5.html" | "a b&c.txt" => {
                    fixture.write(&file.name, "edited");
                    file.touched = true;
                }
                _ => {}
            }
        }
        let mut new = File::new("pages/new.html", "mime:text:html");
        new.touched = true;
        fixture.write(&new.name, content(&new));
        files.push(new);

        let touched = files.iter().filter(|file| file.touched).count();
        let (name, value) = basic("reader", "legacy");
        wait_until("all changes are seen", || {
            let arguments = format!("metadataPrefix=oai_dc&from={changed_since}");
            let headers = [(name, value.as_str())];
            Answer::list(&server.base_url, "ListIdentifiers", &arguments, &headers).len() == touched
        });
        Self {
            fixture,
            server,
            files,
            changed_since,
        }
    }

    /// Runs a client twice, as anybody and as somebody with a password.
    fn harvest_with(&self, client: &str) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let python = root.join(".venv/bin/python");
        assert!(python.exists(), "run scripts/setup test");
        let script = root.join("tests/interop").join(client);

        for (who, credentials) in [
            ("anybody", &[][..]),
            ("reader", &["--user", "reader", "--password", "legacy"]),
        ] {
            let output = Command::new(&python)
                .arg("-B")
                .arg(&script)
                .arg(&self.server.base_url)
                .arg(self.expected(who))
                .args(credentials)
                .output()
                .unwrap();

            let said = String::from_utf8_lossy(&output.stdout);
            let complained = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{who}\n{said}{complained}");
            assert!(said.contains("checks passed"), "{said}");
        }
    }

    /// Writes down what a harvester must find, from what the test itself did.
    fn expected(&self, who: &str) -> PathBuf {
        let visible: Vec<_> = self
            .files
            .iter()
            .filter(|file| who == "reader" || !file.name.starts_with("members/"))
            .collect();
        let records: Vec<Value> = visible
            .iter()
            .map(|file| {
                json!({
                    "identifier": self.server.url(&file.url_path),
                    "sets": [file.set],
                    "deleted": file.deleted,
                    "by_value": file.by_value,
                })
            })
            .collect();
        let sets: BTreeSet<_> = visible
            .iter()
            .flat_map(|file| with_parents(file.set))
            .collect();
        let changed: Vec<_> = visible
            .iter()
            .filter(|file| file.touched)
            .map(|file| self.server.url(&file.url_path))
            .collect();
        let expected = json!({
            "records": records,
            "sets": sets,
            "formats": ["oai_dc", "http_header", "oai_didl"],
            "changes": { "from": self.changed_since, "identifiers": changed },
        });
        let name = format!("expected-{who}.json");
        self.fixture.write_beside(&name, expected.to_string())
    }
}

impl File {
    fn new(name: &str, set: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            url_path: name.to_owned(),
            set,
            by_value: true,
            deleted: false,
            touched: false,
        }
    }
}

/// Forty files of ten types; those for members have a type that nothing else has.
fn files() -> Vec<File> {
    let mut files = Vec::new();
    for (directory, extension, count, set) in [
        ("pages", "html", 12, "mime:text:html"),
        ("texts", "txt", 6, "mime:text:plain"),
        ("images", "png", 4, "mime:image:png"),
        ("images", "svg", 2, "mime:image:svg_2bxml"),
        ("papers", "pdf", 3, "mime:application:pdf"),
        ("data", "csv", 2, "mime:text:csv"),
        ("data", "unknown", 2, "mime:application:octet-stream"),
        ("members", "html", 3, "mime:text:html"),
        ("members", "json", 2, "mime:application:json"),
    ] {
        for number in 0..count {
            let name = format!("{directory}/{number}.{extension}");
            files.push(File::new(&name, set));
        }
    }
    for (name, url_path) in [
        ("a b&c.txt", "a%20b%26c.txt"),
        ("50%.txt", "50%25.txt"),
        ("caf\u{e9}.txt", "caf%C3%A9.txt"),
    ] {
        let mut file = File::new(name, "mime:text:plain");
        url_path.clone_into(&mut file.url_path);
        files.push(file);
    }
    let mut large = File::new("large.mp4", "mime:video:mp4");
    large.by_value = false;
    files.push(large);
    files
}

fn content(file: &File) -> Vec<u8> {
    match file.by_value {
        true => format!("<title>{0}</title> this is {0}\n", file.name).into_bytes(),
        false => vec![b'x'; 30_000],
    }
}

/// `a:b:c` is also `a:b` and `a` (OAI-PMH 2.0, 2.6).
fn with_parents(set: &str) -> Vec<&str> {
    let ends = set.match_indices(':').map(|(at, _)| at);
    let mut sets: Vec<_> = ends.map(|at| &set[..at]).collect();
    sets.push(set);
    sets
}
