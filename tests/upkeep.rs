//! Backups, restores and copies of the catalog; what the doctor finds.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use test_support::{Misbehaving, Postgres, Script};

use crate::command_line::{stderr, stdout};
use crate::import::many;
use crate::managed::Managed;

/// Harvested records and imported documents.
fn filled(managed: Managed) -> Managed {
    let repository = Misbehaving::start(Script::new(30, 10));
    managed.garner(&["harvest", &repository.base_url(), "--quiet"]);
    let warc = managed.beside("crawl.warc.gz");
    fs::write(&warc, many(10).bytes).unwrap();
    managed.garner(&["import", warc.to_str().unwrap(), "--quiet"]);
    managed
}

fn garner(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_garner"))
        .args(arguments)
        .env_remove("RUST_LOG")
        .output()
        .unwrap()
}

fn backed_up(managed: &Managed, place: &Path) -> Value {
    managed.json(&["backup", place.to_str().unwrap()])
}

fn restored(place: &Path, data: &Path, options: &[&str]) -> Output {
    let (place, data) = (place.to_str().unwrap(), data.to_str().unwrap());
    garner(&[&["restore", place, "--data", data], options].concat())
}

/// The records and documents of a data directory, as commands print them.
fn holdings(data: &Path, catalog: Option<&str>) -> String {
    let data = data.to_str().unwrap();
    let mut printed = String::new();
    for list in [
        ["records", "--json"].as_slice(),
        &["documents", "list", "--json"],
    ] {
        let options = catalog.map_or_else(Vec::new, |catalog| vec!["--catalog", catalog]);
        let output = garner(&[list, &["--data", data], &options].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        // Records tell where their files lie.
        printed += &stdout(&output).replace(data, "DATA");
    }
    printed
}

/// The objects of a backup, all of them files.
fn objects(place: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(place.join("objects")).unwrap();
    let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
    files.map(|file| file.unwrap().path()).collect()
}

#[test]
fn a_backup_comes_back_as_it_was_and_the_next_copies_only_what_is_new() {
    let managed = filled(Managed::new());
    let place = managed.beside("backup");

    let first = backed_up(&managed, &place);
    let second = backed_up(&managed, &place);
    let before = holdings(&managed.data(), None);
    fs::write(managed.data().join("later.txt"), "later").unwrap();
    let third = backed_up(&managed, &place);

    assert_eq!(first["files"], first["copied_files"]);
    assert!(first["files"].as_u64() > Some(30), "{first}");
    assert_eq!(second["copied_files"], 0, "{second}");
    assert_eq!(third["copied_files"], 1, "{third}");
    let data = managed.beside("restored");
    let output = restored(&place, &data, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(holdings(&data, None), before);
    assert_eq!(fs::read_to_string(data.join("later.txt")).unwrap(), "later");
    let verified = garner(&["verify", "--data", data.to_str().unwrap()]);
    assert!(verified.status.success(), "{}", stderr(&verified));

    let earlier = managed.beside("earlier");
    let name = first["name"].as_str().unwrap();
    assert!(
        restored(&place, &earlier, &["--name", name])
            .status
            .success()
    );
    assert!(!earlier.join("later.txt").exists());
}

#[test]
fn old_backups_go_and_take_what_only_they_need() {
    let managed = filled(Managed::new());
    let place = managed.beside("backup");
    let gone = managed.data().join("gone.txt");
    fs::write(&gone, "only in the first").unwrap();
    backed_up(&managed, &place);
    fs::remove_file(&gone).unwrap();
    let before = objects(&place).len();

    let done = managed.json(&["backup", place.to_str().unwrap(), "--keep", "1"]);

    assert_eq!(done["removed"], 1);
    // Its bytes and its catalog are gone; the new catalog has come.
    assert_eq!(objects(&place).len(), before - 1);
    let data = managed.beside("restored");
    assert!(restored(&place, &data, &[]).status.success());
    assert_eq!(holdings(&data, None), holdings(&managed.data(), None));
}

#[test]
fn a_damaged_file_is_named_and_the_rest_restored() {
    let managed = filled(Managed::new());
    let place = managed.beside("backup");
    fs::write(managed.data().join("precious.txt"), "precious bytes").unwrap();
    backed_up(&managed, &place);
    let is_precious =
        |path: &&PathBuf| fs::read(path).is_ok_and(|bytes| bytes == b"precious bytes");
    let object = objects(&place).iter().find(is_precious).cloned().unwrap();
    fs::write(object, "precious bytez").unwrap();

    let data = managed.beside("restored");
    let output = restored(&place, &data, &[]);

    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("`precious.txt`"),
        "{}",
        stderr(&output)
    );
    assert!(!data.join("precious.txt").exists());
    assert_eq!(holdings(&data, None), holdings(&managed.data(), None));
}

#[test]
fn an_interrupted_backup_is_no_backup_and_the_next_one_resumes_it() {
    let managed = filled(Managed::new());
    let place = managed.beside("backup");
    backed_up(&managed, &place);
    // As a kill leaves it: objects, some of them cut short by a loss of power, and no list.
    fs::remove_dir_all(place.join("backups")).unwrap();
    fs::write(place.join("unfinished.json"), "x").unwrap();
    fs::create_dir(place.join(".garner-backup-x")).unwrap();
    let all = objects(&place);
    let damaged = all
        .iter()
        .find(|path| fs::metadata(path).unwrap().len() > 20)
        .unwrap();
    let length = fs::metadata(damaged).unwrap().len() as usize;
    fs::write(damaged, vec![0; length]).unwrap();
    let output = restored(&place, &managed.beside("none"), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("was interrupted"),
        "{}",
        stderr(&output)
    );

    let done = backed_up(&managed, &place);

    assert_eq!(done["resumed"], true, "{done}");
    assert!(!place.join(".garner-backup-x").exists());
    let data = managed.beside("restored");
    assert!(restored(&place, &data, &[]).status.success());
    assert_eq!(holdings(&data, None), holdings(&managed.data(), None));
}

#[test]
fn what_cannot_be_restored_is_refused_with_the_reason() {
    let managed = filled(Managed::new());
    let place = managed.beside("backup");
    backed_up(&managed, &place);

    let output = restored(&place, &managed.data(), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("is not empty"),
        "{}",
        stderr(&output)
    );

    let output = restored(&managed.data(), &managed.beside("other"), &[]);
    assert!(
        stderr(&output).contains("no backup of garner"),
        "{}",
        stderr(&output)
    );

    let inside = managed.data().join("backup");
    let output = managed.output(&["backup", inside.to_str().unwrap()]);
    assert!(
        stderr(&output).contains("lie in one another"),
        "{}",
        stderr(&output)
    );

    fs::write(place.join("garner-backup.json"), "{\"format\":99}").unwrap();
    let output = restored(&place, &managed.beside("newer"), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("newer garner"),
        "{}",
        stderr(&output)
    );
    assert!(!managed.beside("newer").exists());
}

#[test]
fn a_catalog_moves_to_postgresql_and_back() {
    let managed = filled(Managed::new());
    let sqlite = managed.data().join("catalog.sqlite");
    let postgres = Postgres::shared().database();
    let back = managed.beside("back.sqlite");
    let copy = |from: &str, to: &str| garner(&["catalog", "copy", from, to, "--json"]);

    let there = copy(sqlite.to_str().unwrap(), &postgres);
    assert!(there.status.success(), "{}", stderr(&there));
    let again = copy(&postgres, back.to_str().unwrap());
    assert!(again.status.success(), "{}", stderr(&again));

    let before = holdings(&managed.data(), None);
    assert_eq!(holdings(&managed.data(), Some(&postgres)), before);
    assert_eq!(holdings(&managed.data(), back.to_str()), before);
    let rows = |output: &Output| {
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["rows"].as_u64().unwrap()
    };
    assert!(rows(&there) > 50, "{}", stdout(&there));
    let refused = copy(sqlite.to_str().unwrap(), &postgres);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains("is in use"),
        "{}",
        stderr(&refused)
    );

    // A backup of it is restored into a database, too.
    let place = managed.beside("backup");
    let data = managed.data();
    let (place_name, data_name) = (place.to_str().unwrap(), data.to_str().unwrap());
    let made = garner(&[
        "backup",
        place_name,
        "--data",
        data_name,
        "--catalog",
        &postgres,
    ]);
    assert!(made.status.success(), "{}", stderr(&made));
    let other = Postgres::shared().database();
    let target = managed.beside("restored");
    let output = restored(&place, &target, &["--catalog", &other]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(holdings(&target, Some(&other)), before);
}

#[test]
fn what_is_copied_from_a_catalog_in_use_is_consistent() {
    let managed = filled(Managed::new());
    let warc = managed.beside("larger.warc.gz");
    fs::write(&warc, many(3000).bytes).unwrap();
    let mut import = managed.command(&["import", warc.to_str().unwrap(), "--quiet"]);
    let mut import = import.spawn().unwrap();
    let sqlite = managed.data().join("catalog.sqlite");
    let mut counts = Vec::new();
    for number in 0..100 {
        let is_over = import.try_wait().unwrap().is_some();
        let copy = managed.beside(&format!("copy-{number}.sqlite"));
        let names = [&sqlite, &copy].map(|path| path.to_str().unwrap());
        let output = garner(&["catalog", "copy", names[0], names[1], "--quiet"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let copy = rusqlite::Connection::open(&copy).unwrap();
        let number = |sql: &str| copy.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(number("SELECT count(*) FROM pragma_foreign_key_check"), 0);
        let waiting = "SELECT count(*) FROM document WHERE content_id IS NOT NULL
             AND content_id NOT IN (SELECT id FROM content)";
        assert_eq!(number(waiting), 0);
        counts.push(number("SELECT count(*) FROM document"));
        if is_over {
            break;
        }
    }
    assert!(import.wait().unwrap().success());
    assert!(counts.is_sorted(), "{counts:?}");
    assert!(counts.last() > counts.first(), "{counts:?}");
}

#[test]
fn the_doctor_names_problems_and_remedies() {
    let managed = filled(Managed::new());
    let checks = |output: &Output| -> Vec<Value> {
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["checks"].as_array().unwrap().clone()
    };
    let output = managed.output(&["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    for name in [
        "version",
        "programs",
        "clock",
        "disk",
        "catalog",
        "documents",
        "permissions",
    ] {
        assert!(
            checks(&output).iter().any(|check| check["check"] == name),
            "{name}"
        );
    }

    let mut document = None;
    for file in test_support::files_below(&managed.data().join("documents")) {
        let file = String::from_utf8(file).unwrap();
        if file.ends_with(".pdf") {
            document = Some(file);
        }
    }
    fs::remove_file(managed.data().join("documents").join(document.unwrap())).unwrap();
    fs::create_dir_all(managed.data().join("records/nobody")).unwrap();
    let output = managed.output(&["doctor", "--json"]);

    assert_eq!(output.status.code(), Some(3), "{}", stdout(&output));
    let checks = checks(&output);
    let of = |name: &str| checks.iter().find(|check| check["check"] == name).unwrap();
    assert_eq!(of("documents")["state"], "problem");
    assert!(
        of("documents")["remedy"]
            .as_str()
            .unwrap()
            .contains("garner verify")
    );
    assert_eq!(of("orphans")["state"], "warning");
    assert!(
        of("orphans")["message"]
            .as_str()
            .unwrap()
            .contains("nobody")
    );
}

#[test]
fn a_data_directory_that_belongs_to_somebody_else_is_named_as_such() {
    let managed = Managed::new();
    let data = managed.data();
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o000)).unwrap();
    // Root gets past modes unless it has no capabilities.
    let program = env!("CARGO_BIN_EXE_garner");
    let words = match rustix::process::geteuid().is_root() {
        true => &["setpriv", "--bounding-set", "-all", program][..],
        false => &[program],
    };
    let run = |arguments: &[&str]| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(arguments);
        command.arg("--data").arg(&data).output().unwrap()
    };

    for arguments in [&["records"][..], &["up", "--no-console"], &["worker"]] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let said = stderr(&output);
        assert!(
            said.contains("belongs to another user; run garner as that user"),
            "{said}"
        );
    }
    let doctor = run(&["doctor"]);
    assert_eq!(doctor.status.code(), Some(3));
    assert!(
        stdout(&doctor).contains("PROBLEM  catalog"),
        "{}",
        stdout(&doctor)
    );
    fs::set_permissions(&data, Permissions::from_mode(0o700)).unwrap();
}
