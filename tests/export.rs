//! Records out: all of them as one stream, and one by its identifier.

use std::io::Read;

use roxmltree::Document;
use serde_json::Value;
use test_support::{Misbehaving, Script};

use crate::command_line::{fails, stderr, stdout};
use crate::harvested::Harvested;

fn exported(harvested: &Harvested, arguments: &[&str]) -> String {
    let output = harvested
        .garner(&["records", "export"])
        .args(arguments)
        .output();
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

#[test]
fn an_export_has_all_records_in_each_form() {
    let harvested = Harvested::new(Script::new(30, 10));
    let listed = stdout(&harvested.garner(&["records", "--json"]).output());
    let listed: Vec<Value> = listed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let live: Vec<_> = listed
        .iter()
        .filter(|record| record["deleted"] == false)
        .collect();

    let xml = exported(&harvested, &[]);
    let document = Document::parse(&xml).unwrap();
    let records = document.root_element().children();
    assert_eq!(
        records
            .filter(|node| node.has_tag_name((OAI, "record")))
            .count(),
        listed.len()
    );
    for record in &live {
        let file = std::fs::read_to_string(record["path"].as_str().unwrap()).unwrap();
        assert!(xml.contains(file.trim()), "{record}");
    }

    let lines = exported(&harvested, &["--format", "jsonl", "--live"]);
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), live.len());
    for (line, record) in lines.iter().zip(&live) {
        assert_eq!(line["identifier"], record["identifier"]);
        assert!(line["dublin_core"]["title"][0].is_string(), "{line}");
    }

    let table = exported(&harvested, &["--format", "csv"]);
    assert_eq!(table.lines().count(), listed.len() + 1);
    assert!(table.starts_with(
        "record,base_url,metadata_prefix,identifier,datestamp,deleted,sets,title,creator,"
    ));

    let head: Vec<_> = table.lines().next().unwrap().split(',').collect();
    let names: std::collections::BTreeSet<_> = head.iter().collect();
    assert_eq!(
        names.len(),
        head.len(),
        "two columns have one name: {head:?}"
    );
    assert!(names.contains(&"dc_identifier"), "{head:?}");

    let other = exported(&harvested, &["--format", "jsonl", "--prefix", "marc21"]);
    assert_eq!(other, "");
    let none = exported(&harvested, &["--format", "jsonl", "--since", "2999-01-01"]);
    assert_eq!(none, "");
}

#[test]
fn a_compressed_file_takes_its_place_when_it_is_whole_and_tells_what_is_missing() {
    let harvested = Harvested::new(Script::new(10, 10));
    let path = harvested.beside("records.jsonl.gz");
    let path = path.to_str().unwrap();

    let export = |path: &str| {
        let arguments = ["records", "export", "--format", "jsonl", "--output", path];
        harvested.garner(&arguments).output()
    };
    assert!(export(path).status.success());
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut text)
        .unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let all = text.lines().count();

    std::fs::remove_file(first["path"].as_str().unwrap()).unwrap();
    let output = export(path);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("the files of 1 records cannot be read"));
    let again = harvested
        .garner(&["records", "export", "--format", "jsonl"])
        .output();
    assert_eq!(again.status.code(), Some(3), "{}", stderr(&again));
    let again = stdout(&again);
    assert_eq!(again.lines().count(), all);
    assert_eq!(again.matches("\"unreadable\"").count(), 1);

    let nowhere = harvested.beside("missing/records.xml");
    let output = export(nowhere.to_str().unwrap());
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("cannot be written"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_record_is_printed_by_its_identifier() {
    let harvested = Harvested::new(Script::new(3, 10));
    let identifier = Script::identifier(0);

    let output = harvested.garner(&["records", "cat", &identifier]).output();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains(&identifier));

    let message = fails(
        &harvested
            .garner(&["records", "cat", "oai:nowhere:1"])
            .output(),
    );
    assert!(
        message.contains("no record `oai:nowhere:1` is held"),
        "{message}"
    );
}

#[test]
fn a_record_that_is_held_twice_is_asked_for_with_the_options_that_choose() {
    let harvested = Harvested::new(Script::new(3, 10));
    let other = Misbehaving::start(Script::new(3, 10));
    let output = harvested.garner(&["harvest", &other.base_url()]).output();
    assert!(output.status.success(), "{}", stderr(&output));

    let identifier = Script::identifier(0);
    let message = fails(&harvested.garner(&["records", "cat", &identifier]).output());

    assert!(message.contains("is held 2 times"), "{message}");
    assert!(
        message.contains("with --prefix and --repository"),
        "{message}"
    );
    assert!(!message.contains("metadata_prefix"), "{message}");
}

const OAI: &str = "http://www.openarchives.org/OAI/2.0/";
