//! `garner check`: our own repositories keep the rules; the faults of others are named.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;

use serde_json::Value;
use test_support::{Fault, Fixture, Misbehaving, Script};

use crate::command_line::{stderr, stdout};
use crate::garner;

/// The report about a repository, and the exit code.
pub(crate) fn check(base_url: &str) -> (Value, Option<i32>) {
    let output = garner()
        .args([
            "check",
            base_url,
            "--json",
            "--interval",
            "0",
            "--attempts",
            "1",
            "--timeout",
            "20",
        ])
        .output();
    let report = serde_json::from_str(&stdout(&output));
    (
        report.unwrap_or_else(|_| panic!("{}", stderr(&output))),
        output.status.code(),
    )
}

/// The names of the rules with a verdict.
fn rules(report: &Value, verdict: &str) -> Vec<String> {
    let rules = report["rules"].as_array().unwrap().iter();
    let rules = rules.filter(|rule| rule["verdict"] == verdict);
    rules
        .map(|rule| rule["rule"].as_str().unwrap().to_owned())
        .collect()
}

/// A repository of ours: every rule is kept.
pub(crate) fn is_compliant(base_url: &str) {
    let (report, code) = check(base_url);
    assert_eq!(report["compliant"], true, "{report:#}");
    assert_eq!(rules(&report, "failed"), [""; 0], "{report:#}");
    assert_eq!(rules(&report, "warning"), [""; 0], "{report:#}");
    assert_eq!(code, Some(0));
}

#[test]
fn a_site_that_we_serve_is_compliant() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "[pages]\nidentifiers = 2\nrecords = 2\n");
    std::fs::remove_file(fixture.path("about.html")).unwrap();
    test_support::wait_until("the tombstone is there", || {
        server.all().iter().any(|header| header.deleted)
    });

    is_compliant(&server.base_url);

    let (report, _) = check(&server.base_url);
    for rule in [
        "paging",
        "token-again",
        "list-size",
        "from-until",
        "day-dates",
        "set-members",
        "deletions",
    ] {
        assert!(
            rules(&report, "passed").contains(&rule.to_owned()),
            "{rule}: {report:#}"
        );
    }
}

#[test]
fn an_aggregator_is_compliant() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let data = fixture.beside("data");
    let output = garner()
        .args([
            "harvest",
            &server.base_url,
            "--prefix",
            "oai_dc",
            "--quiet",
            "--data",
        ])
        .arg(&data)
        .output();
    assert!(output.status.success(), "{}", stderr(&output));
    let config = fixture.beside("aggregator.toml");
    std::fs::write(&config, "[aggregator]\nrecords = true\n").unwrap();
    let listen = format!("127.0.0.1:{}", test_support::free_port());
    let aggregator = garner()
        .args([
            "serve",
            "--listen",
            &listen,
            "--admin-email",
            "a@example.org",
            "--data",
        ])
        .arg(&data)
        .arg("--catalog")
        .arg(data.join("catalog.sqlite"))
        .arg("--config")
        .arg(config)
        .start();

    is_compliant(&aggregator.base_url);
}

#[test]
fn an_empty_repository_is_compliant() {
    let fixture = Fixture::empty();
    let server = garner().serve(&fixture, "");

    let (report, code) = check(&server.base_url);

    assert_eq!(code, Some(0), "{report:#}");
    assert!(rules(&report, "not_checked").contains(&"get-record".to_owned()));
}

#[test]
fn each_fault_breaks_its_rule() {
    let without = Misbehaving::start(Script::new(30, 10));
    let (without, _) = check(&without.base_url());
    let without = rules(&without, "failed");
    for (fault, rule) in [
        (Fault::IllegalCharacter(3), "xml"),
        (Fault::BareAmpersand(3), "xml"),
        // On the last page that is read.
        (Fault::BareAmpersand(25), "xml"),
        (Fault::NoIdentifier(25), "headers"),
        (Fault::EntityBomb, "xml"),
        (Fault::UnannouncedGzip, "xml"),
        (Fault::VerbWebPage("ListSets"), "xml"),
        (Fault::NoNamespace, "envelope"),
        (Fault::NoResponseDate, "envelope"),
        (Fault::LocalTime, "datestamps"),
        (Fault::FutureDatestamp(3), "datestamps"),
        (Fault::DaysInsteadOfSeconds, "datestamps"),
        (Fault::EarliestTooLate, "datestamps"),
        (Fault::NoIdentifier(3), "headers"),
        (Fault::NoDeletions, "deletions"),
        (Fault::OtherGiven(0), "get-record"),
        (Fault::NotGiven(0), "get-record"),
        (Fault::UntilExclusive, "from-until"),
        (Fault::SecondsRefused, "from-until"),
        (Fault::FromRefused, "from-until"),
        (Fault::ErrorsWithStatus, "http"),
        (Fault::PostRefused, "post"),
        (Fault::SameTokenForEver, "paging"),
        (Fault::OverlappingPages, "paging"),
        (Fault::ExpiredToken { page: 1, times: 99 }, "paging"),
        (Fault::EmptyPage(1), "paging"),
        (Fault::ErrorBesideList, "envelope"),
        (Fault::VerbStatus("ListSets", 404), "http"),
    ] {
        let repository = Misbehaving::start(Script::new(30, 10).with(fault.clone()));
        let (report, code) = check(&repository.base_url());

        let failed = rules(&report, "failed");
        assert!(!without.contains(&rule.to_owned()), "{rule} fails anyway");
        assert!(
            failed.contains(&rule.to_owned()),
            "{fault:?}: {failed:?}\n{report:#}"
        );
        assert_eq!(code, Some(3), "{fault:?}");
        for rule in report["rules"].as_array().unwrap() {
            if rule["verdict"] == "failed" {
                let evidence = rule["evidence"].as_str().unwrap();
                assert!(
                    evidence.starts_with(&repository.base_url()),
                    "{fault:?}: {rule}"
                );
                assert!(
                    rule["finding"].is_string() && rule["remedy"].is_string(),
                    "{rule}"
                );
            }
        }
    }
}

#[test]
fn the_text_names_the_finding_the_request_and_the_remedy() {
    let repository = Misbehaving::start(Script::new(30, 10).with(Fault::NoDeletions));

    let output = garner()
        .args([
            "check",
            &repository.base_url(),
            "--interval",
            "0",
            "--attempts",
            "1",
        ])
        .output();

    let text = stdout(&output);
    assert!(
        text.contains("failed       deletions: Deleted records are told as Identify says\n"),
        "{text}"
    );
    assert!(
        text.contains(" seen: deletedRecord is no, but `oai:misbehaving.example:"),
        "{text}"
    );
    assert!(text.contains(" remedy: Change deletedRecord"), "{text}");
    assert!(
        text.lines().last().unwrap().starts_with("NOT COMPLIANT: "),
        "{text}"
    );
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn endless_and_unreachable_answers_end_the_check() {
    for fault in [
        Fault::EndlessEmptyPages,
        Fault::TokenCircle,
        Fault::RestartingList,
        Fault::HugeAnswer(1 << 30),
        Fault::DeepNesting(3),
        Fault::RedirectLoop,
    ] {
        let repository = Misbehaving::start(Script::new(30, 10).with(fault.clone()));
        let (report, _) = check(&repository.base_url());
        assert!(report["requests"].as_u64().unwrap() <= 103, "{fault:?}");
    }
    let nobody = format!("http://127.0.0.1:{}/oai", test_support::free_port());
    let (report, code) = check(&nobody);
    assert_eq!(
        (report["compliant"].as_bool(), code),
        (Some(false), Some(3))
    );
}

/// Recorded answers of real repositories: whatever they are, there is a report.
#[test]
fn recorded_answers_get_a_report() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/oai");
    let mut files = Vec::new();
    for directory in [samples.join("sickle"), samples.join("vufind")] {
        let Ok(entries) = std::fs::read_dir(&directory) else {
            eprintln!("skipped: there is no {}", directory.display());
            return;
        };
        files.extend(
            entries
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.is_file()),
        );
    }
    assert!(!files.is_empty());
    for file in files {
        let base_url = always(std::fs::read(&file).unwrap());
        let (report, code) = check(&base_url);
        assert_eq!(code, Some(3), "{}: {report:#}", file.display());
    }
}

/// A server that gives one answer to every request.
fn always(body: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let mut line = String::new();
            while line != "\r\n" {
                line.clear();
                if reader.read_line(&mut line).unwrap_or(0) == 0 {
                    break;
                }
            }
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let stream = reader.get_mut();
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(&body);
        }
    });
    format!("http://{address}/oai")
}
