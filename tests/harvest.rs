//! `garner harvest` from one end to the other. One line per file on what belongs there.

/// Kill -9, stops, full disks, two at once: nothing is lost and nothing is there twice.
mod crashes;
/// Repositories that misbehave: what happens is right and is told.
mod faults;
/// Sites without OAI-PMH, by ResourceSync and sitemaps.
mod lists;
/// The resources themselves: mirrors and WARC files.
mod resources;
/// Filters, mappings, validation.
mod rules;
/// Everything the first time, then what changed; options, exit codes, files, lists of URLs.
mod usual;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use test_support::{Misbehaving, Script, files_below};

/// A data directory, and the harvests into it.
struct Harvester {
    directory: TempDir,
}

/// The outcome of one harvest.
struct Harvested {
    code: i32,
    /// The entry of the history, if there is one.
    entry: Value,
    stderr: String,
}

impl Harvester {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    /// A path beside the data directory.
    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    fn command<S: AsRef<OsStr>>(&self, base_url: &str, arguments: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_garner"));
        command
            .args(["harvest", base_url, "--json", "--data"])
            .arg(self.path("data"))
            .args(arguments)
            .current_dir(self.directory.path());
        command
    }

    fn run<S: AsRef<OsStr>>(&self, base_url: &str, arguments: &[S]) -> Harvested {
        let output = self.command(base_url, arguments).output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        Harvested {
            code: output.status.code().unwrap(),
            entry: serde_json::from_str(&stdout).unwrap_or_default(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Harvests and expects that everything was had.
    fn harvest<S: AsRef<OsStr>>(&self, base_url: &str, arguments: &[S]) -> Harvested {
        let harvested = self.run(base_url, arguments);
        assert_eq!(
            harvested.code, 0,
            "{}\n{}",
            harvested.stderr, harvested.entry
        );
        harvested
    }

    /// Another command on the same data.
    fn garner(&self, arguments: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_garner"))
            .args(arguments)
            .arg("--data")
            .arg(self.path("data"))
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// The records as the catalog has them.
    fn records(&self) -> Vec<Value> {
        let lines = self.garner(&["records", "--json"]);
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The identifiers of records that are not deleted, in order.
    fn live(&self) -> Vec<String> {
        let live = self
            .records()
            .into_iter()
            .filter(|record| record["deleted"] == false);
        let mut live: Vec<_> = live.map(|record| text(&record["identifier"])).collect();
        live.sort();
        live
    }

    /// The names of all files below a directory beside the data directory.
    fn files(&self, place: &str) -> Vec<String> {
        let place = self.path(place);
        if !place.exists() {
            return Vec::new();
        }
        let files = files_below(&place).into_iter();
        files
            .map(|name| String::from_utf8_lossy(&name).into_owned())
            .collect()
    }

    /// The files of records, wherever they lie.
    fn record_files(&self) -> Vec<String> {
        let mut files = self.files("data/records");
        files.retain(|file| !file.contains("/.garner"));
        files
    }

    /// Expects that each live record has its own file with its own content, that no other file is there, and that the
    /// catalog has each record once.
    fn expect_consistent(&self) {
        let records = self.records();
        let mut files: Vec<PathBuf> = Vec::new();
        let mut identifiers: Vec<String> = Vec::new();
        for record in &records {
            identifiers.push(format!(
                "{} {}",
                record["metadata_prefix"], record["identifier"]
            ));
            if record["deleted"] == true {
                continue;
            }
            let file = PathBuf::from(text(&record["path"]));
            let xml = std::fs::read_to_string(&file).unwrap();
            let document = roxmltree::Document::parse(&xml).unwrap();
            let of = |name: &str| {
                let mut nodes = document.descendants();
                nodes
                    .find(|node| node.tag_name().name() == name)
                    .and_then(|node| node.text())
            };
            assert_eq!(of("identifier"), record["identifier"].as_str());
            files.push(file);
        }
        identifiers.sort();
        let total = identifiers.len();
        identifiers.dedup();
        assert_eq!(identifiers.len(), total, "a record is there twice");
        files.sort();
        files.dedup();
        let found = self.record_files();
        assert_eq!(files.len(), found.len(), "{found:#?}");
    }
}

impl Harvested {
    fn count(&self, name: &str) -> u64 {
        self.entry["counts"][name]
            .as_u64()
            .unwrap_or_else(|| panic!("{}", self.stderr))
    }

    fn counts(&self, names: [&str; 4]) -> [u64; 4] {
        names.map(|name| self.count(name))
    }

    /// New, updated, unchanged and deleted records.
    fn changes(&self) -> [u64; 4] {
        self.counts(["new", "updated", "unchanged", "deleted"])
    }

    fn state(&self) -> &str {
        self.entry["state"].as_str().unwrap_or_default()
    }

    /// How often a quirk was met.
    fn quirk(&self, name: &str) -> u64 {
        let mut quirks = self.entry["quirks"].as_array().unwrap().iter();
        let quirk = quirks.find(|quirk| quirk["name"] == name);
        quirk.map_or(0, |quirk| quirk["count"].as_u64().unwrap())
    }

    /// The identifiers and reasons of all warnings.
    fn warnings(&self) -> String {
        self.entry["warnings"].to_string()
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A repository, and the identifiers of its records that are not deleted, in order.
fn repository(script: Script) -> (Misbehaving, Vec<String>) {
    let live = (0..script.records).filter(|number| number % 10 != 9);
    let mut live: Vec<_> = live.map(Script::identifier).collect();
    live.sort();
    (Misbehaving::start(script), live)
}

fn no_arguments() -> [&'static str; 0] {
    []
}

fn at(path: &Path) -> &str {
    path.to_str().unwrap()
}
