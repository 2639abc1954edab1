//! The history of harvests, as a table and in full.

use serde_json::{Value, json};
use test_support::{Fault, Misbehaving, Script};

use crate::command_line::{prints, stderr, stdout};
use crate::harvested::Harvested;

#[test]
fn harvests_are_listed_from_the_newest_on() {
    let held = Harvested::new(Script::new(30, 10));
    held.harvest(&held.base_url(), &["--set", "odd"]);
    let other = Misbehaving::start(Script::new(30, 10).with(Fault::Status {
        page: 0,
        times: u32::MAX,
        status: 401,
        retry_after: None,
    }));
    held.harvest(&other.base_url(), &[]);

    let text = prints(held.garner(&["history"]).output());
    let one = prints(held.garner(&["history", "--limit", "1"]).output());
    let first = prints(held.garner(&["history", "--repository", "1"]).output());

    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(
        lines[0].starts_with("3\t20") && lines[0].contains("\tfailed\t"),
        "{text}"
    );
    assert!(
        lines[0].ends_with(&format!("{} oai_dc", other.base_url())),
        "{text}"
    );
    assert!(
        lines[1].ends_with(&format!("{} oai_dc odd", held.base_url())),
        "{text}"
    );
    assert!(lines[2].contains("\tok\t27\t0\t0\t3\t0\thttp"), "{text}");
    assert_eq!(one.lines().collect::<Vec<_>>(), lines[..1]);
    assert_eq!(first.lines().collect::<Vec<_>>(), lines[1..]);
}

#[test]
fn one_harvest_is_told_with_what_it_met() {
    let held = Harvested::new(script());

    let text = prints(held.garner(&["history", "1"]).output());

    let told = held.blanked(&text);
    assert!(told.starts_with("harvest 1: incomplete\nrepository    BASE_URL\nformat        oai_dc\nstarted       0000-00-00T00:00:00Z\nended         0000-00-00T00:00:00Z, after "), "{told}");
    for line in [
        "next from     0000-00-00T00:00:00Z",
        "  new                   26",
        "  deleted                3",
        "parameters",
        "  method: ListRecords",
        "  full: no",
        "  validation: strict",
        "quirks of the repository",
        "skipped or repaired",
    ] {
        assert!(told.lines().any(|said| said == line), "{line}\n{told}");
    }
    assert!(
        told.contains("  Answers begin with blank space before the XML declaration. ("),
        "{told}"
    );
    let last = told.lines().last().unwrap();
    assert!(last.starts_with("  oai:misbehaving.example:7: "), "{told}");
}

#[test]
fn json_has_the_harvest_and_its_warnings_one_a_line() {
    let held = Harvested::new(script());
    let run = |arguments: &[&str]| -> Value {
        let text = prints(held.garner(arguments).arg("--json").output());
        serde_json::from_str(&text).unwrap()
    };

    let mut entry = run(&["history"]);
    let whole = run(&["history", "1"]);
    let warning = run(&["history", "1", "--warnings"]);

    assert_eq!(warning["identifier"], "oai:misbehaving.example:7");
    assert_ne!(warning["reason"], "");
    assert_eq!(whole, entry);
    for name in ["started", "ended", "next_from"] {
        let date = entry[name].as_str().unwrap();
        assert!(oai::Datestamp::parse(date).is_some(), "{date}");
        entry[name] = json!("");
    }
    assert_eq!(entry["state"], "incomplete");
    assert_eq!(entry["base_url"], held.base_url());
    assert_eq!(entry["counts"]["new"], 26);
    assert_eq!(entry["parameters"]["method"], "ListRecords");
    let quirks = entry["quirks"].as_array().unwrap();
    let quirk = quirks
        .iter()
        .find(|quirk| quirk["name"] == "leadingWhitespace");
    assert_ne!(quirk.unwrap()["count"], 0);
    assert_eq!(entry["set"], Value::Null);
}

/// Issue 19: the console could, the command line could not.
#[test]
fn the_history_is_compared_and_printed_as_csv() {
    let held = Harvested::new(script());
    held.harvest(&held.base_url(), &["--set", "odd"]);

    let compared = prints(held.garner(&["history", "compare", "1", "2"]).output());
    let csv = prints(held.garner(&["history", "--csv"]).output());

    assert!(compared.starts_with("harvests 1 and 2\n\ncounts\n  new: 26 → "));
    assert!(compared.contains("\n  set: all → odd\n"), "{compared}");
    let lines: Vec<_> = csv.lines().collect();
    assert_eq!(lines.len(), 3, "{csv}");
    assert!(
        lines[0].starts_with("harvest,repository,base_url,"),
        "{csv}"
    );
    assert!(lines[2].starts_with("1,1,http"), "{csv}");
}

/// A repository with an oddity, and with a record that cannot be read.
fn script() -> Script {
    Script::new(30, 10)
        .with(Fault::MismatchedTags(7))
        .with(Fault::LeadingWhitespace)
}

/// Issue 18.
#[test]
fn entries_are_removed_unless_the_next_harvest_needs_them() {
    let held = Harvested::new(Script::new(30, 10));
    held.harvest(&held.base_url(), &[]);
    let run = |arguments: &[&str]| held.garner(arguments).output();
    let count = || stdout(&run(&["history", "--json"])).lines().count();
    assert_eq!(count(), 2);

    let refused = run(&["history", "remove", "1", "2"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains("with force"),
        "{}",
        stderr(&refused)
    );
    assert_eq!(count(), 2, "one that is refused keeps the others");
    assert_eq!(
        run(&["history", "remove", "1"]).stdout,
        b"removed 1 entry\n"
    );
    assert_eq!(run(&["history", "remove", "1"]).status.code(), Some(1));
    assert_eq!(
        prints(
            held.garner(&["history", "remove", "2", "--force", "--json"])
                .output()
        ),
        "{\"removed\":1}\n"
    );
    assert_eq!(count(), 0);
    assert_eq!(
        prints(
            held.garner(&["history", "remove", "--older-than", "0"])
                .output()
        ),
        "removed 0 entries\n"
    );
}

/// Issue 18.
#[test]
fn a_quiet_harvest_says_nothing_unless_something_is_wrong() {
    let held = Harvested::new(Script::new(30, 10));
    let quiet = |base_url: &str| held.garner(&["harvest", base_url, "-q"]).output();

    let well = quiet(&held.base_url());
    let nowhere = quiet("http://127.0.0.1:9/oai");

    assert_eq!((stderr(&well).as_str(), well.stdout.len()), ("", 0));
    assert_ne!(stderr(&nowhere), "");
}
