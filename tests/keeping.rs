//! How records are kept: as files, in packs of the data directory or of a store, in the database. Everything that reads
//! records gives the same whatever the way; records are moved between them, packs compacted, and nothing is lost when a
//! process is killed.

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use test_support::{Fault, Misbehaving, Postgres, S3Server, Script, wait_until};

use crate::command_line::{stderr, stdout};

/// A data directory whose records are kept in one way.
struct Kept {
    directory: TempDir,
    catalog: Option<String>,
    store: Option<S3Server>,
}

const WAYS: [&str; 4] = ["files", "packs", "database", "store"];

impl Kept {
    fn new(way: &str, catalog: Option<String>) -> Self {
        let kept = Self {
            directory: tempfile::tempdir().unwrap(),
            catalog,
            store: (way == "store").then(S3Server::start),
        };
        let config = match way {
            "store" => "store = \"s3://papers/garner\"\n".to_owned(),
            way => format!("[harvest]\nrecords = \"{way}\"\n"),
        };
        std::fs::write(kept.directory.path().join("garner.toml"), config).unwrap();
        kept
    }

    fn command_in(&self, data: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_garner"));
        command
            .args(arguments)
            .args(["--config", "garner.toml", "--data", data])
            .current_dir(self.directory.path())
            .env_remove("RUST_LOG")
            .env("AWS_ACCESS_KEY_ID", "key")
            .env("AWS_SECRET_ACCESS_KEY", "geheim");
        if let Some(catalog) = &self.catalog {
            command.args(["--catalog", catalog]);
        }
        if let Some(store) = &self.store {
            command.env("AWS_ENDPOINT_URL", store.endpoint());
        }
        command
    }

    fn command(&self, arguments: &[&str]) -> Command {
        self.command_in("data", arguments)
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn garner(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let said = stderr(&output);
        assert!(output.status.success(), "{arguments:?}: {said}");
        assert!(!said.contains("geheim"), "{said}");
        stdout(&output)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let printed = self.garner(&[arguments, &["--json"]].concat());
        serde_json::from_str(&printed).unwrap()
    }

    /// New, updated, unchanged and deleted records of a harvest.
    fn harvest(&self, repository: &Misbehaving, arguments: &[&str]) -> [u64; 4] {
        let base_url = repository.base_url();
        let entry = self.json(&[&["harvest", base_url.as_str()], arguments].concat());
        ["new", "updated", "unchanged", "deleted"]
            .map(|name| entry["counts"][name].as_u64().unwrap())
    }

    /// All records as they are given out, and the places that the catalog has for them.
    fn export(&self) -> (String, Vec<String>) {
        let exported = self.garner(&["records", "export"]);
        let listed = self.garner(&["records", "--json"]);
        let file = |line: &str| {
            let record: Value = serde_json::from_str(line).unwrap();
            record["file"].as_str().map(str::to_owned)
        };
        (exported, listed.lines().filter_map(file).collect())
    }

    /// Packs, wherever they lie.
    fn packs(&self) -> Vec<String> {
        if let Some(store) = &self.store {
            return store.keys();
        }
        let files = test_support::files_below(&self.directory.path().join("data"));
        let names = files
            .iter()
            .map(|name| String::from_utf8_lossy(name).into_owned());
        names.filter(|name| name.ends_with(".xml.gz")).collect()
    }
}

fn each_way(test: impl Fn(&str, Kept)) {
    for way in WAYS {
        test(way, Kept::new(way, None));
        test(way, Kept::new(way, Some(Postgres::shared().database())));
    }
}

#[test]
fn everything_that_reads_records_gives_the_same_whatever_the_way() {
    let repository = Misbehaving::start(Script::new(120, 25));
    let expected = {
        let files = Kept::new("files", None);
        files.harvest(&repository, &[]);
        files.export().0
    };
    each_way(|way, kept| {
        assert_eq!(kept.harvest(&repository, &[]), [108, 0, 0, 12], "{way}");

        let (exported, files) = kept.export();
        assert!(exported == expected, "{way}");
        let begins = match way {
            "files" => "misbehaving.example",
            "packs" => "~packs/",
            "database" => "~database/",
            _ => "~store/1/oai_dc/",
        };
        assert_eq!(files.len(), 108);
        assert!(
            files.iter().all(|file| file.starts_with(begins)),
            "{files:?}"
        );
        let identifier = Script::identifier(17);
        let one = kept.garner(&["records", "cat", &identifier]);
        assert!(
            one.contains("Record 17: caf\u{e9}") && expected.contains(one.trim()),
            "{one}"
        );
        assert_eq!(kept.garner(&["records", "show", "18", "--xml"]), one);
        kept.garner(&["verify"]);
        // The pages of the store are few.
        let packs = kept.packs().len();
        match way {
            "packs" => assert_eq!(packs, 1),
            "store" => assert!((1..=5).contains(&packs), "{packs}"),
            _ => assert_eq!(packs, 0),
        }

        // An unchanged record stays where it is, and a changed one is replaced.
        assert_eq!(
            kept.harvest(&repository, &["--full"]),
            [0, 0, 120, 0],
            "{way}"
        );
        assert_eq!(kept.export().1, files);
        repository.change(|script| script.faults = vec![Fault::LongRecord(17, 90_000)]);
        assert_eq!(
            kept.harvest(&repository, &["--full"]),
            [0, 1, 119, 0],
            "{way}"
        );
        let longer = kept.garner(&["records", "cat", &identifier]);
        assert!(longer.len() > 90_000);
        kept.garner(&["verify"]);
        repository.change(|script| script.faults.clear());
        kept.harvest(&repository, &["--full"]);
        assert!(kept.export().0 == expected, "{way}");

        kept.garner(&["repository", "remove", "1", "--files"]);
        assert_eq!(kept.packs(), [""; 0], "{way}");
    });
}

#[test]
fn records_are_moved_between_all_ways_and_are_the_same_after_it() {
    let repository = Misbehaving::start(Script::new(700, 100));
    for catalog in [None, Some(Postgres::shared().database())] {
        let kept = Kept::new("store", catalog);
        kept.harvest(&repository, &[]);
        let expected = kept.export().0;
        for (way, begins) in [
            ("database", "~database/"),
            ("files", "misbehaving.example"),
            ("packs", "~store/"),
            ("files", "misbehaving.example"),
            ("database", "~database/"),
            ("packs", "~store/"),
        ] {
            let moved = kept.json(&["repository", "move-records", "1", "--to", way]);
            assert_eq!(moved["moved"], 630, "{moved}");
            let (exported, files) = kept.export();
            assert!(exported == expected, "{way}");
            assert!(files.iter().all(|file| file.starts_with(begins)), "{way}");
            assert_eq!(
                kept.packs().is_empty(),
                way != "packs",
                "{:?}",
                kept.packs()
            );
            let again = kept.json(&["repository", "move-records", "1", "--to", way]);
            assert_eq!(
                (&again["moved"], &again["unchanged"]),
                (&0.into(), &630.into())
            );
            kept.garner(&["verify"]);
        }
    }
}

#[test]
fn packs_lose_what_nobody_wants_any_more() {
    let repository = Misbehaving::start(Script::new(1300, 100));
    let kept = Kept::new("packs", None);
    kept.harvest(&repository, &[]);
    let length = || -> u64 {
        let data = kept.directory.path().join("data");
        let packs = kept.packs();
        packs
            .iter()
            .map(|pack| data.join(pack).metadata().unwrap().len())
            .sum()
    };
    let first = length();

    // All records are longer now, and each change leaves its former bytes behind until that is more than what is held.
    repository.change(|script| script.faults = vec![Fault::SmallEntities]);
    assert_eq!(kept.harvest(&repository, &["--full"])[1], 1170);
    let after = length();
    assert!(after < first * 4, "{first} {after}");
    let exported = kept.export().0;
    kept.garner(&["verify"]);
    let moved = kept.json(&["repository", "move-records", "1", "--compact"]);
    assert_eq!(moved["moved"], 1170, "{moved}");
    assert!(kept.export().0 == exported);
    assert_eq!(kept.packs().len(), 1);
    assert!(length() < first * 3 / 2, "{first} {}", length());
}

#[test]
fn a_harvest_that_is_killed_again_and_again_leaves_what_one_harvest_would() {
    for way in ["packs", "database", "store"] {
        let pages = (0..20).map(|page| Fault::Slow { page, pause: 15 });
        let script = pages.fold(Script::new(400, 20), Script::with);
        let repository = Misbehaving::start(script);
        let kept = Kept::new(way, Some(Postgres::shared().database()));
        let base_url = repository.base_url();
        for attempt in 1_u64.. {
            assert!(attempt < 100, "the harvest does not get on");
            let mut command = kept.command(&["harvest", &base_url, "--quiet"]);
            let mut child = command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_millis(150 + attempt * 37 % 400));
            child.kill().unwrap();
            if child.wait().unwrap().success() {
                break;
            }
        }
        kept.harvest(&repository, &[]);
        let undisturbed = Kept::new("files", None);
        undisturbed.harvest(&repository, &[]);

        assert!(kept.export().0 == undisturbed.export().0, "{way}");
        // Records that were never committed belong to nobody.
        let verified = kept.output(&["verify", "--repair"]);
        assert!(
            verified
                .status
                .code()
                .is_some_and(|code| code == 0 || code == 3)
        );
        kept.garner(&["verify"]);
        kept.garner(&["repository", "move-records", "1", "--compact"]);
        assert!(kept.export().0 == undisturbed.export().0, "{way}");
    }
}

#[test]
fn a_move_that_is_killed_is_resumed_and_loses_nothing() {
    let repository = Misbehaving::start(Script::new(5000, 500));
    let kept = Kept::new("files", Some(Postgres::shared().database()));
    kept.harvest(&repository, &[]);
    let expected = kept.export().0;
    for (turn, way) in ["packs", "database", "files", "packs", "files"]
        .into_iter()
        .enumerate()
    {
        let mut command = kept.command(&["repository", "move-records", "1", "--to", way]);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(120 + 60 * turn as u64));
        child.kill().unwrap();
        let _ = child.wait().unwrap();

        assert!(kept.export().0 == expected, "{way}");
        kept.garner(&["repository", "move-records", "1", "--to", way]);
        assert!(kept.export().0 == expected, "{way}");
        // Files that were copied and not yet removed are found.
        let verified = kept.output(&["verify", "--repair"]);
        assert!(
            verified
                .status
                .code()
                .is_some_and(|code| code == 0 || code == 3)
        );
        kept.garner(&["verify"]);
    }
}

#[test]
fn what_is_lost_of_a_pack_is_found_and_comes_back() {
    let repository = Misbehaving::start(Script::new(60, 20));
    for way in ["packs", "store"] {
        let kept = Kept::new(way, None);
        kept.harvest(&repository, &[]);
        let expected = kept.export().0;
        for pack in kept.packs() {
            match &kept.store {
                Some(store) => drop(store.ask("DELETE", &format!("papers/{pack}"))),
                None => {
                    std::fs::remove_file(kept.directory.path().join("data").join(pack)).unwrap();
                }
            }
        }

        let found = kept.output(&["verify"]);
        assert_eq!(found.status.code(), Some(3), "{}", stderr(&found));
        assert!(
            stderr(&found).contains("54 files of records are missing"),
            "{}",
            stderr(&found)
        );
        let unread = kept.output(&["records", "cat", &Script::identifier(3)]);
        assert_eq!(unread.status.code(), Some(1), "{}", stderr(&unread));
        assert!(
            stderr(&unread).contains("a full harvest brings it back"),
            "{}",
            stderr(&unread)
        );
        kept.output(&["verify", "--repair"]);
        kept.harvest(&repository, &["--full"]);

        assert!(kept.export().0 == expected, "{way}");
        kept.garner(&["verify"]);
    }
}

/// Issue 25: harvests needed a directory that all machines see.
#[test]
fn workers_without_a_common_directory_harvest_into_a_store() {
    let slow = |script: Script, page| script.with(Fault::Slow { page, pause: 100 });
    let repositories: Vec<_> = (0..4)
        .map(|_| Misbehaving::start((0..10).fold(Script::new(100, 10), slow)))
        .collect();
    let kept = Kept::new("store", Some(Postgres::shared().database()));
    for repository in &repositories {
        kept.garner(&["schedule", "add", &repository.base_url(), "--once"]);
    }
    let spawn = |data: &str, arguments: &[&str]| {
        let mut command = kept.command_in(data, arguments);
        command.args(["--allow", "127.0.0.1"]).stdout(Stdio::null());
        command.stderr(Stdio::null()).spawn().unwrap()
    };
    let mut manager = spawn(
        "data",
        &["up", "--workers", "1", "--per-host", "4", "--no-console"],
    );
    // Its directory is that of the catalog.
    let identity = kept.directory.path().join("data/.garner-id");
    wait_until("the manager is up", || identity.exists());
    let other = ["worker", "--workers", "2", "--name", "other"];
    let mut other = spawn("elsewhere", &other);

    wait_until("all are harvested", || {
        let jobs = kept.garner(&["job", "list", "--all", "--json"]);
        jobs.lines()
            .filter(|line| line.contains("\"state\":\"finished\""))
            .count()
            == 4
    });

    for child in [&mut other, &mut manager] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let jobs = kept.garner(&["job", "list", "--all", "--json"]);
    assert!(jobs.contains("other"), "{jobs}");
    let (exported, files) = kept.export();
    assert_eq!(files.len(), 4 * 90);
    assert_eq!(exported.matches("<dc:title>").count(), 4 * 90);
    assert!(kept.packs().len() <= 4 * 10);
    kept.garner(&["verify"]);
}

#[test]
fn bad_places_are_refused_with_a_remedy() {
    let kept = Kept::new("files", None);
    let repository = Misbehaving::start(Script::new(10, 10));
    for (config, said) in [
        (
            "store = \"/somewhere\"\n",
            "store: write s3://BUCKET/PREFIX",
        ),
        ("[harvest]\nrecords = \"paks\"\n", "packs"),
    ] {
        std::fs::write(kept.directory.path().join("garner.toml"), config).unwrap();
        let output = kept.output(&["harvest", &repository.base_url()]);
        assert!(!output.status.success());
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
    std::fs::write(kept.directory.path().join("garner.toml"), "").unwrap();
    kept.harvest(&repository, &[]);
    let output = kept.output(&["repository", "move-records", "1", "--to", "tape"]);
    assert!(!output.status.success());
    assert!(
        stderr(&output).contains("files, packs or database"),
        "{}",
        stderr(&output)
    );
}
