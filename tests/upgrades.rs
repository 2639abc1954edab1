//! Data of releases, as `scripts/release-data` packed them, taken over by this program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{Postgres, free_port, get};

use crate::command_line::{stderr, stdout};
use crate::garner;

/// The data that a release left, unpacked.
struct Release {
    place: TempDir,
    expected: Value,
    /// The URL of its catalog, unless that is in the data directory.
    catalog: Option<String>,
}

impl Release {
    /// All releases, the oldest first.
    fn all() -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/released");
        let archives = fs::read_dir(folder).unwrap();
        let mut archives: Vec<_> = archives.map(|entry| entry.unwrap().path()).collect();
        archives.sort();
        assert!(!archives.is_empty());
        archives
            .iter()
            .map(|archive| Self::unpack(archive))
            .collect()
    }

    fn unpack(archive: &Path) -> Self {
        let place = tempfile::tempdir().unwrap();
        let mut tar = Command::new("tar");
        tar.arg("-xzf").arg(archive).arg("-C").arg(place.path());
        assert!(tar.status().unwrap().success(), "{}", archive.display());
        let expected = fs::read(place.path().join("expected.json")).unwrap();
        Self {
            expected: serde_json::from_slice(&expected).unwrap(),
            place,
            catalog: None,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn run(&self, data: &str, arguments: &[&str]) -> Output {
        let mut garner = garner().args(arguments).arg("--data").arg(self.path(data));
        if let Some(catalog) = &self.catalog {
            garner = garner.args(["--catalog", catalog]);
        }
        garner.output()
    }

    /// The objects that a command prints.
    fn objects(&self, data: &str, arguments: &[&str]) -> Vec<Value> {
        let output = self.run(data, &[arguments, &["--json"]].concat());
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            stderr(&output)
        );
        let lines = stdout(&output);
        let lines = lines.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().unwrap()
    }

    /// A data directory holds what it held.
    fn expect_holdings(&self, data: &str) {
        let of = |arguments: &[&str], fields: &[&str]| -> Value {
            let objects = self.objects(data, arguments).into_iter();
            let picked = objects.map(|object| match fields {
                [field] => object[field].clone(),
                fields => fields.iter().map(|field| object[field].clone()).collect(),
            });
            picked.collect()
        };
        let documents = ["id", "url", "state", "content_sha1"];
        for (name, arguments, fields) in [
            ("records", &["records"][..], &["identifier", "deleted"][..]),
            ("documents", &["documents", "list"], &documents),
            ("schedules", &["schedule", "list"], &["name"]),
            ("accounts", &["account", "list"], &["name", "role"]),
            ("lists", &["lists", "list"], &["name"]),
            ("trash", &["documents", "trash"], &["url"]),
            ("found", &["documents", "search", "lens"], &["id"]),
        ] {
            // A copied catalog has no words yet; `garner up` reads them from the files.
            if name == "found" && self.catalog.is_some() {
                continue;
            }
            assert_eq!(of(arguments, fields), self.expected[name], "{data}: {name}");
        }
        let length = |arguments: &[&str]| json!(self.objects(data, arguments).len());
        assert_eq!(length(&["history"]), self.expected["history"]);
        assert_eq!(length(&["history", "--imports"]), self.expected["imports"]);
    }
}

/// The headers of a list, by their identifiers; datestamps of tombstones only, because unpacked files are new to an index.
fn headers(list: &str) -> Vec<String> {
    let headers = list.split("<header").skip(1);
    let mut headers: Vec<_> = headers
        .map(|header| {
            let (header, _) = header.split_once("</header>").unwrap();
            match header.contains("deleted") {
                true => header.to_owned(),
                false => header.split_once("<datestamp>").unwrap().0.to_owned(),
            }
        })
        .collect();
    headers.sort();
    headers
}

#[test]
fn the_data_directory_of_every_release_is_taken_over_with_all_that_is_in_it() {
    for release in Release::all() {
        release.expect_holdings("data");
        let verified = release.run("data", &["verify"]);
        assert!(verified.status.success(), "{}", stderr(&verified));
        // Work goes on with it.
        let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crawl.warc.gz");
        let imported = release.run("data", &["import", crawl.to_str().unwrap(), "--json"]);
        let counters: Value = serde_json::from_slice(&imported.stdout).unwrap();
        assert_eq!(counters["saved_New"], 3, "{counters}");
        assert_eq!(counters["skipped_Takedown"], 1, "{counters}");
    }
}

#[test]
fn the_catalog_of_every_release_is_taken_over_on_postgres() {
    let is_there = |release: &Release| release.path("postgres.sql").exists();
    let releases: Vec<_> = Release::all().into_iter().filter(is_there).collect();
    assert!(!releases.is_empty());
    for mut release in releases {
        let url = Postgres::shared().database();
        Postgres::shared().load(&url, &release.path("postgres.sql"));
        release.catalog = Some(url);
        release.expect_holdings("data");
    }
}

#[test]
fn a_backup_of_every_release_is_restored() {
    for release in Release::all() {
        let backup = release.path("backup");
        let output = release.run("restored", &["restore", backup.to_str().unwrap()]);
        assert!(output.status.success(), "{}", stderr(&output));
        release.expect_holdings("restored");
    }
}

#[test]
fn the_index_of_every_release_keeps_its_items_and_tombstones() {
    for release in Release::all() {
        let port = free_port();
        let listen = format!("127.0.0.1:{port}");
        let _server = garner()
            .current_dir(release.place.path())
            .args(["serve", "site", "--config", "site.toml", "--data", "index"])
            .args(["--listen", &listen, "--admin-email", "a@example.org"])
            .start();
        let list = "/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc";
        let list = get(&format!("http://{listen}{list}")).text();
        let expected = release.expected["headers"].as_str().unwrap();
        assert_eq!(headers(&list), headers(expected));
    }
}

#[test]
fn data_of_a_newer_version_is_refused_and_left_as_it_is() {
    let release = Release::all().pop().unwrap();
    let catalog = release.path("data/catalog.sqlite");
    let index = release.path("index/index.sqlite");
    let change = |path: &Path, sql: &str| {
        let database = rusqlite::Connection::open(path).unwrap();
        database.execute_batch(sql).unwrap();
    };
    change(&catalog, "UPDATE catalog_schema SET version = 99");
    change(&index, "PRAGMA user_version = 99");
    let backup = release.path("backup");
    let new = release.path("data-backup");
    fs::create_dir(&new).unwrap();

    for arguments in [
        &["records"][..],
        &["import", "crawl.warc.gz"],
        &["up", "--no-console"],
        &["worker"],
        &["verify", "--repair"],
        &["backup", new.to_str().unwrap()],
    ] {
        let output = release.run("data", arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let said = stderr(&output);
        assert!(
            said.contains("was written by a newer garner (version 99"),
            "{arguments:?}: {said}"
        );
    }
    let site = release.path("site");
    let served = release.run("index", &["serve", site.to_str().unwrap()]);
    assert_eq!(served.status.code(), Some(1));
    assert!(
        stderr(&served).contains("was written by a newer garner (version 99)"),
        "{}",
        stderr(&served)
    );
    // The lists of backups say which version of the catalog they hold.
    let list = fs::read_dir(backup.join("backups"))
        .unwrap()
        .next()
        .unwrap();
    let list = list.unwrap().path();
    let unpacked = Command::new("gzip").arg("-dc").arg(&list).output().unwrap();
    let lines = String::from_utf8(unpacked.stdout).unwrap();
    let (head, rest) = lines.split_once('\n').unwrap();
    let mut head: Value = serde_json::from_str(head).unwrap();
    head["catalog"]["schema"] = json!(99);
    let plain = list.with_extension("");
    fs::write(&plain, format!("{head}\n{rest}")).unwrap();
    let packed = Command::new("gzip")
        .arg("-fk")
        .arg(&plain)
        .status()
        .unwrap();
    assert!(packed.success());
    fs::remove_file(&plain).unwrap();
    let output = release.run("restored", &["restore", backup.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("made by a newer garner"),
        "{}",
        stderr(&output)
    );
    assert!(!release.path("restored/catalog.sqlite").exists());
}
