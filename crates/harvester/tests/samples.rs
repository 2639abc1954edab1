//! Answers of real repositories and hand-made ones, where they are present. They are read from
//! `../shared/samples/oai` beside the project; without them the test says so and passes.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use harvester::{Client, ClientOptions, Repository};

fn samples() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let samples = root.join("../shared/samples/oai");
    let found = samples.is_dir().then_some(samples);
    if found.is_none() {
        eprintln!("skipped: there are no samples");
    }
    found
}

/// A server that gives one file for every request.
fn repository(file: &Path) -> Repository {
    let body = std::fs::read(file).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let mut line = String::new();
            while line != "\r\n" {
                line.clear();
                reader.read_line(&mut line).unwrap();
            }
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n", body.len());
            let stream = reader.get_mut();
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(b"Connection: close\r\n\r\n");
            let _ = stream.write_all(&body);
        }
    });
    let client = Client::new(ClientOptions {
        attempts: 1,
        ..ClientOptions::default()
    });
    client
        .unwrap()
        .repository(&format!("http://{address}/"))
        .unwrap()
}

#[test]
fn records_of_the_samples_are_well_formed_on_their_own() {
    let Some(samples) = samples() else { return };
    let mut records = 0;
    for name in [
        "sickle/ListRecords.xml",
        "sickle/GetRecord_utf8test.xml",
        "vufind/oai_doaj.xml",
    ] {
        let repository = repository(&samples.join(name));
        // The token of a sample leads to the sample itself: the first error is the end of it.
        let list = repository.list_records("oai_dc", None, None, None);
        for record in list.map_while(Result::ok) {
            let text = std::str::from_utf8(&record.xml).unwrap();
            roxmltree::Document::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            records += 1;
        }
    }
    assert!(records > 10, "{records}");
}

#[test]
fn errors_and_descriptions_of_the_samples_are_understood() {
    let Some(samples) = samples() else { return };
    let sample = |name: &str| repository(&samples.join("sickle").join(name));

    assert!(
        !sample("Identify.xml")
            .identify()
            .unwrap()
            .repository_name
            .is_empty()
    );
    let sets: Vec<_> = sample("ListSets.xml")
        .list_sets()
        .map_while(Result::ok)
        .collect();
    assert!(!sets.is_empty());
    assert_eq!(sample("noSetHierarchy.xml").list_sets().count(), 0);
    let formats = sample("ListMetadataFormats.xml").list_metadata_formats(None);
    assert!(
        formats
            .unwrap()
            .iter()
            .any(|format| format.metadata_prefix == "oai_dc")
    );
    let list = |name: &str| {
        let mut list = sample(name).list_records("oai_dc", None, None, None);
        list.next().transpose()
    };
    assert!(list("noRecordsMatch.xml").unwrap().is_none());
    for name in [
        "badArgument.xml",
        "cannotDisseminateFormat.xml",
        "badResumptionToken.xml",
        "undefinedError.xml",
    ] {
        assert!(list(name).is_err(), "{name}");
    }
}
