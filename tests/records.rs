//! Records that are held, and those of a repository as they come.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use catalog::{NewRun, PageCommit, RecordRow, Validation};
use serde_json::{Value, json};
use test_support::{Fault, Fixture, Misbehaving, Script};

use crate::command_line::{fails, prints, stderr, stdout};
use crate::garner;
use crate::harvested::Harvested;

#[test]
fn a_line_has_datestamp_status_identifier_and_file() {
    let held = Harvested::new(Script::new(11, 10));

    let text = prints(held.garner(&["records"]).output());

    let lines: Vec<Vec<_>> = text
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(lines.len(), 11);
    assert_eq!(
        lines[9],
        [
            "2020-01-01T00:09:00Z",
            "deleted",
            "oai:misbehaving.example:9",
            "-"
        ]
    );
    let [datestamp, status, identifier, file] = lines[1][..] else {
        panic!("{text}");
    };
    assert_eq!(
        [datestamp, status, identifier],
        ["2020-01-01T00:01:00Z", "live", "oai:misbehaving.example:1"]
    );
    let xml = std::fs::read_to_string(file).unwrap();
    assert!(
        xml.contains("<identifier>oai:misbehaving.example:1</identifier>"),
        "{xml}"
    );
}

#[test]
fn files_are_paths_that_can_be_piped() {
    let held = Harvested::new(Script::new(11, 10));
    let directory = held.data();
    let (parent, name) = (directory.parent().unwrap(), directory.file_name().unwrap());

    let command = garner().args(["records", "--files", "--data"]).arg(name);
    let text = prints(command.current_dir(parent).output());

    assert_eq!(text.lines().count(), 10);
    for path in text.lines() {
        assert!(Path::new(path).is_relative(), "{path}");
        assert!(parent.join(path).is_file(), "{path}");
    }
}

#[test]
fn json_tells_all_that_is_known_of_a_record() {
    let held = Harvested::new(Script::new(2, 10));

    let text = prints(held.garner(&["records", "--limit", "1", "--json"]).output());

    let mut record: Value = serde_json::from_str(&text).unwrap();
    let path = record["path"].clone();
    for name in ["sha256", "harvested", "path"] {
        assert!(record[name].as_str().unwrap().len() > 19, "{text}");
        record[name] = json!("");
    }
    let expected = json!({
        "id": 1,
        "repository": 1,
        "base_url": held.base_url(),
        "metadata_prefix": "oai_dc",
        "identifier": "oai:misbehaving.example:0",
        "datestamp": "2020-01-01T00:00:00Z",
        "deleted": false,
        "set_specs": ["even"],
        "title": null,
        "file": record["file"],
        "path": "",
        "sha256": "",
        "harvested": "",
        "validation": "ok",
        "changed_by": 1,
        "seen_by": 1,
    });
    let (file, path) = (record["file"].as_str(), path.as_str());
    assert!(path.unwrap().ends_with(file.unwrap()), "{text}");
    assert_eq!(record, expected);
}

#[test]
fn records_are_chosen_by_what_is_asked_for() {
    let held = Harvested::new(Script::new(30, 10));
    let other = Misbehaving::start(Script::new(5, 5));
    held.harvest(&other.base_url(), &[]);
    let count = |arguments: &[&str]| {
        let text = prints(held.garner(&["records"]).args(arguments).output());
        text.lines().count()
    };

    assert_eq!(count(&[]), 35);
    assert_eq!(count(&["--repository", "1"]), 30);
    assert_eq!(count(&["--repository", &other.base_url()]), 5);
    assert_eq!(count(&["--deleted"]), 3);
    assert_eq!(count(&["--live", "--repository", "2"]), 5);
    assert_eq!(count(&["--prefix", "oai_dc"]), 35);
    assert_eq!(count(&["--prefix", "marc21"]), 0);
    assert_eq!(count(&["--set", "odd"]), 17);
    assert_eq!(count(&["--set", "no-such-set"]), 0);
    assert_eq!(count(&["--since", "2020-01-01T00:20:00Z"]), 10);
    assert_eq!(count(&["--since", "2020-01-02"]), 0);
    assert_eq!(count(&["--limit", "0"]), 0);
    assert_eq!(count(&["--limit", "7"]), 7);
    assert_eq!(count(&["--limit", "18446744073709551615"]), 35);
}

#[test]
fn long_lists_have_each_record_once() {
    let held = Harvested::new(Script::new(1_203, 400));

    let text = prints(held.garner(&["records"]).output());
    let some = prints(held.garner(&["records", "--limit", "1001"]).output());

    let names: BTreeSet<_> = text
        .lines()
        .map(|line| line.split('\t').nth(2).unwrap())
        .collect();
    assert_eq!(text.lines().count(), 1_203);
    assert_eq!(names.len(), 1_203);
    assert_eq!(some.lines().count(), 1_001);
}

#[test]
fn the_records_of_a_repository_come_as_it_has_them() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "[pages]\nrecords = 2\nidentifiers = 4\n");
    let stream = |options: &[&str]| {
        let command = garner().current_dir(&fixture.site());
        let command = command.args(["records", "--from-url", &server.base_url]);
        prints(command.args(options).output())
    };
    let expected: Vec<_> = server
        .all()
        .iter()
        .map(|header| format!("{}\tlive\t{}", header.datestamp, header.identifier))
        .collect();

    let records = stream(&[]);
    let headers = stream(&["--verb", "ListIdentifiers"]);
    let json = stream(&["--json", "--set", "mime:application:pdf"]);

    assert_eq!(records.lines().collect::<Vec<_>>(), expected);
    assert_eq!(headers, records);
    let json: Value = serde_json::from_str(&json).unwrap();
    let identifier = server.url("docs/paper.pdf");
    let datestamp = expected.iter().find(|line| line.ends_with(&identifier));
    let datestamp = datestamp.unwrap().split('\t').next().unwrap();
    let whole = json!({
        "identifier": identifier, "datestamp": datestamp, "deleted": false,
        "set_specs": ["mime:application:pdf"],
    });
    assert_eq!(json, whole);
    assert!(!fixture.path("garner-data").exists());
}

#[test]
fn xml_is_one_document_with_all_records() {
    let repository = Misbehaving::start(Script::new(25, 10));
    let stream = |options: &[&str]| {
        let command = garner().args(["records", "--xml", "--from-url", &repository.base_url()]);
        prints(command.args(options).output())
    };

    for (options, count) in [
        (&[][..], 25),
        (&["--live"], 23),
        (&["--deleted"], 2),
        (&["--limit", "12"], 12),
        (&["--from", "2030-01-01"], 0),
    ] {
        let text = stream(options);

        let document = roxmltree::Document::parse(&text).unwrap();
        let root = document.root_element();
        assert_eq!(root.tag_name().name(), "records");
        let records = root.children().filter(roxmltree::Node::is_element);
        let records: Vec<_> = records.map(|record| record.tag_name()).collect();
        assert_eq!(records.len(), count, "{options:?}");
        let oai = "http://www.openarchives.org/OAI/2.0/";
        assert!(
            records.iter().all(|name| *name == (oai, "record").into()),
            "{text}"
        );
    }
}

#[test]
fn dates_choose_records_whatever_the_granularity_is() {
    let seconds = Misbehaving::start(Script::new(30, 10));
    let days = Misbehaving::start(Script::new(30, 10).by_days(10));
    for verb in ["ListRecords", "ListIdentifiers"] {
        let count = |repository: &Misbehaving, options: &[&str]| {
            let command = garner().args(["records", "--from-url", &repository.base_url()]);
            let output = command.args(["--verb", verb]).args(options).output();
            prints(output).lines().count()
        };

        assert_eq!(count(&seconds, &["--from", "2020-01-01T00:20:00Z"]), 10);
        assert_eq!(count(&seconds, &["--until", "2020-01-01T00:20:00Z"]), 21);
        assert_eq!(count(&seconds, &["--until", "2020-01-01"]), 30);
        assert_eq!(
            count(&seconds, &["--from", "2020-01-01", "--until", "2020-01-01"]),
            30
        );
        assert_eq!(count(&days, &["--from", "2020-01-02"]), 20);
        assert_eq!(count(&days, &["--from", "2020-01-02T00:00:00Z"]), 20);
        assert_eq!(
            count(&days, &["--from", "2020-01-02", "--until", "2020-01-02"]),
            10
        );
        assert_eq!(count(&days, &["--from", "2020-01-05"]), 0);
    }
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_there() {
    let script = Script::new(30, 10).with(Fault::MismatchedTags(7));
    let repository = Misbehaving::start(script.with(Fault::IllegalCharacter(12)));

    let command = garner().args(["records", "--from-url", &repository.base_url()]);
    let output = command.output();

    assert_eq!(output.status.code(), Some(3));
    let names: BTreeSet<_> = stdout(&output)
        .lines()
        .map(|line| line.split('\t').nth(2).unwrap().to_owned())
        .collect();
    assert_eq!(names.len(), 28);
    let said = stderr(&output);
    let said: Vec<_> = said.lines().collect();
    assert_eq!(said.len(), 2, "{said:?}");
    for (line, number) in said.iter().zip([7, 12]) {
        let start = format!(
            "garner: skipped: the record `{}`: ",
            Script::identifier(number)
        );
        assert!(line.starts_with(&start), "{line}");
    }
}

#[test]
fn a_header_that_cannot_be_read_is_named_too() {
    let script = Script::new(30, 10).with(Fault::NoIdentifier(7));
    let repository = Misbehaving::start(script);

    let command = garner().args(["records", "--verb", "ListIdentifiers"]);
    let output = command
        .args(["--from-url", &repository.base_url()])
        .output();

    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert_eq!(stdout(&output).lines().count(), 29);
    let said = stderr(&output);
    assert!(said.starts_with("garner: skipped: the record `"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn a_failure_says_so_and_keeps_what_was_there() {
    let script = Script::new(30, 10).with(Fault::Status {
        page: 2,
        times: u32::MAX,
        status: 401,
        retry_after: None,
    });
    let repository = Misbehaving::start(script.with(Fault::FromRefused));
    let url = repository.base_url();
    let stream = |options: &[&str]| {
        let command = garner().args(["records", "--from-url", &url]);
        command.args(options).output()
    };

    for verb in ["ListRecords", "ListIdentifiers"] {
        let closed = stream(&["--verb", verb]);
        assert_eq!(closed.status.code(), Some(1));
        assert_eq!(stdout(&closed).lines().count(), 20);
        assert!(
            stderr(&closed).contains("resumptionToken"),
            "{}",
            stderr(&closed)
        );

        let line = fails(&stream(&["--verb", verb, "--prefix", "marc21"]));
        assert!(line.contains("unknown metadata prefix `marc21`"), "{line}");
    }
    let open = stream(&["--xml"]);
    assert!(
        !stdout(&open).contains("</records>"),
        "a document that is not whole is closed"
    );
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let held = Harvested::new(Script::new(3_000, 1_000));
    let data = held.data();
    let url = held.base_url();
    for arguments in [
        &["records", "--data", data.to_str().unwrap()][..],
        &["records", "--json", "--data", data.to_str().unwrap()],
        &["records", "--xml", "--from-url", &url],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_garner"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        lines.read_line(&mut line).unwrap();
        drop(lines);

        let output = child.wait_with_output().unwrap();

        assert_eq!(stderr(&output), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn wrong_usage_is_refused_before_anything_is_asked() {
    let url = "http://127.0.0.1:1/oai";
    for arguments in [
        &["--since", "yesterday"][..],
        &["--since", "2020-13-01"],
        &["--deleted", "--live"],
        &["--json", "--files"],
        &["--limit", "-1"],
        &["--limit", "99999999999999999999"],
        &["--from", "2020-01-01"],
        &["--xml"],
        &["--verb", "ListRecords"],
        &["--from-url", url, "--verb", "GetRecord"],
        &["--from-url", url, "--since", "2020-01-01"],
        &["--from-url", url, "--data", "x"],
        &["--from-url", url, "--repository", "1"],
        &["--from-url", url, "--json", "--xml"],
        &["--from-url", url, "--from", "2020-01-01T00:00:00"],
        &["--from-url", url, "--timeout", "0"],
        &["--from-url", url, "--connections", "0"],
    ] {
        let output = garner().arg("records").args(arguments).output();

        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let is_told = arguments.contains(&"--json");
        let printed = stdout(&output);
        assert_eq!(printed.contains(r#""code":"usage""#), is_told, "{printed}");
        assert_eq!(printed.is_empty(), !is_told, "{arguments:?}");
    }
    for (arguments, said) in [
        (&["--attempts", "1"][..], "without --from-url"),
        (&["--from-url", "nowhere"], "`nowhere` is not a base URL"),
        (
            &["--from-url", url, "--credentials", "/no/such"],
            "the credentials cannot be read from `/no/such`",
        ),
        (
            &["--from-url", url, "--ca", "/no/such"],
            "the CA file /no/such cannot be used",
        ),
        (
            &[
                "--from-url",
                url,
                "--from",
                "2020-02-01",
                "--until",
                "2020-01-01",
            ],
            "`from` is later than `until`",
        ),
    ] {
        let line = fails(&garner().arg("records").args(arguments).output());
        assert!(line.contains(said), "{line}");
    }
}

#[test]
fn identifiers_cannot_steer_the_terminal() {
    let held = Harvested::new(Script::new(1, 1));
    let holdings = held.holdings();
    let catalog = holdings.catalog();
    let evil = "oai:\u{1b}[2J\u{9b}x\n\ty";
    let rows = [RecordRow {
        identifier: evil.to_owned(),
        datestamp: None,
        deleted: false,
        file: None,
        sha256: None,
        set_specs: vec![evil.to_owned()],
        harvested: 0,
        validation: Validation::Ok,
    }];
    let mut run = holdings
        .wait(catalog.begin(&NewRun::new(1, "oai_dc")))
        .unwrap();
    let page = PageCommit {
        rows: &rows,
        ..PageCommit::default()
    };
    holdings.wait(catalog.commit_page(&mut run, page)).unwrap();

    let choice = ["records", "--set", evil];
    let text = prints(held.garner(&choice).output());
    let json = prints(held.garner(&choice).arg("--json").output());

    assert_eq!(
        text,
        "-\tlive\toai:\u{fffd}[2J\u{fffd}x\u{fffd}\u{fffd}y\t-\n"
    );
    assert!(!json.trim_end().contains(char::is_control), "{json:?}");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["identifier"], evil);
}

#[test]
fn nor_can_those_of_a_repository() {
    let fixture = Fixture::empty();
    // XML allows these two; others it does not.
    let answer = "<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\">\
         <responseDate>2020-01-01T00:00:00Z</responseDate><request>x</request><ListIdentifiers>\
         <header><identifier>oai:\u{9b}2J\u{7f}x</identifier><datestamp>2020-01-01</datestamp></header>\
         </ListIdentifiers></OAI-PMH>";
    fixture.write("oai.xml", answer);
    let server = garner().serve(&fixture, "");
    let stream = |options: &[&str]| {
        let command = garner().args(["records", "--from-url", &server.url("oai.xml")]);
        let command = command.args(["--verb", "ListIdentifiers"]);
        prints(command.args(options).output())
    };

    let text = stream(&[]);
    let json = stream(&["--json"]);

    assert_eq!(text, "2020-01-01\tlive\toai:\u{fffd}2J\u{fffd}x\n");
    assert!(json.contains(r#""oai:\u009b2J\u007fx""#), "{json}");
}
