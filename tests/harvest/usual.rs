//! Everything the first time, then what changed; options, exit codes, files, lists of URLs.

use std::fs;

use test_support::{Fault, Fixture, Script, wait_until};

use super::{Harvester, at, no_arguments, repository};
use crate::garner;

#[test]
fn credentials_that_open_nothing_are_told_at_both_ends() {
    let fixture = Fixture::small();
    fixture.write_beside("passwords", "reader:{SHA}mzMEbtOdGC462vqQRa1nh9S7wyE=\n");
    let config = "[[area]]\npath = \"/docs\"\nhtpasswd = \"passwords\"\n";
    let server = garner().serve(&fixture, config);
    let base_url = server.url("modoai");

    for (password, is_wrong) in [("legacy", false), ("legcay", true)] {
        let secret = fixture.write_beside("secret", format!("reader:{password}\n"));
        let options = ["--credentials", secret.to_str().unwrap()];
        let harvested = Harvester::new().harvest(&base_url, &options);

        let told = "the repository did not ask for these credentials";
        let warnings = harvested.warnings();
        assert_eq!(warnings.contains(told), is_wrong, "{password}: {warnings}");
        assert_eq!(
            harvested.stderr.contains(told),
            is_wrong,
            "{}",
            harvested.stderr
        );
        let log = server.log();
        let is_told = log.contains("sends for the user `reader` opens nothing");
        assert_eq!(is_told, is_wrong, "{log}");
    }
}

#[test]
fn the_first_harvest_takes_everything_and_the_next_only_what_changed() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let base_url = server.url("modoai");
    let harvester = Harvester::new();

    let first = harvester.harvest(&base_url, &no_arguments());
    let all = server.all().len() as u64;
    assert_eq!(first.changes(), [all, 0, 0, 0]);
    assert_eq!(first.state(), "ok");
    harvester.expect_consistent();

    let noted = server
        .all()
        .into_iter()
        .find(|header| header.identifier.ends_with("notes.txt"));
    fixture.write("new.txt", "new");
    fixture.write("notes.txt", "changed");
    fs::remove_file(fixture.path("docs/paper.pdf")).unwrap();
    wait_until("the changes are seen", || {
        let (now, all) = (server.all(), all as usize);
        let deleted = now.iter().filter(|header| header.deleted);
        let notes = now
            .iter()
            .find(|header| header.identifier.ends_with("notes.txt"));
        now.len() == all + 1 && deleted.count() == 1 && notes != noted.as_ref()
    });
    let second = harvester.harvest(&base_url, &no_arguments());
    let [new, updated, _, deleted] = second.changes();
    assert_eq!([new, updated, deleted], [1, 1, 1], "{}", second.entry);
    harvester.expect_consistent();

    let third = harvester.harvest(&base_url, &no_arguments());
    let [new, updated, _, deleted] = third.changes();
    assert_eq!([new, updated, deleted], [0, 0, 0]);
}

#[test]
fn a_full_harvest_finds_what_is_unchanged() {
    let (repository, live) = repository(Script::new(50, 20));
    let harvester = Harvester::new();
    harvester.harvest(&repository.base_url(), &no_arguments());

    let again = harvester.harvest(&repository.base_url(), &["--full"]);

    assert_eq!(again.changes(), [0, 0, 50, 0]);
    assert_eq!(harvester.live(), live);
}

#[test]
fn a_full_harvest_finds_deletions_that_the_repository_does_not_tell() {
    let (forgetful, _) = repository(Script::new(50, 20).with(Fault::NoDeletions));
    let (remembering, _) = repository(Script::new(50, 20));
    for (repository, gone) in [(forgetful, 9), (remembering, 0)] {
        let harvester = Harvester::new();
        harvester.harvest(&repository.base_url(), &no_arguments());
        repository.change(|script| script.records = 40);

        harvester.harvest(&repository.base_url(), &no_arguments());
        assert_eq!(harvester.live().len(), 45);
        let full = harvester.harvest(&repository.base_url(), &["--full"]);
        assert_eq!(full.changes(), [0, 0, 40, gone]);
        assert_eq!(harvester.live().len() as u64, 45 - gone);
        harvester.expect_consistent();
    }
}

#[test]
fn a_list_that_is_cut_short_deletes_nothing() {
    let (repository, live) = repository(Script::new(50, 20).with(Fault::NoDeletions));
    let harvester = Harvester::new();
    harvester.harvest(&repository.base_url(), &no_arguments());
    repository.change(|script| script.faults.push(Fault::ShortLists(10)));

    let full = harvester.harvest(&repository.base_url(), &["--full"]);

    assert_eq!(full.changes(), [0, 0, 46, 0]);
    assert_eq!(harvester.live(), live);
    harvester.expect_consistent();
}

#[test]
fn files_lie_where_their_identifiers_say() {
    let (repository, _) = repository(Script::new(25, 10));
    let harvester = Harvester::new();

    harvester.harvest(&repository.base_url(), &["--files-per-directory", "10"]);

    let files = harvester.record_files();
    assert!(
        files
            .iter()
            .any(|file| file.ends_with("oai_dc/misbehaving.example/1.xml")),
        "{files:#?}"
    );
    let further = files
        .iter()
        .filter(|file| file.contains("/misbehaving.example/starting_at_"));
    assert_eq!(further.count(), 23 - 10, "{files:#?}");
    harvester.expect_consistent();
}

#[test]
fn the_files_of_deleted_records_are_removed_or_kept_and_marked() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let base_url = server.url("modoai");
    let (removing, keeping) = (Harvester::new(), Harvester::new());
    removing.harvest(&base_url, &no_arguments());
    keeping.harvest(&base_url, &["--deleted", "keep"]);

    fs::remove_file(fixture.path("notes.txt")).unwrap();
    wait_until("the deletion is seen", || {
        server.all().iter().any(|header| header.deleted)
    });
    removing.harvest(&base_url, &no_arguments());
    keeping.harvest(&base_url, &["--deleted", "keep"]);

    let of = |harvester: &Harvester| {
        let files = harvester.record_files().into_iter();
        files
            .filter(|file| file.contains("notes.txt"))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&removing), [""; 0]);
    assert!(
        of(&keeping)[0].ends_with("notes.txt.xml.deleted"),
        "{:?}",
        of(&keeping)
    );
    assert!(
        removing
            .garner(&["records", "--deleted"])
            .contains("notes.txt")
    );
}

#[test]
fn exit_codes_tell_whether_all_was_harvested() {
    let harvester = Harvester::new();
    let (good, _) = repository(Script::new(5, 10));
    let (broken, _) = repository(Script::new(5, 10).with(Fault::MismatchedTags(2)));

    assert_eq!(harvester.run(&good.base_url(), &no_arguments()).code, 0);

    let incomplete = harvester.run(&broken.base_url(), &no_arguments());
    assert_eq!((incomplete.code, incomplete.state()), (3, "incomplete"));
    assert!(
        incomplete.warnings().contains(&Script::identifier(2)),
        "{}",
        incomplete.entry
    );

    let failed = harvester.run(&good.base_url(), &["--prefix", "marc21"]);
    assert_eq!((failed.code, failed.state()), (1, "failed"));
    assert!(
        failed.stderr.contains("unknown metadata prefix `marc21`"),
        "{}",
        failed.stderr
    );
    assert!(failed.stderr.contains("oai_dc"), "{}", failed.stderr);

    let nowhere = harvester.run("http://127.0.0.1:1/oai", &["--attempts", "1"]);
    assert_eq!(nowhere.code, 1);
    assert!(
        nowhere.stderr.contains("cannot be reached"),
        "{}",
        nowhere.stderr
    );
    assert_eq!(harvester.run("ftp://example.org/", &no_arguments()).code, 2);
}

#[test]
fn dates_and_sets_choose_records_and_do_not_spoil_later_harvests() {
    let (repository, live) = repository(Script::new(60, 20));
    let base_url = repository.base_url();
    let harvester = Harvester::new();

    let part = harvester.harvest(
        &base_url,
        &[
            "--from",
            "2020-01-01T00:10:00Z",
            "--until",
            "2020-01-01T00:19:00Z",
        ],
    );
    assert_eq!(part.changes(), [9, 0, 0, 1]);
    let rest = harvester.harvest(&base_url, &no_arguments());
    assert_eq!(
        rest.changes(),
        [45, 0, 10, 5],
        "all is asked for, because only a part was had"
    );

    assert_eq!(harvester.live(), live);
    let wrong = harvester.run(&base_url, &["--from", "yesterday"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("YYYY-MM-DD"), "{}", wrong.stderr);
}

#[test]
fn both_methods_give_the_same() {
    let (repository, live) = repository(Script::new(45, 20));
    let harvester = Harvester::new();

    let harvested = harvester.harvest(&repository.base_url(), &["--method", "ListIdentifiers"]);

    assert_eq!(harvested.changes(), [41, 0, 0, 4]);
    assert_eq!(harvester.live(), live);
    harvester.expect_consistent();
}

#[test]
fn several_formats_and_sets_are_several_harvests() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let harvester = Harvester::new();

    let output = harvester
        .command(
            &server.url("modoai"),
            &[
                "--prefix",
                "oai_dc",
                "--prefix",
                "http_header",
                "--set",
                "mime:text",
                "--set",
                "mime:image",
                "--urls",
                "urls.txt",
            ],
        )
        .output()
        .unwrap();

    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 4);
    let urls = fs::read_to_string(harvester.path("urls.txt")).unwrap();
    assert_eq!(urls.lines().count(), 2 * 5, "{urls}");
    let history = harvester.garner(&["history", "--json"]);
    assert_eq!(history.lines().count(), 4);
    harvester.expect_consistent();
}

#[test]
fn slices_side_by_side_give_the_same_as_one_list() {
    for slices in ["2", "7", "1000"] {
        let (repository, live) = repository(Script::new(300, 20));
        let harvester = Harvester::new();

        let harvested = harvester.harvest(
            &repository.base_url(),
            &["--slices", slices, "--connections", "3"],
        );

        assert_eq!(harvested.changes(), [270, 0, 0, 30], "{slices}");
        assert_eq!(harvester.live(), live);
        let next = harvested.entry["next_from"].as_str();
        assert_eq!(next, Some("2021-02-04T00:00:00Z"));
        harvester.expect_consistent();
    }
}

#[test]
fn urls_that_are_new_or_changed_are_listed() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let base_url = server.url("modoai");
    let harvester = Harvester::new();
    let list = harvester.path("seeds.txt");

    harvester.harvest(&base_url, &["--urls", at(&list)]);
    let all = fs::read_to_string(&list).unwrap();
    assert_eq!(all.lines().count(), server.all().len());

    fixture.write("notes.txt", "changed");
    wait_until("the change is seen", || {
        harvester.harvest(&base_url, &["--urls", at(&list)]);
        !fs::read_to_string(&list).unwrap().is_empty()
    });
    assert_eq!(
        fs::read_to_string(&list).unwrap(),
        format!("{}\n", server.url("notes.txt"))
    );
}

#[test]
fn urls_of_other_repositories_come_from_their_records() {
    let (repository, live) = repository(Script::new(10, 10));
    let harvester = Harvester::new();
    let list = harvester.path("seeds.txt");

    harvester.harvest(&repository.base_url(), &["--urls", at(&list)]);

    let urls = fs::read_to_string(&list).unwrap();
    assert_eq!(urls.lines().count(), live.len(), "{urls}");
    assert!(urls.lines().all(|url| url.starts_with("http")), "{urls}");
}

#[test]
fn the_catalog_can_be_a_postgresql_database() {
    let database = test_support::Postgres::shared().database();
    let (repository, live) = repository(Script::new(50, 20));
    let harvester = Harvester::new();

    let first = harvester.harvest(&repository.base_url(), &["--catalog", &database]);
    let again = harvester.harvest(&repository.base_url(), &["--full", "--catalog", &database]);

    assert_eq!(first.changes(), [45, 0, 0, 5]);
    assert_eq!(again.changes(), [0, 0, 50, 0]);
    assert_eq!(harvester.record_files().len(), live.len());
    assert!(!harvester.path("data/catalog.sqlite").exists());
}

#[test]
fn places_and_options_that_cannot_be_are_refused() {
    let harvester = Harvester::new();
    for (code, arguments, reason) in [
        (
            2,
            &["--unpack", "http://a.example/"][..],
            "is a URL where a file or directory is due",
        ),
        (
            2,
            &["--schema", "a.xsd"],
            "--schema is for --validation very-strict",
        ),
        (2, &["--urls"], "cannot both write to stdout"),
        (2, &["--from", "2024-13-01"], "write YYYY-MM-DD"),
        (2, &["--set", ""], "--set"),
        (1, &["--urls", "missing/seeds.txt"], "`missing/seeds.txt`"),
        (1, &["--urls", "."], "`.`"),
        (1, &["--filter", "missing.xml"], "missing.xml"),
        (1, &["--catalog", "/proc/nothing/catalog"], "/proc/nothing"),
        (
            1,
            &["--base-directory", "/proc/nothing"],
            "cannot be reached",
        ),
    ] {
        let refused = harvester.run("http://127.0.0.1:1/oai", arguments);
        assert_eq!(refused.code, code, "{arguments:?}: {}", refused.stderr);
        assert!(
            refused.stderr.contains(reason),
            "{arguments:?}: {}",
            refused.stderr
        );
    }
}

#[test]
fn a_request_that_was_copied_from_a_browser_is_told_from_a_base_url() {
    let harvester = Harvester::new();
    let refused = harvester.run("http://127.0.0.1:1/oai?verb=Identify", &no_arguments());
    assert_eq!(refused.code, 2);
    assert!(!harvester.path("data").exists());
    assert!(
        refused.stderr.contains("try http://127.0.0.1:1/oai\n"),
        "{}",
        refused.stderr
    );
}

#[test]
fn what_is_asked_for_twice_is_harvested_once() {
    let (repository, _) = repository(Script::new(10, 10));
    let harvester = Harvester::new();
    harvester.harvest(
        &repository.base_url(),
        &["--prefix", "oai_dc", "--prefix", "oai_dc"],
    );
    assert_eq!(harvester.garner(&["history", "--json"]).lines().count(), 1);
}

#[test]
fn a_base_directory_belongs_to_one_repository() {
    let (first, _) = repository(Script::new(3, 3));
    let (second, _) = repository(Script::new(3, 3));
    let harvester = Harvester::new();
    harvester.harvest(&first.base_url(), &["--base-directory", "first"]);

    for (base_url, directory, reason) in [
        (second.base_url(), "first", "would be mixed with the files"),
        (second.base_url(), "first/oai_dc", "would be mixed"),
        (second.base_url(), ".", "would be mixed"),
        (first.base_url(), "other", "lie in"),
    ] {
        let refused = harvester.run(&base_url, &["--base-directory", directory]);
        assert_eq!(refused.code, 1, "{directory}");
        assert!(refused.stderr.contains(reason), "{}", refused.stderr);
    }
    assert!(
        harvester
            .path("first/oai_dc/misbehaving.example/1.xml")
            .exists()
    );
    harvester.harvest(&first.base_url(), &["--base-directory", "first"]);
}
