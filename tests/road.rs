//! The whole road: a site is exposed, mirrored, imported into a collection, exposed again, and harvested by others. What
//! is added, changed, moved, protected and deleted at the source is right everywhere within one round.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use test_support::{Fixture, Httpd, Server, free_port, mod_oai};

use crate::command_line::stderr;
use crate::garner;
use crate::import::pdf;

/// The stations of the road between the site and those who harvest the aggregator.
struct Road {
    directory: TempDir,
    base_url: String,
    aggregator: Server,
}

impl Road {
    /// Begins a road at the repository of a site, with a first round.
    fn begin(base_url: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        fs::create_dir(&data).unwrap();
        let catalog = data.join("catalog.sqlite");
        let first = garner()
            .args(["harvest", base_url, "--unpack", "--quiet", "--data"])
            .arg(&data)
            .output();
        assert!(first.status.success(), "{}", stderr(&first));
        let listen = format!("127.0.0.1:{}", free_port());
        let aggregator = garner()
            .args([
                "serve",
                "--listen",
                &listen,
                "--admin-email",
                "admin@example.org",
                "--catalog",
            ])
            .arg(&catalog)
            .arg("--data")
            .arg(&data)
            .start();
        Self {
            directory,
            base_url: base_url.to_owned(),
            aggregator,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn commands(&self) -> [Vec<String>; 3] {
        let data = self.path("data").display().to_string();
        let second = self.path("second").display().to_string();
        let command = |arguments: &[&str]| arguments.iter().map(|it| (*it).to_owned()).collect();
        [
            command(&[
                "harvest",
                &self.base_url,
                "--unpack",
                "--quiet",
                "--data",
                &data,
            ]),
            command(&[
                "import",
                &data,
                "--mirror-deletions",
                "--quiet",
                "--data",
                &data,
            ]),
            command(&[
                "harvest",
                &self.aggregator.base_url,
                "--prefix",
                "oai_dc",
                "--set",
                DOCUMENTS,
                "--quiet",
                "--data",
                &second,
            ]),
        ]
    }

    /// One round: harvest, import, and the second garner's harvest.
    fn round(&self) {
        for command in self.commands() {
            let output = garner().args(&command).output();
            assert!(output.status.success(), "{command:?}: {}", stderr(&output));
        }
    }

    /// The same, and each command is killed again and again before it comes to its end.
    fn killed_round(&self) -> u32 {
        let mut kills = 0;
        for command in self.commands() {
            for wait in [30, 60, 120, 240] {
                let mut child = Command::new(env!("CARGO_BIN_EXE_garner"))
                    .args(&command)
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap();
                std::thread::sleep(Duration::from_millis(wait));
                if child.try_wait().unwrap().is_none() {
                    child.kill().unwrap();
                    kills += 1;
                }
                child.wait().unwrap();
            }
        }
        self.round();
        kills
    }

    /// The paths of the files in the mirror.
    fn mirror(&self) -> Vec<String> {
        let mut files: Vec<_> = test_support::files_below(&self.path("data/mirror"))
            .into_iter()
            .map(|name| String::from_utf8(name).unwrap())
            .filter(|name| !name.starts_with(".garner"))
            .collect();
        files.sort();
        files
    }

    /// The documents of the collection: the paths of their URLs, with their digests.
    fn collection(&self) -> BTreeMap<String, String> {
        documents(&self.path("data"))
    }

    /// The documents of the second garner: their paths, and whether they are deleted.
    fn downstream(&self) -> BTreeMap<String, bool> {
        let output = garner()
            .args(["records", "--json", "--data"])
            .arg(self.path("second"))
            .output();
        assert!(output.status.success(), "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        let records = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        records
            .map(|record| {
                let deleted = record["deleted"] == true;
                (record["identifier"].as_str().unwrap().to_owned(), deleted)
            })
            .collect()
    }

    /// The URLs of live records that sickle finds, by path.
    fn sickle(&self) -> Vec<String> {
        let script = format!(
            "from sickle import Sickle\n\
             for record in Sickle({:?}).ListRecords(metadataPrefix='oai_dc', set='{DOCUMENTS}', ignore_deleted=True):\n\
             \x20   print([i for i in record.metadata['identifier'] if i.startswith('http')][0])\n",
            self.aggregator.base_url
        );
        let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
        let output = Command::new(python).args(["-c", &script]).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8(output.stdout).unwrap();
        let mut paths: Vec<_> = text.lines().map(path_of).collect();
        paths.sort();
        paths
    }

    /// Expects that everything downstream is what the site has: the files that anybody sees, and of those the documents.
    fn expect(&self, files: &[&str], papers: &[&str]) {
        assert_eq!(self.mirror(), files, "mirror");
        let collection: Vec<_> = self.collection().into_keys().collect();
        assert_eq!(collection, papers, "collection");
        let live = self
            .downstream()
            .into_values()
            .filter(|deleted| !deleted)
            .count();
        assert_eq!(live, papers.len(), "second garner: {:?}", self.downstream());
        assert_eq!(self.sickle(), papers, "sickle");
    }
}

/// The documents of a data directory: the paths of their URLs, with their digests.
fn documents(data: &Path) -> BTreeMap<String, String> {
    let output = garner()
        .args(["documents", "list", "--json", "--data"])
        .arg(data)
        .output();
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let documents = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    documents
        .map(|document| {
            let digest = document["content_sha256"].as_str().unwrap().to_owned();
            (path_of(document["url"].as_str().unwrap()), digest)
        })
        .collect()
}

/// The path of a URL, without the slash at its beginning.
fn path_of(url: &str) -> String {
    url.splitn(4, '/').nth(3).unwrap_or_default().to_owned()
}

fn site() -> Fixture {
    let fixture = Fixture::empty();
    fixture.write("index.html", "<title>Papers</title><a href='papers/1.pdf'>1</a> <a href='papers/2.pdf'>2</a> <a href='papers/3.pdf'>3</a>");
    for number in 1..=3 {
        fixture.write(format!("papers/{number}.pdf"), pdf(number));
    }
    fixture.write("notes.txt", "notes\n");
    fixture
}

/// Walks the road: everything that can happen at a source, each time with one round.
fn walk(fixture: &Fixture, base_url: &str, protect: &dyn Fn(), settle: &dyn Fn()) {
    let road = Road::begin(base_url);
    road.round();
    road.expect(
        &[
            "index.html",
            "notes.txt",
            "papers/1.pdf",
            "papers/2.pdf",
            "papers/3.pdf",
        ],
        &["papers/1.pdf", "papers/2.pdf", "papers/3.pdf"],
    );

    // Added, changed, moved and deleted.
    fixture.write("papers/4.pdf", pdf(4));
    fixture.write("papers/1.pdf", pdf(11));
    fs::rename(
        fixture.path("papers/2.pdf"),
        fixture.path("papers/moved.pdf"),
    )
    .unwrap();
    fs::remove_file(fixture.path("notes.txt")).unwrap();
    settle();
    let before = road.collection()["papers/1.pdf"].clone();
    assert!(road.killed_round() > 0);
    road.expect(
        &[
            "index.html",
            "papers/1.pdf",
            "papers/3.pdf",
            "papers/4.pdf",
            "papers/moved.pdf",
        ],
        &[
            "papers/1.pdf",
            "papers/3.pdf",
            "papers/4.pdf",
            "papers/moved.pdf",
        ],
    );
    assert_ne!(road.collection()["papers/1.pdf"], before);

    // Protected, and deleted.
    protect();
    fs::remove_file(fixture.path("papers/4.pdf")).unwrap();
    settle();
    road.round();
    road.expect(
        &["index.html", "papers/1.pdf", "papers/moved.pdf"],
        &["papers/1.pdf", "papers/moved.pdf"],
    );

    // A file that comes back is a document again.
    fixture.write("papers/4.pdf", pdf(4));
    settle();
    road.round();
    road.expect(
        &[
            "index.html",
            "papers/1.pdf",
            "papers/4.pdf",
            "papers/moved.pdf",
        ],
        &["papers/1.pdf", "papers/4.pdf", "papers/moved.pdf"],
    );
}

#[test]
fn the_road_from_a_stand_alone_site_is_right_within_one_round() {
    let fixture = site();
    let server = garner().serve(&fixture, "");
    // A name with a dot at its beginning is not offered.
    let protect = || {
        let hidden = fixture.path("papers/3.pdf");
        fs::rename(&hidden, fixture.path("papers/.3.pdf")).unwrap();
    };
    let settle = || std::thread::sleep(Duration::from_millis(3500));
    walk(&fixture, &server.base_url, &protect, &settle);
}

#[test]
fn the_road_from_apache_is_right_within_one_round() {
    let built = std::panic::catch_unwind(mod_oai);
    if built.is_err() {
        eprintln!("mod_oai is not built, so the stand-alone road is all that is tested");
        return;
    }
    let fixture = site();
    let httpd = Httpd::of(&fixture).conf(APACHE).start();
    let protect = || {
        fixture.write(
            "papers/.htaccess",
            "<Files 3.pdf>\nRequire all denied\n</Files>\n",
        );
    };
    let settle = || std::thread::sleep(Duration::from_millis(3500));
    walk(&fixture, &httpd.base_url(), &protect, &settle);
}

#[test]
fn a_crawl_of_the_site_imports_to_the_same_documents() {
    let fixture = site();
    let server = garner().serve(&fixture, "");
    let road = Road::begin(&server.base_url);
    road.round();
    let crawl = road.path("crawl");
    fs::create_dir(&crawl).unwrap();
    let wget = Command::new("wget")
        .args([
            "-q",
            "-r",
            "-l",
            "5",
            "--delete-after",
            "--no-directories",
            "--warc-file=site",
            "-e",
            "robots=off",
        ])
        .arg(&server.site_url)
        .current_dir(&crawl)
        .output()
        .unwrap();
    assert!(crawl.join("site.warc.gz").exists(), "{wget:?}");

    let imported = garner()
        .args(["import", "--quiet", "--data"])
        .arg(road.path("crawled"))
        .arg(crawl.join("site.warc.gz"))
        .output();

    assert!(imported.status.success(), "{}", stderr(&imported));
    assert_eq!(documents(&road.path("crawled")), road.collection());
}

const DOCUMENTS: &str = "document";
const APACHE: &str = "<Location \"/modoai\">\nSetHandler oai\n</Location>\nOaiFreshness 0\n";
