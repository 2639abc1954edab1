//! Repositories added, listed, shown and removed, on both databases.

use std::fs;

use catalog::{AuditQuery, Identity, NewRun};
use flows::Holdings;
use serde_json::Value;
use test_support::{Fault, Fixture, Misbehaving, Postgres, Script, files_below};

use crate::command_line::{fails, prints, stderr, stdout};
use crate::garner;
use crate::harvested::Harvested;

#[test]
fn a_repository_introduces_itself() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let data = fixture.beside("holdings");
    let run = |arguments: &[&str]| {
        let command = garner().arg("repository").args(arguments);
        prints(command.arg("--data").arg(&data).output())
    };

    let added = run(&["add", &server.base_url]);
    let shown = run(&["show", &server.base_url]);
    let listed = run(&["list"]);

    assert!(
        added.starts_with(&format!("repository 1: {}\n", server.base_url)),
        "{added}"
    );
    for line in [
        "name          site",
        "protocol      2.0",
        "e-mail        admin@example.org",
        "deletions     persistent",
        "granularity   YYYY-MM-DDThh:mm:ssZ",
        "formats       oai_dc, http_header, oai_didl",
        "sets          8",
        "  mime:text:html        text/html",
    ] {
        assert!(added.lines().any(|said| said == line), "{line}\n{added}");
    }
    assert_eq!(added, shown);
    assert_eq!(added, run(&["show", "1"]));
    assert_eq!(
        listed,
        format!("1\tsite\tnever\t0\t\t\t{}\t\n", server.base_url)
    );
}

#[test]
fn the_same_is_told_in_json() {
    let held = Harvested::new(Script::new(30, 10));
    let run = |arguments: &[&str]| -> Value {
        let text = prints(held.garner(arguments).arg("--json").output());
        assert_eq!(text.lines().count(), 1);
        serde_json::from_str(&text).unwrap()
    };

    let listed = run(&["repository", "list"]);
    let shown = run(&["repository", "show", "1"]);
    let added = run(&["repository", "add", &held.base_url()]);

    assert_eq!(listed["base_url"], held.base_url());
    assert_eq!(listed["records"], 27);
    assert_eq!(listed["deleted"], 3);
    assert_eq!(listed["last_harvest"]["id"], 1);
    assert_eq!(shown, listed);
    assert_eq!(added["id"], 1);
    let lines = |arguments: &[&str]| -> Vec<Value> {
        let text = prints(held.garner(arguments).arg("--json").output());
        let lines = text.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().unwrap()
    };
    let formats = lines(&["repository", "formats", "1"]);
    assert_eq!(formats[0]["metadata_prefix"], "oai_dc");
    assert_eq!(formats[0]["records"], 27);
    assert_eq!(formats[0]["deleted"], 3);
    let sets = lines(&["repository", "sets", "1"]);
    assert_eq!(sets.len(), 3);
    assert_eq!(
        lines(&["repository", "sets", "1", "--text", "nothing"]).len(),
        0
    );
}

#[test]
fn the_last_harvests_are_shown() {
    let held = Harvested::new(Script::new(30, 10));
    for _ in 0..5 {
        held.harvest(&held.base_url(), &[]);
    }

    let shown = prints(held.garner(&["repository", "show", "1"]).output());

    assert!(
        shown.contains("\nrecords       27 in oai_dc, 3 more deleted\n"),
        "{shown}"
    );
    assert!(shown.contains("\nthe last 5 of 6 harvests\n"), "{shown}");
    assert!(
        shown
            .trim_end()
            .ends_with(&format!("{} oai_dc", held.base_url())),
        "{shown}"
    );
}

#[test]
fn removing_a_repository_says_what_goes_and_keeps_its_files() {
    let held = Harvested::new(Script::new(30, 10));

    let said = prints(held.garner(&["repository", "remove", "1"]).output());

    assert_eq!(
        held.blanked(&said),
        "removed repository 1, BASE_URL: 27 records, 3 deleted ones, 3 sets, 1 harvests\n\
         its files stay in DATA/records/127.0.0.1_PORT_oai\n"
    );
    assert_eq!(files_below(&held.data().join("records")).len(), 27);
    assert_eq!(stdout(&held.garner(&["repository", "list"]).output()), "");
    assert_eq!(stdout(&held.garner(&["records"]).output()), "");
}

#[test]
fn its_files_go_if_asked_and_nothing_else() {
    let held = Harvested::new(Script::new(30, 10));
    let other = Misbehaving::start(Script::new(3, 3));
    held.harvest(&other.base_url(), &[]);
    let base = held.holdings().repository("1").unwrap().base_directory;
    let own = held.data().join(base).join("mine.txt");
    fs::write(&own, "a note").unwrap();

    let output = held.garner(&["repository", "remove", &held.base_url(), "--files"]);
    let said = prints(output.arg("--json").output());

    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["files"], 27);
    assert_eq!(said["records"], 27);
    assert!(own.exists());
    let left = files_below(&held.data().join("records"));
    assert_eq!(left.len(), 1 + 3, "{left:?}");
}

#[test]
fn files_outside_of_the_data_directory_are_never_removed() {
    let held = Harvested::new(Script::new(3, 3));
    let outside = held.beside("outside");
    for directory in [outside.to_str().unwrap(), "data/../outside"] {
        let other = Misbehaving::start(Script::new(3, 3));
        held.harvest(&other.base_url(), &["--base-directory", directory]);
        let count = || {
            let files = files_below(held.data().parent().unwrap());
            files.iter().filter(|file| file.ends_with(b".xml")).count()
        };
        let before = count();

        let output = held.garner(&["repository", "remove", &other.base_url(), "--files"]);
        let said = fails(&output.output());

        assert!(
            said.contains("not in a directory of their own below"),
            "{said}"
        );
        assert_eq!(count(), before);
        prints(
            held.garner(&["repository", "show", &other.base_url()])
                .output(),
        );
        prints(
            held.garner(&["repository", "remove", &other.base_url()])
                .output(),
        );
    }
}

#[test]
fn a_repository_that_is_being_harvested_is_not_removed() {
    let held = Harvested::new(Script::new(3, 3));
    let holdings = held.holdings();
    let run = holdings
        .wait(holdings.catalog().begin(&NewRun::new(1, "oai_dc")))
        .unwrap();

    let said = fails(
        &held
            .garner(&["repository", "remove", "1", "--files"])
            .output(),
    );

    assert!(said.contains("is being harvested by"), "{said}");
    assert_eq!(files_below(&held.data().join("records")).len(), 3);
    drop(run);
}

#[test]
fn a_base_directory_belongs_to_one_repository() {
    let held = Harvested::new(Script::new(3, 3));
    let other = Misbehaving::start(Script::new(3, 3)).base_url();
    let base = held.holdings().repository("1").unwrap().base_directory;
    let add = |url: &str, directory: &str| {
        let command = held.garner(&["repository", "add", url, "--base-directory", directory]);
        command.current_dir(&held.data()).output()
    };

    let third = Misbehaving::start(Script::new(3, 3));
    for (url, directory, said) in [
        (
            third.base_url(),
            base.as_str(),
            "would be mixed with the files of repository 1",
        ),
        (third.base_url(), "records/./", "would be mixed"),
        (third.base_url(), "../data/x/..", "would be mixed"),
        (held.base_url(), "elsewhere", "leave out --base-directory"),
        (other, "gone", "cannot be reached"),
    ] {
        let line = fails(&add(&url, directory));
        assert!(line.contains(said), "{line}");
    }
    prints(add(&held.base_url(), &base));
    let added = prints(add(&third.base_url(), "papers"));
    let place = held.data().join("papers");
    assert!(
        added.contains(&format!("\nfiles         {}\n", place.display())),
        "{added}"
    );
    prints(
        held.garner(&["repository", "remove", &third.base_url(), "--files"])
            .output(),
    );
}

#[test]
fn what_is_no_repository_is_not_added() {
    let fixture = Fixture::small();
    fixture.write(
        "page.html",
        "<!DOCTYPE html><html><title>Not here</title></html>",
    );
    let server = garner().serve(&fixture, "");
    let page = server.url("page.html");
    let missing = server.url("nothing/here");
    for (url, said) in [
        (page.as_str(), "There is a web page at this address"),
        (
            missing.as_str(),
            "There is nothing at this address (the server says 404)",
        ),
        ("http://127.0.0.1:1/oai", "cannot be reached"),
        ("ftp://repository.example/", "is not a base URL"),
        ("repository", "is not a base URL"),
    ] {
        let data = fixture.beside("holdings");
        let output = garner().args(["repository", "add", url, "--attempts", "1"]);
        let line = fails(&output.arg("--data").arg(&data).output());

        assert!(line.contains(said), "{line}");
        assert!(!data.exists());
    }
}

#[test]
fn a_base_url_is_corrected_and_every_change_is_audited() {
    let held = Harvested::new(Script::new(3, 3));
    let moved = Misbehaving::start(Script::new(3, 3));
    let other = Misbehaving::start(Script::new(3, 3));
    prints(
        held.garner(&["repository", "add", &other.base_url()])
            .output(),
    );
    let edit = |url: &str| held.garner(&["repository", "edit", "1", "--base-url", url]);

    let refused = fails(&edit(&other.base_url()).output());
    let edited = prints(edit(&moved.base_url()).output());
    let refreshed = prints(held.garner(&["repository", "refresh", "1"]).output());
    prints(held.garner(&["repository", "remove", "2"]).output());

    assert!(refused.contains("answers there already"), "{refused}");
    let first = format!("repository 1: {}\n", moved.base_url());
    assert!(edited.starts_with(&first), "{edited}");
    assert!(refreshed.starts_with(&first), "{refreshed}");
    assert!(edited.contains("records       3 in oai_dc"), "{edited}");
    let holdings = held.holdings();
    let trail = holdings.wait(holdings.catalog().audit_trail(&AuditQuery::default()));
    let trail: Vec<_> = trail.unwrap().into_iter().map(|row| row.entry).collect();
    let actions: Vec<_> = trail.iter().map(|entry| entry.action.as_str()).collect();
    let expected = ["remove", "identify", "change", "add"].map(|it| format!("repository.{it}"));
    assert_eq!(actions, expected);
    assert!(trail[0].account.starts_with("(command line: "), "{trail:?}");
}

#[test]
fn a_repository_without_sets_has_none() {
    let fixture = Fixture::empty();
    let repository = Misbehaving::start(Script::new(3, 3).with(Fault::NoSets));
    let output = garner().args(["repository", "add", &repository.base_url()]);

    let added = prints(output.arg("--data").arg(fixture.data()).output());

    assert!(added.contains("\nsets          none\n"), "{added}");
}

#[test]
fn credentials_and_the_contact_reach_the_repository_and_nobody_else() {
    let fixture = Fixture::empty();
    let repository = Misbehaving::start(Script::new(3, 3));
    let secret = fixture.write_beside("secret", "reader:lamp post\n");
    let add = |url: &str, options: &[&str]| {
        let command = garner().args(["repository", "add", url]).args(options);
        prints(command.arg("--data").arg(fixture.data()).output())
    };

    let options = [
        "--credentials",
        secret.to_str().unwrap(),
        "--contact",
        "me@example.org",
    ];
    let added = add(&repository.base_url(), &options);

    let heads = repository.heads();
    for head in &heads {
        let head = head.to_ascii_lowercase();
        assert!(
            head.contains("authorization: basic cmvhzgvyomxhbxagcg9zda==\r\n"),
            "{head}"
        );
        assert!(head.contains("from: me@example.org\r\n"), "{head}");
    }
    let url = repository
        .base_url()
        .replace("http://", "http://reader:lamp%20post@");
    let again = add(&url, &[]);
    assert_eq!(again.lines().next(), added.lines().next());
    let last = repository.heads().pop().unwrap().to_ascii_lowercase();
    assert!(
        last.contains("authorization: basic cmvhzgvyomxhbxagcg9zda==\r\n"),
        "{last}"
    );
}

#[test]
fn what_is_not_there_is_said_in_a_line_and_not_made() {
    let fixture = Fixture::empty();
    let data = fixture.beside("nothing");
    let data = data.to_str().unwrap();
    let held = Harvested::new(Script::new(3, 3));
    let held = held.data();
    let held = held.to_str().unwrap();
    for (arguments, said) in [
        (
            &["repository", "list", "--data", data][..],
            "there is no catalog in",
        ),
        (
            &["repository", "remove", "1", "--data", data],
            "there is no catalog in",
        ),
        (&["records", "--data", data], "there is no catalog in"),
        (&["history", "--data", data], "there is no catalog in"),
        (
            &["history", "--catalog", data, "--data", held],
            "there is no catalog `",
        ),
        (
            &["repository", "show", "7", "--data", held],
            "the repository `7` is not known",
        ),
        (
            &["repository", "remove", "http://a.example/", "--data", held],
            "is not known",
        ),
        (
            &["records", "--repository", "x\u{9b}y", "--data", held],
            "`x\u{fffd}y` is not known",
        ),
        (
            &["history", "--repository", "-", "--data", held],
            "is not known",
        ),
        (&["history", "7", "--data", held], "there is no harvest 7"),
    ] {
        let line = fails(&garner().args(arguments).output());

        assert!(line.contains(said), "{arguments:?}: {line}");
        assert!(!fixture.beside("nothing").exists());
    }
}

#[test]
fn names_from_outside_cannot_steer_the_terminal() {
    let fixture = Fixture::empty();
    let holdings = Holdings::create(&fixture.data(), None).unwrap();
    let evil = "\u{1b}]0;owned\u{7}\u{9b}2J\r\nx".to_owned();
    let identity = Identity {
        name: Some(evil.clone()),
        protocol_version: Some(evil.clone()),
        admin_emails: vec![evil.clone()],
        deleted_record: Some(evil.clone()),
        ..Identity::default()
    };
    let catalog = holdings.catalog();
    holdings
        .wait(catalog.add_repository("http://a.example/", "a", &identity))
        .unwrap();
    let sets = [(evil.clone(), Some(evil.clone()))];
    holdings.wait(catalog.replace_sets(1, &sets)).unwrap();

    for arguments in [
        &["repository", "list"][..],
        &["repository", "show", "1"],
        &["repository", "list", "--json"],
        &["repository", "show", "1", "--json"],
    ] {
        let command = garner().args(arguments).arg("--data").arg(fixture.data());
        let text = prints(command.output());

        let mut controls = text
            .chars()
            .filter(|c| c.is_control() && !"\t\n".contains(*c));
        assert_eq!(controls.next(), None, "{text:?}");
        assert!(text.contains("owned"), "{text}");
    }
}

#[test]
fn a_catalog_on_postgresql_does_the_same() {
    let fixture = Fixture::empty();
    let database = Postgres::shared().database();
    let repository = Misbehaving::start(Script::new(3, 3));
    let run = |arguments: &[&str]| {
        let command = garner().arg("repository").args(arguments);
        let command = command.args(["--catalog", &database, "--data"]);
        command.arg(fixture.data()).output()
    };

    let added = prints(run(&["add", &repository.base_url()]));
    let listed = prints(run(&["list"]));
    let shown = prints(run(&["show", "1"]));
    let removed = prints(run(&["remove", "1", "--files"]));
    let empty = run(&["list"]);

    assert_eq!(added, shown);
    assert!(listed.contains(&repository.base_url()), "{listed}");
    assert!(removed.starts_with("removed repository 1, "), "{removed}");
    assert_eq!(stdout(&empty), "");
    assert!(stderr(&empty).starts_with("no repository is known"));
    assert!(!fixture.data().join("catalog.sqlite").exists());
}

#[test]
fn a_repository_is_found_without_its_scheme_and_from_its_home_page() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let authority = server.authority().to_owned();
    let site = server.site_url.clone();

    for address in [
        format!("{authority}/modoai"),
        format!("{}?verb=Identify", server.base_url),
        site,
        authority.clone(),
    ] {
        let inspected = garner().args(["repository", "inspect", &address, "--json"]);
        let inspected = prints(inspected.output());
        let inspected: Value = serde_json::from_str(&inspected).unwrap();
        assert_eq!(inspected["base_url"], server.base_url, "{address}");
        assert_eq!(inspected["is_guessed"], true, "{address}");
        assert_eq!(inspected["sets"].as_array().unwrap().len(), 8);
    }
    let text = prints(
        garner()
            .args(["repository", "inspect", &server.base_url])
            .output(),
    );
    assert!(
        text.contains("formats       oai_dc, http_header, oai_didl\n"),
        "{text}"
    );
    assert!(
        text.contains("  mime:text:html        text/html\n"),
        "{text}"
    );
}

#[test]
fn all_good_lines_of_a_list_are_added_and_the_bad_ones_are_named() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let other = Misbehaving::start(Script::new(3, 10));
    let nobody = format!("http://127.0.0.1:{}/oai", test_support::free_port());
    let list = fixture.write_beside(
        "list.txt",
        format!(
            "# a list\n\n{}\trubbish behind it\nthis is no address\n{nobody}\n{}?verb=Identify\n\u{1b}[2J\u{202e}\n{}\n",
            server.base_url,
            server.base_url,
            other.base_url()
        ),
    );
    let data = fixture.beside("data");
    let add = || {
        garner()
            .args(["repository", "add", "--from-file"])
            .arg(&list)
            .args(["--attempts", "1", "--data"])
            .arg(&data)
            .output()
    };

    let first = add();
    let again = add();

    assert_eq!(first.status.code(), Some(3), "{}", stderr(&first));
    let mut added: Vec<_> = stdout(&first)
        .lines()
        .map(|line| line.split('\t').nth(1).unwrap().to_owned())
        .collect();
    added.sort();
    let mut expected = [server.base_url.clone(), other.base_url()];
    expected.sort();
    assert_eq!(added, expected);
    let told = stderr(&first);
    for line in [
        "line 4: `this is no address` is no address",
        &format!("line 5: {nobody}: It cannot be reached"),
        "line 6: it is the same as line 3",
        "line 7: `\u{fffd}[2J\u{fffd}` is no address",
        "2 added, 0 were known and are refreshed, 4 lines could not be added",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    assert!(
        stderr(&again).contains("0 added, 2 were known and are refreshed"),
        "{}",
        stderr(&again)
    );
}

#[test]
fn well_known_repositories_are_a_list_that_add_takes() {
    let all = prints(garner().args(["repository", "well-known"]).output());
    let germany = prints(
        garner()
            .args(["repository", "well-known", "Germany", "--json"])
            .output(),
    );

    assert!(all.lines().count() >= 50);
    assert!(
        all.lines()
            .all(|line| line.starts_with("http") && line.split('\t').count() == 3)
    );
    for line in germany.lines() {
        let known: Value = serde_json::from_str(line).unwrap();
        assert_eq!(known["country"], "Germany");
    }
}
