//! Filter files and mapping files tried out on a record.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use test_support::Fixture;

use crate::command_line::{fails, prints, stderr, stdout};
use crate::garner;

#[test]
fn a_filter_says_what_it_finds_and_what_follows() {
    let place = Place::new();

    let accepted = place.test("any.xml", &[]);
    let rejected = place.test("all.xml", &[]);

    assert_eq!(
        stdout(&accepted),
        "\
filter 1: //dc:subject ~ /light/i
  /record/metadata/dc:subject[1] = \"Lighthouses\" matches
  /record/metadata/dc:subject[2] = \"Coasts\" does not match
  the filter holds
filter 2: //dc:creator ~ //
  no such node, which counts as no match
  the filter does not hold
accepted: 1 of 2 filters hold, needed is any of them
"
    );
    assert_eq!(accepted.status.code(), Some(0));
    let last = stdout(&rejected).lines().last().map(str::to_owned);
    let verdict = "rejected: 0 of 2 filters hold, needed is all of them";
    assert_eq!(last.as_deref(), Some(verdict));
    assert_eq!(rejected.status.code(), Some(1));
    assert_eq!(stderr(&rejected), "");
}

#[test]
fn json_says_the_same() {
    let place = Place::new();

    let output = place.test("any.xml", &["--json"]);

    let said: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(said["accepted"], true);
    assert_eq!(said["match"], "any");
    assert_eq!(
        said["filters"][0],
        json!({
            "xpath": "//dc:subject", "regexp": "light", "ignore_case": true, "invert": false,
            "holds": true,
            "nodes": [
                {"path": "/record/metadata/dc:subject[1]", "text": "Lighthouses", "matches": true},
                {"path": "/record/metadata/dc:subject[2]", "text": "Coasts", "matches": false},
            ],
        })
    );
    assert_eq!(said["filters"][1]["holds"], false);
}

#[test]
fn a_deleted_record_is_not_filtered() {
    let place = Place::new();
    let deleted = "<record><header status=\"deleted\"><identifier>a</identifier></header></record>";
    place.fixture.write("record.xml", deleted);

    let output = place.test("all.xml", &[]);

    let said = stdout(&output);
    assert!(
        said.ends_with("the record is deleted, and those are not filtered\n"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_mapping_says_what_it_adds_and_gives_the_record() {
    let place = Place::new();

    let output = place.test("mapping.xml", &[]);
    let json = place.test("mapping.xml", &["--json"]);

    let said = stdout(&output);
    let record = RECORD.replace(
        "<dc:subject>Coasts</dc:subject>",
        "<dc:subject>Coasts</dc:subject><dc:coverage>shore</dc:coverage><dc:coverage>sea</dc:coverage>",
    );
    assert_eq!(
        said,
        format!(
            "added: <dc:coverage> shore, because of \"Coasts\"\n\
             added: <dc:coverage> sea, because of \"Coasts\"\n\
             2 elements are added\n\n{record}\n"
        )
    );
    assert_eq!(output.status.code(), Some(0));
    let json: Value = serde_json::from_str(&stdout(&json)).unwrap();
    assert_eq!(json["stored"], record);
    assert_eq!(
        json["added"][0],
        json!({"name": "dc:coverage", "value": "shore", "because_of": "Coasts"})
    );
}

#[test]
fn the_record_may_come_from_stdin() {
    let place = Place::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_garner"))
        .args(["filter", "test"])
        .arg(place.fixture.path("any.xml"))
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(RECORD.as_bytes())
        .unwrap();

    let output = child.wait_with_output().unwrap();

    assert!(stdout(&output).contains("\naccepted: "));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn what_cannot_be_used_is_told_apart_from_a_no() {
    let place = Place::new();
    let write = |name: &str, text: &str| place.fixture.write(name, text);
    write("match.xml", "<filters\n  match=\"some\"/>");
    write(
        "xpath.xml",
        "<filters match=\"any\">\n<filter xpath=\"//dc:a\" regexp=\"\"/></filters>",
    );
    write("other.xml", "<rules/>");
    write("open.xml", "<filters");
    write("entities.xml", "<!DOCTYPE x [<!ENTITY a \"b\">]><record/>");
    write("binary.xml", "\u{1}\u{2}");
    for (file, record, said) in [
        (
            "match.xml",
            "record.xml",
            "match.xml: line 2, column 10: `match` must be any or all, not `some`",
        ),
        (
            "xpath.xml",
            "record.xml",
            "xpath.xml: line 2, column 18: the prefix `dc` is not declared",
        ),
        (
            "other.xml",
            "record.xml",
            "other.xml: the root element is <rules>; that of a filter file is <filters>",
        ),
        ("open.xml", "record.xml", "open.xml: line 1, column "),
        (
            "nothing.xml",
            "record.xml",
            "nothing.xml: No such file or directory",
        ),
        (".", "record.xml", "Is a directory"),
        (
            "any.xml",
            "nothing.xml",
            "nothing.xml: No such file or directory",
        ),
        ("any.xml", ".", "Is a directory"),
        ("any.xml", "open.xml", "the record "),
        ("any.xml", "binary.xml", "the record "),
        (
            "mapping.xml",
            "entities.xml",
            "a document type declaration is not accepted",
        ),
    ] {
        let output = garner()
            .args(["filter", "test"])
            .arg(place.fixture.path(file))
            .arg(place.fixture.path(record))
            .output();

        let line = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert_eq!(stdout(&output), "");
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(
            line.starts_with("garner: ") && line.contains(said),
            "{said}\n{line}"
        );
    }
}

#[test]
fn a_record_cannot_steer_the_terminal() {
    let place = Place::new();
    place.fixture.write(
        "record.xml",
        RECORD.replace("Coasts", "Coasts\u{9b}2J\u{7f}"),
    );

    for file in ["any.xml", "mapping.xml"] {
        let said = stdout(&place.test(file, &[]));

        let mut controls = said.chars().filter(|c| c.is_control() && *c != '\n');
        assert_eq!(controls.next(), None, "{said:?}");
    }
}

#[test]
fn filters_and_mappings_are_kept_in_the_catalog() {
    let place = Place::new();
    let run = |arguments: &[&str]| {
        let command = garner().arg("filter").args(arguments);
        command.arg("--data").arg(place.fixture.data()).output()
    };
    let file = |name: &str| place.fixture.path(name).to_str().unwrap().to_owned();
    let (any, all, mapping) = (file("any.xml"), file("all.xml"), file("mapping.xml"));

    prints(run(&["add", "Light", &any]));
    prints(run(&["add", "Shores", &mapping]));
    let taken = fails(&run(&["add", "Light", &all]));
    let unnamed = fails(&run(&["add", " ", &all]));
    let no_rules = fails(&run(&["add", "Record", &file("record.xml")]));
    prints(run(&["edit", "1", "--file", &all]));
    prints(run(&["edit", "1", "--name", "Lights"]));
    let shown: Value = serde_json::from_str(&prints(run(&["show", "1", "--json"]))).unwrap();
    let listed = prints(run(&["list", "--json"]));
    let removed = prints(run(&["remove", "2"]));
    let trail = garner().args(["audit", "--json", "--data"]);
    let trail = prints(trail.arg(place.fixture.data()).output());

    assert!(taken.contains("`Light` is taken"), "{taken}");
    assert!(unnamed.contains("name: a name has 1 to 100"), "{unnamed}");
    assert!(
        no_rules.contains("the root element is <record>"),
        "{no_rules}"
    );
    assert_eq!(shown["name"], "Lights");
    assert_eq!(shown["version"], 3);
    assert_eq!(shown["content"], std::fs::read_to_string(&all).unwrap());
    assert_eq!(listed.lines().count(), 2);
    assert!(removed.contains("mapping"), "{removed}");
    let trail = trail
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let actions: Vec<_> = trail.map(|entry| entry["action"].clone()).collect();
    let expected = ["remove", "change", "change", "add", "add"].map(|it| format!("rules.{it}"));
    assert_eq!(actions, expected);
}

/// Files to try out, and a record.
struct Place {
    fixture: Fixture,
}

impl Place {
    fn new() -> Self {
        let fixture = Fixture::empty();
        fixture.write("record.xml", RECORD);
        let namespaces = "<selectionNamespaces>xmlns:dc='http://purl.org/dc/elements/1.1/'</selectionNamespaces>";
        fixture.write(
            "any.xml",
            format!(
                "<filters match=\"any\">{namespaces}\
             <filter xpath=\"//dc:subject\" regexp=\"light\" ignoreCase=\"true\"/>\
             <filter xpath=\"//dc:creator\" regexp=\"\"/></filters>"
            ),
        );
        fixture.write(
            "all.xml",
            format!(
                "<filters match=\"all\">{namespaces}\
             <filter xpath=\"//dc:subject\" regexp=\"light\"/>\
             <filter xpath=\"//dc:creator\" regexp=\"\"/></filters>"
            ),
        );
        fixture.write(
            "mapping.xml",
            format!(
                "<normalize>{namespaces}<mapping xpath=\"//dc:subject\">\
             <newElement regexp=\"^coast\" ignoreCase=\"true\" name=\"dc:coverage\">\
             <newValue>shore</newValue><newValue>sea</newValue></newElement></mapping></normalize>"
            ),
        );
        Self { fixture }
    }

    fn test(&self, file: &str, options: &[&str]) -> Output {
        garner()
            .args(["filter", "test"])
            .arg(self.fixture.path(file))
            .arg(self.fixture.path("record.xml"))
            .args(options)
            .output()
    }
}

const RECORD: &str = "<record><header><identifier>oai:a:1</identifier></header><metadata \
    xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:subject>Lighthouses</dc:subject>\
    <dc:subject>Coasts</dc:subject></metadata></record>";
